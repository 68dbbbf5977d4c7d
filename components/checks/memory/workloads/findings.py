"""What is wrong with the memory of models: a finding at the field that asks for too much."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....engines.settings import Setting
from ....fleet.origins import Reporter
from ....fleet.workloads import Workload
from ..cases import CheaperType, Fit, MemoryVerdict
from ..reading import WorkloadVerdict

_FOUND = {
    Fit.EXCEEDED: (Severity.ERROR, RuleId.MEMORY_EXCEEDED, "does not fit"),
    Fit.TIGHT: (Severity.WARNING, RuleId.MEMORY_TIGHT, "hardly fits"),
}
_SHOWN = 3
"""Instance types that a message tells about."""
_CENT = Decimal("0.01")


def check_memory(found: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Yield the models that do not fit, or hardly; what is not checked is no finding."""
    for each in found:
        if each.verdict.fit in _FOUND:
            severity, rule, words = _FOUND[each.verdict.fit]
            yield _blamed(each).problem(_reason(each, words), severity, rule)


def _reason(found: WorkloadVerdict, words: str) -> str:
    verdict = found.verdict
    model = verdict.asked.shape.name if verdict.asked else "its model"
    device = f" ({verdict.asked.device})" if verdict.asked else ""
    what = f"{model} {words} {found.instance_type}{device}: {verdict.reason}"
    return "; ".join([what, *_remedies(verdict)])


def _remedies(verdict: MemoryVerdict) -> Iterator[str]:
    if verdict.types:
        yield f"the cheapest types that fit are {', '.join(map(_shown, verdict.types[:_SHOWN]))}"


def _shown(each: CheaperType) -> str:
    count = f"{each.count} x " if each.count > 1 else ""
    return f"{count}{each.instance_type} (${each.usd_per_hour.quantize(_CENT)} an hour)"


def _blamed(found: WorkloadVerdict) -> Reporter:
    """Return the field that asks for too much: the context where a shorter one fits, else the kind of nodes."""
    server, verdict = found.workload.server, found.verdict
    if 0 < verdict.largest_context < verdict.context:
        return server.field_of(Setting.CONTEXT)
    return _choice(found.workload, found.instance_type) or found.workload.origin


def _choice(workload: Workload, instance_type: str) -> Reporter | None:
    """Return the field that lets pods onto nodes of a type; None where a program does."""
    chosen = (
        choice.chosen_by.origin
        for demand in workload.pods
        for choice in demand.choices
        if choice.chosen_by and instance_type in (choice.instance_type, *choice.alternatives)
    )
    return next(chosen, None)
