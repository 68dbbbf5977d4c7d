"""How many replicas a variant needs at its peak, as far as anybody says what that is."""

from .checks.agreed import Agreed, check_kept
from .variant import Variant


def replicas_at_peak(variant: Variant, agreed: Agreed) -> int:
    """Return how many replicas the model of queues says; 0 where it cannot say, or after an error."""
    load = variant.options.levels.load(variant.namespace, variant.source.name)
    if load is None or not load.per_minute:
        return 0
    from ...sizing.queues import size

    (sized,) = size((agreed.peak(load),))
    check_kept(agreed, sized, variant.findings)
    return sized.replicas
