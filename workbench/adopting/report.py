"""The report of an adoption: what each object becomes, and why."""

from collections.abc import Iterator, Sequence
from typing import Any

from components.contract.texts.printable import printable
from toolkit.printing import pluralize

from ..inspecting.writers import OtherWriter, writers_of
from .decisions import Adoption, Becomes, Decision

_HEADINGS = {
    Becomes.TYPED: "Adopted as typed resources",
    Becomes.VERBATIM: "Adopted as they are (otherKinds: apply)",
    Becomes.LEFT: "Left alone",
}


def text_report(adoption: Adoption, notes: Sequence[str]) -> str:
    """Return the report as text."""
    lines: list[str] = []
    for becomes, heading in _HEADINGS.items():
        decisions = adoption.having(becomes)
        if decisions:
            lines += [f"{heading} ({len(decisions)}):"]
            lines += [line for decision in decisions for line in _decision_lines(decision)]
            lines.append("")
    owned = [decision for decision in adoption.decisions if decision.owned]
    if owned:
        lines += [f"{pluralize(len(owned), 'object')} of controllers follow their owners.", ""]
    lines += [f"note: {note}" for note in (*notes, *_former_managers(adoption))]
    lines += [f"warning: {problem}" for problem in adoption.warnings]
    lines += [f"problem: {problem}" for problem in adoption.problems]
    lines.append(share(adoption))
    return "".join(f"{printable(line)}\n" for line in lines)


def share(adoption: Adoption) -> str:
    """Return how many of the resources that an operator reconciles were adopted as typed resources."""
    own = [decision for decision in adoption.decisions if decision.candidate.kind and not decision.owned]
    typed = [decision for decision in own if decision.becomes is Becomes.TYPED]
    workloads = [decision for decision in adoption.decisions if not decision.owned and decision.manifest]
    text = f"Adopted {pluralize(len(workloads), 'object')}."
    if own:
        part = 100 * len(typed) // len(own)
        text += f" Typed: {len(typed)} of {len(own)} resources of the families ({part} %)."
    return text


def _decision_lines(decision: Decision) -> Iterator[str]:
    where = f" -> models/{decision.file}" if decision.manifest else ""
    yield f"  {decision.candidate.title}{where}: {decision.reason}"
    yield from (f"      {difference}" for difference in decision.differences)
    yield from (f"      ignored, because it runs so: {finding}" for finding in decision.findings)
    if decision.restarts:
        yield f"      a conversion would restart {pluralize(decision.restarts, 'pod')}"


def _former_managers(adoption: Adoption) -> Iterator[str]:
    """Yield what else applies the adopted objects, and would undo changes of the stack, with what to do about it."""
    numbers: dict[OtherWriter, int] = {}
    for decision in adoption.decisions:
        if decision.manifest is not None:
            for writer in writers_of(decision.candidate.live):
                numbers[writer] = numbers.get(writer, 0) + 1
    for writer, number in sorted(numbers.items(), key=lambda entry: entry[0].title):
        yield (
            f"{writer.title} also applies {pluralize(number, 'adopted object')}, and would undo changes of the "
            f"stack: before the first `up`, {writer.end}; or {writer.ignore}"
        )


def json_report(adoption: Adoption, notes: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
    """Return the report as data."""
    return {
        "objects": [
            {
                "group": decision.candidate.identity[0],
                "kind": decision.candidate.identity[1],
                "namespace": decision.candidate.identity[2],
                "name": decision.candidate.identity[3],
                "becomes": decision.becomes.value,
                "reason": decision.reason,
                **({"file": f"models/{decision.file}"} if decision.manifest else {}),
                **({"differences": list(decision.differences)} if decision.differences else {}),
                **({"findings": list(decision.findings)} if decision.findings else {}),
                **({"restarts": decision.restarts} if decision.restarts else {}),
            }
            for decision in adoption.decisions
        ],
        "imports": list(adoption.imports),
        "omitted": list(adoption.omitted),
        "notes": [*notes, *_former_managers(adoption)],
        "warnings": [str(problem) for problem in adoption.warnings],
        "problems": [str(problem) for problem in adoption.problems],
        "files": list(files),
    }
