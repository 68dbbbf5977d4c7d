"""Verdicts on a fleet: whether the model of each serving workload fits the accelerators it may run on."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.memory_settings.reader import memory_settings_of
from ...engines.settings import Setting
from ...fleet.origins import Reporter
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload, by_set
from .arithmetic import judge
from .cases import CheaperType, Fit, MemoryVerdict
from .wording import gib, in_gib
from .workloads.cases import Placement, ServerSpec, case_of, device_of, placement_of, spread_field
from .workloads.known import KnownShapes

_NO_SHAPES = KnownShapes()
_WORST_FIRST = (Fit.EXCEEDED, Fit.UNKNOWN, Fit.TIGHT, Fit.FITS)
_FINDINGS = {
    Fit.EXCEEDED: (Severity.ERROR, RuleId.MEMORY_EXCEEDED, "does not fit"),
    Fit.TIGHT: (Severity.WARNING, RuleId.MEMORY_TIGHT, "barely fits"),
}
_MAX_TYPES = 3
"""Instance types that a message names."""
_CENT = Decimal("0.01")
_Cache = dict[tuple[ServerSpec, Placement], tuple[str, MemoryVerdict]]
"""Instance type and verdict of equal workloads."""


@dataclass(frozen=True, slots=True)
class WorkloadVerdict:
    """Whether the model of equal workloads fits.

    Attributes:
        item: The resource.
        workload: The first of the workloads; the others have the same pods.
        names: Their names, as ``Kind namespace/name``.
        instance_type: Node type of the verdict, the one with the worst fit; empty if no type was judged.
        accelerators: Accelerators of a replica.
    """

    item: Rendered = dataclasses.field(repr=False)
    workload: Workload = dataclasses.field(repr=False)
    names: tuple[str, ...]
    verdict: MemoryVerdict
    instance_type: str = ""
    accelerators: int = 0

    @property
    def text(self) -> str:
        """The verdict in a few words, such as ``fits: 16.5 of 19.8 GiB on g6.2xlarge``."""
        verdict = self.verdict
        if verdict.fit is Fit.UNKNOWN:
            return f"{verdict.fit}: {verdict.reason}"
        each = " each" if self.accelerators > 1 else ""
        estimated = ", an estimate" if verdict.asked and verdict.asked.shape.estimate else ""
        size = f"{in_gib(verdict.needed)} of {gib(verdict.usable)}{each}"
        return f"{verdict.fit}: {size} on {self.instance_type}{estimated}"


def verdicts(fleet: Fleet, shapes: KnownShapes = _NO_SHAPES) -> tuple[WorkloadVerdict, ...]:
    """Judge the model of each serving workload; sets of equal workloads are judged once."""
    cache: _Cache = {}
    return tuple(verdict for item in fleet.rendered for verdict in _verdicts_of(item, shapes, cache))


def _verdicts_of(item: Rendered, shapes: KnownShapes, cache: _Cache) -> Iterator[WorkloadVerdict]:
    for parts in by_set(item.workloads).values() if item.workloads else ():
        workload = parts[0]
        names = tuple(f"{part.kind} {part.namespace}/{part.name}" for part in parts)
        placement = placement_of(workload)
        if isinstance(placement, str):
            yield WorkloadVerdict(item, workload, names, MemoryVerdict(Fit.UNKNOWN, placement))
            continue
        name, verdict = _judged(workload, placement, shapes, cache)
        yield WorkloadVerdict(item, workload, names, verdict, name, placement.total)


def _judged(
    workload: Workload, placement: Placement, shapes: KnownShapes, cache: _Cache
) -> tuple[str, MemoryVerdict]:
    """Return the node type that a workload fits worst, and the verdict on it."""
    line = workload.server.line
    container = workload.container
    env = container.get("env") or ()
    variables = tuple((str(entry["name"]), str(entry["value"]) if "value" in entry else None) for entry in env)
    settings = memory_settings_of(line, variables, more=bool(container.get("envFrom")))
    if isinstance(settings, str):
        return "", MemoryVerdict(Fit.UNKNOWN, settings)
    weights = tuple(named for named in workload.server.weights if named.loaded_as in (settings.model, settings.draft))
    server = ServerSpec(line.engine, line.tag, settings, weights, spread_field(workload.server))
    key = (server, placement)
    if key not in cache:
        judged = [(name, _judged_on(name, server, placement, shapes)) for name in placement.types]
        name, verdict = min(judged, key=lambda pair: (_WORST_FIRST.index(pair[1].fit), pair[1].margin))
        if placement.is_open and verdict.fit is not Fit.UNKNOWN:
            note = "the pods may also run on nodes whose type is unknown"
            verdict = replace(verdict, notes=(*verdict.notes, note))
        cache[key] = name, verdict
    return cache[key]


def _judged_on(name: str, server: ServerSpec, placement: Placement, shapes: KnownShapes) -> MemoryVerdict:
    node = device_of(name)
    found = node if isinstance(node, str) else case_of(server, placement, node, shapes)
    if isinstance(found, str):
        return MemoryVerdict(Fit.UNKNOWN, found)
    # The case of a part of a model says nothing about other instance types.
    return judge(found.case, types=found.is_whole)


def check_memory(found: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Reject models that do not fit, and warn about those that barely do."""
    for each in found:
        verdict, workload = each.verdict, each.workload
        if verdict.fit not in _FINDINGS:
            continue
        severity, rule, words = _FINDINGS[verdict.fit]
        model = verdict.asked.shape.name if verdict.asked else "its model"
        device = f" ({verdict.asked.device})" if verdict.asked else ""
        reason = f"{model} {words} {each.instance_type}{device}: {verdict.reason}"
        if verdict.types:
            types = ", ".join(map(_with_price, verdict.types[:_MAX_TYPES]))
            reason = f"{reason}; the cheapest instance types that fit are {types}"
        field: Reporter = _type_field(workload, each.instance_type) or workload.origin
        if 0 < verdict.largest_context < verdict.context:
            field = workload.server.field_of(Setting.CONTEXT)
        yield field.problem(reason, severity, rule)


