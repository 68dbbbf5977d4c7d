"""A VariantAutoscaling without a controller: an autoscaler within the bounds that the model of queues finds.

The controller looks at what is asked of a model all the time, and says how many replicas that needs. The plan finds
the same for the peak and for the quietest time, of which it is told, and leaves what is in between to an autoscaler
on metrics of the engine.
"""

from collections.abc import Iterator

from ....contract.findings.collector import Unrenderable
from ....contract.findings.ids import RuleId
from ....fleet.autoscalers import Autoscaler
from ....fleet.origins import Origin
from ....fleet.rendered import Rendered
from ....performance.sizing.cases import Sized
from ....performance.sizing.prices import accelerator_price
from ..checks.accelerator import ENTRIES
from ..checks.agreed import check_kept
from ..described import profile_of
from ..hpa import hpa_of
from .following import followed
from .level import VariantLevel
from .notes import bounds_note, cheaper_note
from .remembered import sized


def render_natively(level: VariantLevel) -> Rendered:
    """Return an autoscaler for the workload.

    Raises:
        Unrenderable: the promise cannot be kept, or nothing can be followed; it is in the findings.
    """
    variant, source = level.variant, level.variant.source
    least, most = _bounds(level)
    metrics = followed(variant, most)
    if variant.findings.has_errors:
        raise Unrenderable
    hpa = hpa_of(variant, least.replicas, most.replicas, metrics)
    variant.findings.note(level.agreed.path, bounds_note(level, least, most), RuleId.SIZING_BOUNDS)
    for path, reason in _cheaper(level, most):
        variant.findings.note(path, reason, RuleId.SIZING_CHEAPER)
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, lambda path: _blame(level, path), target_known=True, sized=most),),
    )


def _bounds(level: VariantLevel) -> tuple[Sized, Sized]:
    """Return how many replicas are needed at the quietest time, and at the peak.

    Raises:
        Unrenderable: no number of replicas keeps the promise.
    """
    load = level.load
    least, most = sized((level.own(load.least_per_minute), level.own(load.per_minute)))
    check_kept(level.agreed, most, level.asked.place, level.variant.findings)
    if not most.is_feasible:
        raise Unrenderable
    return least, most


def _cheaper(level: VariantLevel, most: Sized) -> Iterator[tuple[str, str]]:
    """Yield where the same is to be had for less: a controller would not go there either (WVA spec 8.7)."""
    variant, cases = level.variant, {}
    for position, entry in enumerate(variant.resource.spec.model_profile.accelerators):
        price = accelerator_price(entry.acc, variant.options.levels, count=entry.acc_count)
        if entry.acc != level.agreed.profile.accelerator and price is not None:
            cases[position] = level.peak_on(profile_of(entry), price.cents_per_hour)
    kept = [
        (each.cents_per_hour, position, each)
        for position, each in zip(cases, sized(tuple(cases.values())), strict=True)
        if each.is_feasible and each.cents_per_hour < most.cents_per_hour
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
