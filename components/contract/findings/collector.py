"""Collects what is wrong with one resource while it is rendered: rendering goes on as far as it can."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..load import LoadedResource
from ..problems import Problem, Severity, did_you_mean, path_parts
from .ids import FINAL, RuleId


class Unrenderable(Exception):  # noqa: N818  it ends the rendering of one resource and never leaves this layer
    """Raised after an error has been recorded that leaves nothing to go on with."""


_REGARDLESS = frozenset(
    {
        RuleId.CONTRACT,
        RuleId.REFERENCE_MISSING,
        RuleId.NAMES_INVALID,
        RuleId.ADAPTERS_WRONG,
        RuleId.FLAGS_UNKNOWN,
        RuleId.FLAGS_UNSUPPORTED,
        RuleId.FLAGS_DEPRECATED,
        RuleId.FLAGS_MALFORMED,
        RuleId.FLAGS_EXCLUSIVE,
        RuleId.FLAGS_REPEATED,
        RuleId.FLAGS_RESERVED,
        RuleId.SECURITY_SCRIPT_SECRET,
        RuleId.SECURITY_SCRIPT_INJECTION,
    }
)
"""Rules about a value by itself: what they find does not depend on fields or resources that could not be read."""


@dataclass(slots=True)
class Findings:
    """The problems of one resource.

    Attributes:
        is_tentative: Whether a part of the resource, or one that it refers to, could not be read. Only what is wrong
            whatever stands there is recorded from then on: a missing GPU may be in a misspelled field.
    """

    source: LoadedResource
    problems: list[Problem] = field(default_factory=list)
    is_tentative: bool = False

    def error(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record something that forbids the use of the resource."""
        self.record(path, reason, Severity.ERROR, rule)

    def warn(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record something that works, but hardly as meant."""
        self.record(path, reason, Severity.WARNING, rule)

    def note(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record what was decided for the resource, and why."""
        self.record(path, reason, Severity.NOTE, rule)

    def record(self, path: str, reason: str, severity: Severity, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record what there is to say of a field."""
        if self.is_tentative and not (rule in _REGARDLESS and _is_written(self.source, path)):
            return
        self.problems.append(self.source.problem(path, reason, severity, rule))

    def fail(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> Unrenderable:
        """Record an error and return what to raise."""
        self.error(path, reason, rule)
        return Unrenderable(reason)

    @property
    def has_errors(self) -> bool:
        """Whether there is an error among the problems."""
        return bool(self.problems) and any(problem.is_error for problem in self.problems)

    @property
    def has_final_errors(self) -> bool:
        """Whether one of these errors is of a rule that cannot be ignored: there may be nothing to go on with then.

        With any other error the resource can be rendered, as it is where the error is ignored, so that whatever else
        is wrong with it is found at once.
        """
        return any(problem.is_error and problem.rule in FINAL for problem in self.problems)


def _is_written(source: LoadedResource, path: str) -> bool:
    """Tell whether a field stands in the manifest: what is said of an absent one may be said of a misspelled one."""
    value: Any = source.resource.wire()
    parts = path_parts(path)
    for part in parts:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(parts)


def unknown_reference(what: str, name: str, known: Iterable[str], remedy: str) -> str:
    """Word a reference to something that does not exist."""
    names = sorted(known)
    there = f"available: {', '.join(names)}" if names else "none exist"
    return f"no {what} named {name!r}{did_you_mean(name, names)} ({there}); {remedy}"
