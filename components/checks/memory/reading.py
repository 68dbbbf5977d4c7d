"""Reads a fleet: for each workload that serves, whether its model fits the accelerators that it may run on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...engines.memory_settings.reader import memory_settings_of
from ...engines.memory_settings.settings import Variables
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload, by_set
from .arithmetic import judge
from .cases import Fit, MemoryVerdict
from .wording import gib, in_gib
from .workloads.asking import Serves, question_of
from .workloads.known import KnownShapes
from .workloads.placing import Placement, device_of, placement_of
from .workloads.spreading import spread_field

_NOTHING = KnownShapes()
_WORST = (Fit.EXCEEDED, Fit.UNKNOWN, Fit.TIGHT, Fit.FITS)
_Memory = dict[tuple[Serves, Placement], tuple[str, MemoryVerdict]]
"""What was found for workloads that are alike."""


@dataclass(frozen=True, slots=True)
class WorkloadVerdict:
    """Whether the model of equal workloads fits.

    Attributes:
        item: The resource.
        workload: The first one of them; others have the same pods.
        names: Their names, each as ``Kind namespace/name``.
        instance_type: Of which nodes the verdict speaks: those that it fits worst; empty where none were looked at.
        accelerators: Accelerators of a replica.
    """

    item: Rendered = field(repr=False)
    workload: Workload = field(repr=False)
    names: tuple[str, ...]
    verdict: MemoryVerdict
    instance_type: str = ""
    accelerators: int = 0

    @property
    def text(self) -> str:
        """The verdict in a few words."""
        verdict = self.verdict
        if verdict.fit is Fit.UNKNOWN:
            return f"{verdict.fit}: {verdict.reason}"
        each = " each" if self.accelerators > 1 else ""
        estimated = ", an estimate" if verdict.asked and verdict.asked.shape.estimate else ""
        size = f"{in_gib(verdict.needed)} of {gib(verdict.usable)}{each}"
        return f"{verdict.fit}: {size} on {self.instance_type}{estimated}"


def verdicts(fleet: Fleet, shapes: KnownShapes = _NOTHING) -> tuple[WorkloadVerdict, ...]:
    """Return whether the model of each workload that serves fits; nothing is guessed."""
    found: _Memory = {}
    return tuple(verdict for item in fleet.rendered for verdict in _of_item(item, shapes, found))


def fit_in_words(found: Sequence[WorkloadVerdict]) -> str:
    """Return whether the model of a resource fits, in a few words; of several workloads each by its name."""
    texts = list(dict.fromkeys(each.text for each in found))
    if len(texts) < 2:
        return "".join(texts)
    roles = [each.workload.role for each in found]
    names = roles if all(roles) and len(set(roles)) == len(roles) else [each.workload.set_name for each in found]
    return "; ".join(f"{name}: {each.text}" for name, each in zip(names, found, strict=True))


def unchecked(found: Iterable[WorkloadVerdict]) -> dict[str, list[str]]:
    """Return the resources whose memory is not checked, by reason."""
    reasons: dict[str, list[str]] = {}
    for each in found:
        names = reasons.setdefault(each.verdict.reason, []) if each.verdict.fit is Fit.UNKNOWN else None
        if names is not None and each.item.title not in names:
            names.append(each.item.title)
    return reasons


def estimated(found: Iterable[WorkloadVerdict]) -> list[str]:
    """Return the resources whose verdict rests on an estimate from the model's name."""
    known = [each for each in found if each.verdict.fit is not Fit.UNKNOWN and each.verdict.asked]
    names = [each.item.title for each in known if each.verdict.asked and each.verdict.asked.shape.estimate]
    return list(dict.fromkeys(names))


def _of_item(item: Rendered, shapes: KnownShapes, found: _Memory) -> Iterator[WorkloadVerdict]:
    if not item.workloads:
        return
    for parts in by_set(item.workloads).values():
        workload = parts[0]
        names = tuple(f"{part.kind} {part.namespace}/{part.name}" for part in parts)
        placement = placement_of(workload)
        if isinstance(placement, str):
            yield WorkloadVerdict(item, workload, names, _unknown(placement))
            continue
        name, verdict = _judged(workload, placement, shapes, found)
        yield WorkloadVerdict(item, workload, names, verdict, name, placement.total)


def _judged(
    workload: Workload, placement: Placement, shapes: KnownShapes, found: _Memory
) -> tuple[str, MemoryVerdict]:
    """Return the verdict on the type of nodes that a workload fits worst."""
    line = workload.server.line
    variables, more = _variables(workload)
    asked = memory_settings_of(line, variables, more=more)
    if isinstance(asked, str):
        return "", _unknown(asked)
    weights = tuple(each for each in workload.server.weights if each.loaded_as in (asked.model, asked.draft))
    serves = Serves(line.engine, line.tag, asked, weights, spread_field(workload.server))
    key = (serves, placement)
    if key not in found:
        found[key] = _worst(serves, placement, shapes)
    return found[key]


def _worst(serves: Serves, placement: Placement, shapes: KnownShapes) -> tuple[str, MemoryVerdict]:
    each = [(name, _on(name, serves, placement, shapes)) for name in placement.types]
    name, verdict = min(each, key=lambda pair: (_WORST.index(pair[1].fit), pair[1].margin))
    if placement.is_open and verdict.fit is not Fit.UNKNOWN:
        note = "it may also run on nodes whose type is not known"
        verdict = replace(verdict, notes=(*verdict.notes, note))
    return name, verdict


def _on(name: str, serves: Serves, placement: Placement, shapes: KnownShapes) -> MemoryVerdict:
    node = device_of(name)
    question = node if isinstance(node, str) else question_of(serves, placement, node, shapes)
    # Of a part of a model nothing can be said about other types.
    return _unknown(question) if isinstance(question, str) else judge(question.case, types=question.is_whole)


def _unknown(reason: str) -> MemoryVerdict:
    return MemoryVerdict(Fit.UNKNOWN, reason)


def _variables(workload: Workload) -> tuple[Variables, bool]:
    """Return the variables of the container that serves, and whether there are others that are not known."""
    container: Mapping[str, Any] = workload.container
    env = container.get("env") or ()
    known = tuple((str(each["name"]), str(each["value"]) if "value" in each else None) for each in env)
    return known, bool(container.get("envFrom"))
