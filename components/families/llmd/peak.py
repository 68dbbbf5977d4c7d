"""How many replicas a variant needs at its peak, as far as anybody says what that is."""

from ...sizing.cases import Sized
from .checks.agreed import Agreed, check_kept
from .load import stated_load
from .variant import Variant


def sized_at_peak(variant: Variant, agreed: Agreed) -> Sized | None:
    """Return what the model of queues says; None where it cannot say, or after an error."""
    asked = stated_load(variant.namespace, variant.source.name, variant.options.levels)
    if asked is None or not asked.load.per_minute:
        return None
    from ...sizing.queues import size

    (sized,) = size((agreed.peak(asked.load),))
    check_kept(agreed, sized, asked.place, variant.findings)
    return sized if sized.is_feasible else None
