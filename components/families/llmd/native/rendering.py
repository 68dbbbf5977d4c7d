"""A VariantAutoscaling without a controller: an autoscaler within the bounds that the model of queues finds.

The controller looks at what is asked of a model all the time, and says how many replicas that needs. The plan finds
the same for the peak and for the quietest time, of which it is told, and leaves what is in between to an autoscaler
on metrics of the engine.
"""

from collections.abc import Iterator

from ....api.findings import Unrenderable
from ....fleet.autoscalers import Autoscaler
from ....fleet.origins import Origin
from ....fleet.rendered import Rendered
from ....sizing.cases import Sized
from ..checks.accelerator import ENTRIES
from ..checks.agreed import check_kept
from ..costs import unit_cost
from ..described import profile_of
from ..hpa import hpa_of
from .following import followed
from .level import VariantLevel
from .notes import bounds_note, cheaper_note


def render_natively(level: VariantLevel) -> Rendered:
    """Return an autoscaler for the workload.

    Raises:
        Unrenderable: the promise cannot be kept, or nothing can be followed; it is in the findings.
    """
    variant, source = level.variant, level.variant.source
    least, most = _bounds(level)
    metrics = followed(variant, most)
    if variant.findings.failed:
        raise Unrenderable
    hpa = hpa_of(variant, least.replicas, most.replicas, metrics)
    variant.findings.note(level.agreed.path, bounds_note(level, least, most))
    for path, reason in _cheaper(level, most):
        variant.findings.note(path, reason)
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, lambda path: _blame(level, path), found=True, sized=most),),
    )


def _bounds(level: VariantLevel) -> tuple[Sized, Sized]:
    """Return how many replicas are needed at the quietest time, and at the peak.

    Raises:
        Unrenderable: no number of replicas keeps the promise.
    """
    from ....sizing.queues import size

    load = level.load
    least, most = size([level.own(rate) for rate in (load.least_per_minute, load.per_minute)])
    check_kept(level.agreed, most, level.asked.place, level.variant.findings)
    if not most.is_feasible:
        raise Unrenderable
    return least, most


def _cheaper(level: VariantLevel, most: Sized) -> Iterator[tuple[str, str]]:
    """Yield where the same is to be had for less: a controller would not go there either (WVA spec 8.7)."""
    from ....sizing.queues import size

    variant, cases = level.variant, {}
    for position, entry in enumerate(variant.resource.spec.model_profile.accelerators):
        cost = unit_cost(entry.acc, variant.options.levels)
        if entry.acc != level.agreed.profile.accelerator and cost is not None:
            cases[position] = level.case(profile_of(entry), level.load.per_minute, cost.cents_per_hour)
    kept = [
        (sized.cents_per_hour, position, sized)
        for position, sized in zip(cases, size(tuple(cases.values())), strict=True)
        if sized.is_feasible and sized.cents_per_hour < most.cents_per_hour
    ]
    if kept:
        _, position, best = min(kept, key=lambda each: each[:2])
        yield f"{ENTRIES}[{position}]", cheaper_note(most, best)


def _blame(level: VariantLevel, path: str) -> Origin:
    """Return the field behind a field of the autoscaler."""
    source = level.variant.source
    if path in ("minReplicas", "maxReplicas"):
        return Origin(source, level.agreed.path, f"{path} of the autoscaler, for {level.asked.place}: ")
    return Origin(source, "metadata.name")
