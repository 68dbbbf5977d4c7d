"""Conflicts between VariantAutoscalings, and settings that no VariantAutoscaling uses."""

from collections.abc import Iterator, Sequence

from ....contract.findings.collector import unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....contract.problems import Problem, Severity, did_you_mean
from ....fleet.levels import ServiceLevels
from ....fleet.library import Library
from ....fleet.rendered import Rendered
from ..profiles import entries_of, speed_of
from ..releases import ControllerRelease
from ..types import AcceleratorProfile, VariantAutoscaling
from .accelerator import ENTRIES
from .targets import shortened

_KIND = VariantAutoscaling.__name__
_Variants = Sequence[tuple[Rendered, VariantAutoscaling]]


def check_conflicts(items: Sequence[Rendered], controller: ControllerRelease | None) -> Iterator[Problem]:
    """Yield conflicts between VariantAutoscalings.

    The controller keeps one state for all variants of the cluster. Natively each variant has its own load, profile
    and autoscaler, so only contradicting profiles are suspicious.

    Args:
        items: The rendered VariantAutoscalings, sorted by name.
        controller: The controller that sizes them; None if the plan does.
    """
    resources = [(item, item.source.resource) for item in items]
    variants = [(item, resource) for item, resource in resources if isinstance(resource, VariantAutoscaling)]
    if controller and controller.keys_by_name:
        yield from _repeated_names(variants)
    if controller and controller.computes_size:
        yield from _repeated_models(variants)
    native = controller is None or not controller.computes_size
    yield from _contradicting_profiles(variants, native=native)


def _repeated_names(variants: _Variants) -> Iterator[Problem]:
    """Yield names in several namespaces: the controller keeps its results by name alone (WVA spec 5)."""
    first: dict[str, Rendered] = {}
    for item, _ in variants:
        other = first.setdefault(item.name, item)
        if other.namespace != item.namespace:
            yield item.source.problem(
                "metadata.name",
                f"{other.source.where} in namespace {other.namespace!r} has this name too, and the controller keeps "
                "its results by name, so one of the two would be sized like the other; rename one, with its workload",
                rule=RuleId.SIZING_CONFLICT,
            )


def _repeated_models(variants: _Variants) -> Iterator[Problem]:
    """Yield models with several variants in a namespace: load is measured per model and namespace (WVA spec 5, 7)."""
    first: dict[tuple[str, str], Rendered] = {}
    for item, resource in variants:
        model = resource.spec.model_id
        other = first.setdefault((item.namespace, model), item)
        if other is not item:
            yield item.source.problem(
                "spec.modelID",
                f"{model!r} is the model of {other.source.where} too, and the controller measures all requests for a "
                f"model in namespace {item.namespace!r}, so each of the two would be sized for all of them; serve "
                "one under another name or in another namespace, or use realization 'native'",
                rule=RuleId.SIZING_CONFLICT,
            )


def _contradicting_profiles(variants: _Variants, *, native: bool) -> Iterator[Problem]:
    """Yield profile entries that contradict another resource's for the same model and accelerator.

    The controller keeps one speed for each pair, that of the resource it reads last; only the batch size is per
    resource (optimizer-light v0.5.0, AddPerfDataFromSpec; internal/utils at c0f645c, AddServerInfoToSystemData).
    """
    severity, consequence = Severity.ERROR, "the controller uses the numbers of whichever it reads last for both"
    if native:
        severity, consequence = Severity.WARNING, "one of the two measurements may be out of date"
    first: dict[tuple[str, str], tuple[LoadedResource, AcceleratorProfile]] = {}
    for item, resource in variants:
        for index, entry in enumerate(entries_of(resource)):
            if speed_of(entry) is None:
                continue
            other, known = first.setdefault((resource.spec.model_id, entry.acc), (item.source, entry))
            if other is not item.source and _numbers(known) != _numbers(entry):
                yield item.source.problem(
                    f"{ENTRIES}[{index}]",
                    f"has {_numbers_of(entry)} for {resource.spec.model_id!r} on {entry.acc!r}, but {other.where} "
                    f"has {_numbers_of(known)}: {consequence}; write the same numbers, or rename the accelerator in "
                    "one of the two",
                    severity,
                    rule=RuleId.SIZING_INCONSISTENT,
                )


def _numbers(entry: AcceleratorProfile) -> tuple[object, ...]:
    speed = speed_of(entry)
    assert speed is not None  # noqa: S101  callers skip entries without speed
    return (entry.acc_count, *map(float, (speed.alpha, speed.beta, speed.gamma, speed.delta)))


def _numbers_of(entry: AcceleratorProfile) -> str:
    speed = speed_of(entry)
    assert speed is not None  # noqa: S101  callers skip entries without speed
    numbers = {"alpha": speed.alpha, "beta": speed.beta}
    if entry.perf_parms is not None:
        numbers |= {"gamma": speed.gamma, "delta": speed.delta}
    texts = (f"{name} {shortened(text)}" for name, text in numbers.items())
    return f"{', '.join(texts)}, accCount {entry.acc_count}"


def unused_settings(library: Library, levels: ServiceLevels) -> Iterator[Problem]:
    """Yield settings that are probably misspelled names of variants or accelerators.

    Other unused settings are fine: loads may belong to variants that this plan does not contain, prices to
    accelerators that are only compared.
    """
    places = list(library.places_of(VariantAutoscaling))
    known = {name for _, name in places} | {f"{namespace}/{name}" for namespace, name in places}
    without_load = [(namespace, name) for namespace, name in places if levels.load(namespace, name) is None]
    for key in levels.loads if without_load else ():
        name = key.rpartition("/")[2]
        if key in known or library.is_unread(_KIND, name):
            continue
        candidates = sorted(f"{namespace}/{name}" if "/" in key else name for namespace, name in without_load)
        if did_you_mean(key, candidates) or any(name == other for _, other in without_load):
            reason = unknown_reference(
                _KIND, key, candidates, "its load has no effect; correct the name, or remove it"
            )
            yield _unused(levels, f"loads[{key}]", reason)
    names = {
        entry.acc
        for namespace in {namespace for namespace, _ in places}
        for resource in library.all(VariantAutoscaling, namespace).values()
        for entry in entries_of(resource)
    }
    spelling = {name.lower(): name for name in sorted(names)}
    for name in levels.accelerators:
        used = spelling.get(name.lower())
        if used and name not in names:
            reason = f"has no effect: VariantAutoscalings call that accelerator {used!r}; use that spelling"
            yield _unused(levels, f"accelerators[{name}]", reason)


def _unused(levels: ServiceLevels, path: str, reason: str) -> Problem:
    return Problem(
        file=levels.file,
        path=f"serviceLevels.{path}",
        reason=reason,
        severity=Severity.WARNING,
        rule=RuleId.SIZING_UNUSED_SETTING,
    )
