"""How many replicas a variant needs at its peak, as far as anybody says what that is."""

from ...sizing.cases import Sized
from .checks.agreed import Agreed, check_kept
from .variant import Variant


def sized_at_peak(variant: Variant, agreed: Agreed) -> Sized | None:
    """Return what the model of queues says; None where it cannot say, or after an error."""
    load = variant.options.levels.load(variant.namespace, variant.source.name)
    if load is None or not load.per_minute:
        return None
    from ...sizing.queues import size

    (sized,) = size((agreed.peak(load),))
    check_kept(agreed, sized, variant.findings)
    return sized if sized.is_feasible else None