def _with_price(choice: CheaperType) -> str:
    count = f"{choice.count} x " if choice.count > 1 else ""
    return f"{count}{choice.instance_type} (${choice.usd_per_hour.quantize(_CENT)}/hour)"


def _type_field(workload: Workload, instance_type: str) -> Reporter | None:
    """Return the field that lets pods onto nodes of a type; None if no manifest field does."""
    fields = (
        choice.chosen_by.origin
        for demand in workload.pods
        for choice in demand.choices
        if choice.chosen_by and instance_type in (choice.instance_type, *choice.alternatives)
    )
    return next(fields, None)


def fit_in_words(found: Sequence[WorkloadVerdict]) -> str:
    """Return whether the model of a resource fits, in a few words; several workloads by their names."""
    texts = list(dict.fromkeys(each.text for each in found))
    if len(texts) < 2:
        return "".join(texts)
    roles = [each.workload.role for each in found]
    names = roles if all(roles) and len(set(roles)) == len(roles) else [each.workload.set_name for each in found]
    return "; ".join(f"{name}: {each.text}" for name, each in zip(names, found, strict=True))


def unchecked(found: Iterable[WorkloadVerdict]) -> dict[str, list[str]]:
    """Return the resources whose memory was not checked, by reason."""
    reasons: dict[str, list[str]] = {}
    for each in found:
        if each.verdict.fit is Fit.UNKNOWN:
            names = reasons.setdefault(each.verdict.reason, [])
            if each.item.title not in names:
                names.append(each.item.title)
    return reasons


def estimated(found: Iterable[WorkloadVerdict]) -> list[str]:
    """Return the resources whose verdict rests on an estimate from the model's name."""
    return list(
        dict.fromkeys(
            each.item.title
            for each in found
            if each.verdict.fit is not Fit.UNKNOWN and each.verdict.asked and each.verdict.asked.shape.estimate
        )
    )
