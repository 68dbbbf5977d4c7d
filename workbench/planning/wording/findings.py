"""Findings of a review in reading order: new errors first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from components.contract.findings.ids import COMPARED, RuleId
from components.contract.problems import Severity
from components.plan.review.review import Review
from components.plan.review.snapshot import FindingState

from .figures import join_words, pluralize

_SEVERITIES = ("error", "warning", "note")
_MAX_NAMES = 3


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
    new, existing = _new(review), _existing(review)
    prefix = "New " if review.base else ""
    groups = [
        *(_group(f"{prefix}{severity}s".capitalize(), new, severity) for severity in ("error", "warning")),
        _group("Existing errors", existing, "error"),
        FindingGroup("Fixed", tuple(sorted(_active(review.fixed), key=_sort_key)), fixed=True),
        _group("Existing warnings", existing, "warning", folded=True),
        _group(f"{prefix}notes".capitalize(), new, "note", folded=True),
        _group("Existing notes", existing, "note", folded=True),
    ]
    yield from (group for group in groups if group.findings)


def ignored(review: Review) -> tuple[FindingState, ...]:
    return tuple(sorted((finding for finding in review.head.findings if finding.ignored), key=_sort_key))


def finding_counts(review: Review) -> str:
    """Summarize the numbers of errors and warnings."""
    new, existing = _new(review), _existing(review)
    prefix = "new " if review.base else ""
    counts = [
        *(pluralize(n, f"{prefix}{level}") for level in ("error", "warning") if (n := _count(new, level))),
        *(pluralize(n, f"existing {level}") for level in ("error", "warning") if (n := _count(existing, level))),
    ]
    if not any("error" in count for count in counts):
        counts.insert(0, "no errors")
    if fixed := _count(review.fixed, "error"):
        counts.append(f"{pluralize(fixed, 'error')} fixed")
    return join_words(counts)


def refused_changes(review: Review) -> str:
    """Summarize the changes that must not be deployed; empty without any."""
    errors = [finding for finding in _active(review.head.findings) if finding.severity == Severity.ERROR]
    numbers = {rule: sum(finding.rule == rule for finding in errors) for rule in COMPARED}
    parts = []
    if numbers[RuleId.CHANGE_REPLACES_CLUSTER]:
        parts.append("the cluster would be replaced and everything in it lost")
    if number := numbers[RuleId.CHANGE_DESTROYS]:
        parts.append(pluralize(number, "change deletes what is in use", "changes delete what is in use"))
    if number := numbers[RuleId.CHANGE_REFUSED]:
        parts.append(pluralize(number, "change would be refused", "changes would be refused"))
    if number := numbers[RuleId.CHANGE_DELETES_DATA]:
        parts.append(pluralize(number, "change deletes data", "changes delete data"))
    return f"must not be deployed: {join_words(parts)}" if parts else ""


def deleted_contents(review: Review) -> str:
    """Say that caches or namespaces are deleted; empty if none is."""
    rules = {finding.rule for finding in _active(review.head.findings)}
    return "a cache or namespace is deleted with its contents" if RuleId.CHANGE_DELETES_CONTENTS in rules else ""


def startup_risks(review: Review) -> str:
    """Name the models that may not start, because engines exit on an unknown flag."""
    flags = [
        finding
        for finding in _active(review.head.findings)
        if finding.rule == RuleId.FLAGS_UNKNOWN and finding.severity == Severity.WARNING
    ]
    names = list(dict.fromkeys(f"{finding.kind}/{finding.name}" for finding in sorted(flags, key=_sort_key)))
    if not names:
        return ""
    rest = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    cause = "an unknown flag" if len(flags) == 1 else "unknown flags"
    return f"{join_words(names[:_MAX_NAMES] + rest)} may not start, because of {cause}"


def location(finding: FindingState) -> str:
    """Return file and line of a finding."""
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def subject(finding: FindingState) -> str:
    """Return the resource and field of a finding."""
    resource = f"{finding.kind}/{finding.name}" if finding.kind else ""
    return " ".join(filter(None, (resource, finding.path)))


def _new(review: Review) -> tuple[FindingState, ...]:
    """Return new findings; without a base, all of them."""
    return _active(review.new if review.base else review.head.findings)


def _existing(review: Review) -> tuple[FindingState, ...]:
    """Return findings that are in the base revision, too."""
    if review.base is None:
        return ()
    new = frozenset(review.new)
    return tuple(finding for finding in _active(review.head.findings) if finding not in new)


def _active(findings: Iterable[FindingState]) -> tuple[FindingState, ...]:
    return tuple(finding for finding in findings if not finding.ignored)


def _count(findings: Iterable[FindingState], severity: str) -> int:
    return sum(finding.severity == severity for finding in findings)


def _group(title: str, findings: Iterable[FindingState], severity: str, *, folded: bool = False) -> FindingGroup:
    matching = sorted((finding for finding in findings if finding.severity == severity), key=_sort_key)
    return FindingGroup(title, tuple(matching), folded)


def _sort_key(finding: FindingState) -> tuple[int, str, int, str, str]:
    return _SEVERITIES.index(finding.severity), finding.file, finding.line, finding.path, finding.reason
