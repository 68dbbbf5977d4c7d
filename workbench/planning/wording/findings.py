"""Findings of a review in reading order: new errors first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from components.contract.findings.ids import RuleId
from components.contract.problems import Severity
from components.plan.review.review import Review
from components.plan.review.snapshot import FindingState

from .figures import counted, joined

_SEVERITIES = ("error", "warning", "note")
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings under one heading.

    Attributes:
        folded: Whether the group is collapsed.
        fixed: Whether the findings are in the base revision only.
    """

    title: str
    findings: tuple[FindingState, ...]
    folded: bool = False
    fixed: bool = False


def finding_groups(review: Review) -> Iterator[FindingGroup]:
    """Yield all findings that are not ignored: new, existing and fixed ones."""
    new, old = _counting(review.new if review.base else review.head.findings), _old(review)
    prefix = "New " if review.base else ""
    for severity in _SEVERITIES[:2]:
        yield from _group(f"{prefix}{severity}s".capitalize(), new, severity)
    yield from _group("Errors as before", old, "error")
    if fixed := tuple(sorted(_counting(review.fixed), key=_order)):
        yield FindingGroup("Fixed", fixed, fixed=True)
    yield from _group("Warnings as before", old, "warning", folded=True)
    yield from _group(f"{prefix}notes".capitalize(), new, "note", folded=True)
    yield from _group("Notes as before", old, "note", folded=True)


def ignored(review: Review) -> tuple[FindingState, ...]:
    """Return the ignored findings."""
    return tuple(sorted((each for each in review.head.findings if each.ignored), key=_order))


def summed_up(review: Review) -> str:
    """Summarize the numbers of errors and warnings."""
    new, old = _counting(review.new if review.base else review.head.findings), _old(review)
    kind = "new " if review.base else ""
    found = [counted(number, f"{kind}{each}") for each in _SEVERITIES[:2] if (number := _number(new, each))]
    found += [f"{counted(number, each)} as before" for each in _SEVERITIES[:2] if (number := _number(old, each))]
    if not any("error" in each for each in found):
        found.insert(0, "no errors")
    if number := _number(review.fixed, "error"):
        found.append(f"{counted(number, 'error')} fixed")
    return joined(found)


def doubtful_starts(review: Review) -> str:
    """Name the models that may not start, because engines exit on an unknown flag."""
    flags = [
        each
        for each in _counting(review.head.findings)
        if each.rule == RuleId.FLAGS_UNKNOWN and each.severity == Severity.WARNING
    ]
    names = list(dict.fromkeys(f"{each.kind}/{each.name}" for each in sorted(flags, key=_order)))
    if not names:
        return ""
    rest = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    found = "an unknown flag" if len(flags) == 1 else "unknown flags"
    return f"{joined(names[:_MOST_NAMES] + rest)} may not start, because of {found}"


def _old(review: Review) -> tuple[FindingState, ...]:
    if review.base is None:
        return ()
    new = frozenset(review.new)
    return tuple(each for each in _counting(review.head.findings) if each not in new)


def _counting(findings: Iterable[FindingState]) -> tuple[FindingState, ...]:
    return tuple(each for each in findings if not each.ignored)


def _number(findings: Iterable[FindingState], severity: str) -> int:
    return sum(each.severity == severity for each in findings)


def _group(
    title: str, findings: Iterable[FindingState], severity: str, *, folded: bool = False
) -> Iterator[FindingGroup]:
    found = tuple(sorted((each for each in findings if each.severity == severity), key=_order))
    if found:
        yield FindingGroup(title, found, folded)


def _order(finding: FindingState) -> tuple[int, str, int, str, str]:
    return _SEVERITIES.index(finding.severity), finding.file, finding.line, finding.path, finding.reason


def place(finding: FindingState) -> str:
    """Return file and line of a finding."""
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def subject(finding: FindingState) -> str:
    """Return the resource and field of a finding."""
    resource = f"{finding.kind}/{finding.name}" if finding.kind else ""
    return " ".join(filter(None, (resource, finding.path)))
