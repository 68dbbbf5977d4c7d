"""Verdicts on a fleet: whether the model of each serving workload fits the accelerators it may run on."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.settings import Setting
from ...fleet.origins import Reporter
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload, by_set
from .arithmetic import judge
from .cases import Fit, MemoryVerdict
from .wording import gib, in_gib
from .workloads.cases import (
    Placement,
    ServerSpec,
    case_of,
    device_of,
    loaded_weights,
    no_videos_step,
    placement_of,
    spread_field,
)
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
        per_accelerator = " each" if self.accelerators > 1 else ""
        shape = verdict.asked.shape if verdict.asked else None
        estimated = ", an estimate" if shape and shape.estimate else ""
        if shape and shape.estimate:
            from .misspelling import misspelled

            if near := misspelled(shape.name):
                estimated += f" (unknown model {shape.name!r}; did you mean {near!r}?)"
        size = f"{in_gib(verdict.needed)} of {gib(verdict.usable)}{per_accelerator}"
        return f"{verdict.fit}: {size} on {self.instance_type}{estimated}"


def verdicts(fleet: Fleet, shapes: KnownShapes = _NO_SHAPES) -> tuple[WorkloadVerdict, ...]:
    """Judge the model of each serving workload; sets of equal workloads are judged once."""
    cache: _Cache = {}
    judged: list[WorkloadVerdict] = []
    for item in fleet.rendered:
        for workloads in by_set(item.workloads).values() if item.workloads else ():
            first = workloads[0]
            names = tuple(f"{workload.kind} {workload.namespace}/{workload.name}" for workload in workloads)
            placement = placement_of(first)
            if isinstance(placement, str):
                judged.append(WorkloadVerdict(item, first, names, MemoryVerdict(Fit.UNKNOWN, placement)))
                continue
            instance_type, verdict = _judged(first, placement, shapes, cache)
            judged.append(
                WorkloadVerdict(
                    item=item,
                    workload=first,
                    names=names,
                    verdict=verdict,
                    instance_type=instance_type,
                    accelerators=placement.total,
                )
            )
    return tuple(judged)


def _judged(
    workload: Workload, placement: Placement, shapes: KnownShapes, cache: _Cache
) -> tuple[str, MemoryVerdict]:
    """Return the node type that a workload fits worst, and the verdict on it."""
    line, settings = workload.server.line, workload.memory_settings
    if isinstance(settings, str):
        return "", MemoryVerdict(Fit.UNKNOWN, settings)
    weights = loaded_weights(workload, settings)
    server = ServerSpec(
        engine=line.engine,
        tag=line.tag,
        settings=settings,
        weights=weights,
        spread=spread_field(workload.server),
        no_videos=no_videos_step(workload.server),
    )
    key = (server, placement)
    if key not in cache:
        judged: list[tuple[str, MemoryVerdict]] = []
        for name in placement.types:
            node = device_of(name)
            case = node if isinstance(node, str) else case_of(server, placement, node, shapes)
            if isinstance(case, str):
                judged.append((name, MemoryVerdict(Fit.UNKNOWN, case)))
            else:
                # The case of a part of a model does not apply to other instance types.
                judged.append((name, judge(case.case, types=case.is_whole)))
        name, verdict = min(judged, key=lambda pair: (_WORST_FIRST.index(pair[1].fit), pair[1].margin))
        if placement.is_open and verdict.fit is not Fit.UNKNOWN:
            note = "the pods may also run on nodes whose type is unknown"
            verdict = replace(verdict, notes=(*verdict.notes, note))
        cache[key] = name, verdict
    return cache[key]


def check_memory(judged: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Reject models that do not fit, and warn about those that barely do."""
    for item in judged:
        verdict, workload = item.verdict, item.workload
        if verdict.fit not in _FINDINGS:
            continue
        severity, rule, words = _FINDINGS[verdict.fit]
        model = verdict.asked.shape.name if verdict.asked else "its model"
        device = f" ({verdict.asked.device})" if verdict.asked else ""
        reason = f"{model} {words} {item.instance_type}{device}: {verdict.reason}"
        if verdict.types:
            types = [
                f"{f'{choice.count} x ' if choice.count > 1 else ''}{choice.instance_type} "
                f"(${choice.usd_per_hour.quantize(_CENT)}/hour)"
                for choice in verdict.types[:_MAX_TYPES]
            ]
            reason = f"{reason}; the cheapest instance types that fit are {', '.join(types)}"

        # Report the field to change: the context, else the field that lets pods onto these nodes.
        field = node_field(workload, item.instance_type)
        if 0 < verdict.largest_context < verdict.context:
            field = workload.server.field_of(Setting.CONTEXT)
        yield field.problem(reason, severity, rule)


def node_field(workload: Workload, instance_type: str) -> Reporter:
    """Return the field that lets the pods of a workload onto nodes of a type; the resource if none does."""
    fields = (
        choice.chosen_by.origin
        for demand in workload.pods
        for choice in demand.choices
        if choice.chosen_by and instance_type in (choice.instance_type, *choice.alternatives)
    )
    return next(fields, workload.origin)


def fit_in_words(judged: Sequence[WorkloadVerdict]) -> str:
    """Return whether the model of a resource fits, in a few words; several workloads by their names."""
    texts = list(dict.fromkeys(item.text for item in judged))
    if len(texts) < 2:
        return "".join(texts)
    roles = [item.workload.role for item in judged]
    names = roles if all(roles) and len(set(roles)) == len(roles) else [item.workload.set_name for item in judged]
    return "; ".join(f"{name}: {item.text}" for name, item in zip(names, judged, strict=True))


def unchecked(judged: Iterable[WorkloadVerdict]) -> dict[str, list[str]]:
    """Return the resources whose memory was not checked, by reason."""
    reasons: dict[str, list[str]] = {}
    for item in judged:
        if item.verdict.fit is Fit.UNKNOWN:
            titles = reasons.setdefault(item.verdict.reason, [])
            if item.item.title not in titles:
                titles.append(item.item.title)
    return reasons


def estimated(judged: Iterable[WorkloadVerdict]) -> list[str]:
    """Return the resources whose verdict rests on an estimate from the model's name."""
    return list(
        dict.fromkeys(
            item.item.title
            for item in judged
            if item.verdict.fit is not Fit.UNKNOWN and item.verdict.asked and item.verdict.asked.shape.estimate
        )
    )
