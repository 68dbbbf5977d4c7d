"""Collects the problems of a resource during rendering, which continues after errors as far as possible."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..load import LoadedResource
from ..problems import Problem, Severity, did_you_mean, path_parts, some_of
from .ids import FINAL, RuleId


class Unrenderable(Exception):  # noqa: N818  it ends the rendering of one resource and never leaves this layer
    """Raised after recording an error that makes further rendering impossible."""


_REGARDLESS = frozenset(
    {
        RuleId.CONTRACT,
        RuleId.REFERENCE_MISSING,
        RuleId.NAMES_INVALID,
        RuleId.NAME_MISSPELLED,
        RuleId.AMOUNT_IMPLAUSIBLE,
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
"""Rules about a single value, which hold whether or not other fields and resources could be read."""


@dataclass(slots=True)
class Findings:
    """The problems of one resource.

    Attributes:
        is_tentative: Whether part of the resource, or of one that it refers to, could not be read. Only problems that
            do not depend on that part are recorded then: a missing GPU may be in a misspelled field.
    """

    source: LoadedResource
    problems: list[Problem] = field(default_factory=list)
    is_tentative: bool = False

    def error(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> None:
        self.record(path, reason, Severity.ERROR, rule)

    def warn(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> None:
        self.record(path, reason, Severity.WARNING, rule)

    def note(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> None:
        self.record(path, reason, Severity.NOTE, rule)

    def record(self, path: str, reason: str, severity: Severity, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record a problem of a field, unless the resource is tentative and the problem depends on unread parts."""
        if self.is_tentative and not (rule in _REGARDLESS and _is_written(self.source, path)):
            return
        self.problems.append(self.source.problem(path, reason, severity, rule))

    def fail(self, path: str, reason: str, rule: RuleId = RuleId.CONTRACT) -> Unrenderable:
        """Record an error and return the exception to raise."""
        self.error(path, reason, rule)
        return Unrenderable(reason)

    @property
    def has_errors(self) -> bool:
        return bool(self.problems) and any(problem.is_error for problem in self.problems)

    @property
    def has_final_errors(self) -> bool:
        """Whether an error cannot be ignored.

        With all other errors rendering continues as if they were ignored, so that further problems are reported too.
        """
        return any(problem.is_error and problem.rule in FINAL for problem in self.problems)


def _is_written(source: LoadedResource, path: str) -> bool:
    """Whether the manifest sets a field: a problem of an absent field may be due to a misspelled one."""
    value: Any = source.resource.wire()
    parts = path_parts(path)
    for part in parts:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(parts)


def unknown_reference(what: str, name: str, known: Iterable[str], remedy: str) -> str:
    """Return the message for a reference to something that does not exist."""
    names = sorted(known)
    choices = f"available: {some_of(names)}" if names else "none exist"
    return f"no {what} named {name!r}{did_you_mean(name, names)} ({choices}); {remedy}"
