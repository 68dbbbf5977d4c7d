"""How many replicas a variant needs at its peak, as far as anybody says what that is."""

from ...performance.sizing.cases import Sized
from .checks.agreed import Agreed, check_kept
from .load import stated_load
from .native.remembered import sized
from .variant import Variant


def sized_at_peak(variant: Variant, agreed: Agreed) -> Sized | None:
    """Return what the model of queues says; None where it cannot say, or after an error."""
    asked = stated_load(variant.namespace, variant.source.name, variant.options.levels)
    if asked is None or not asked.load.per_minute:
        return None
    (most,) = sized((agreed.case(asked.load, asked.load.per_minute),))
    check_kept(agreed, most, asked.place, variant.findings)
    return most if most.is_feasible else None
