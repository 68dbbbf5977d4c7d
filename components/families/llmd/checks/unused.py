"""Settings under names that no variant has: nothing else would notice a slip of the pen."""

from collections.abc import Iterator

from ....contract.findings.collector import unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity, did_you_mean
from ....fleet.levels import ServiceLevels
from ....fleet.library import Library
from ..types import VariantAutoscaling

_KIND = VariantAutoscaling.__name__


def check_settings(library: Library, levels: ServiceLevels) -> Iterator[Problem]:
    """Yield what has no effect, where there are variants at all."""
    yield from _loads(library, levels)
    yield from _prices(library, levels)


def _loads(library: Library, levels: ServiceLevels) -> Iterator[Problem]:
    """Yield loads that are probably meant for a variant that has none.

    Others are not told of: they may be for variants of the stack that this plan does not have.
    """
    places = list(library.places_of(VariantAutoscaling))
    known = {name for _, name in places} | {f"{namespace}/{name}" for namespace, name in places}
    idle = [(namespace, name) for namespace, name in places if levels.load(namespace, name) is None]
    for key in levels.loads if idle else ():
        name = key.rpartition("/")[2]
        if key in known or library.is_unread(_KIND, name):
            continue
        there = sorted(f"{namespace}/{name}" if "/" in key else name for namespace, name in idle)
        if did_you_mean(key, there) or any(name == other for _, other in idle):
            reason = unknown_reference(_KIND, key, there, "its load has no effect; correct the name, or remove it")
            yield _unused(levels, f"loads[{key}]", reason)


def _prices(library: Library, levels: ServiceLevels) -> Iterator[Problem]:
    """Yield accelerators that variants spell otherwise; those that none has are there to be compared with."""
    used = set[str]()
    for namespace in {namespace for namespace, _ in library.places_of(VariantAutoscaling)}:
        for resource in library.all(VariantAutoscaling, namespace).values():
            used |= {entry.acc for entry in resource.spec.model_profile.accelerators}
    spelled = {name.lower(): name for name in sorted(used)}
    for name in levels.accelerators:
        meant = spelled.get(name.lower())
        if meant and name not in used:
            reason = f"has no effect: VariantAutoscalings call that accelerator {meant!r}; write it like that"
            yield _unused(levels, f"accelerators[{name}]", reason)


def _unused(levels: ServiceLevels, path: str, reason: str) -> Problem:
    return Problem(
        levels.file, 0, "", "", f"serviceLevels.{path}", reason, Severity.WARNING, rule=RuleId.SIZING_UNUSED_SETTING
    )
