"""Origins: the manifest field or argument that caused a part of the fleet, and where its problems are reported."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity


class Reporter(Protocol):
    """Something that problems can be reported at: a manifest field or an argument of a program."""

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return a problem at this field or argument."""


class ProblemSource(Protocol):
    """A resource whose fields can have problems: one that was read, or one that was generated from another."""

    @property
    def title(self) -> str:
        """``Kind/name``, for messages."""

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem at one of its fields."""

    def written(self, path: str) -> str:
        """Return the field of the manifest from which one of its fields comes."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a component."""

    component: str
    path: str

    def below(self, path: str) -> Self:
        """Return a key below this argument; itself for an empty path."""
        joint = "" if path.startswith("[") or not path else "."
        return replace(self, path=f"{self.path}{joint}{path}")

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return a problem at this argument."""
        return Problem(file=self.component, path=self.path, reason=reason, severity=severity, rule=rule)


@dataclass(frozen=True, slots=True)
class Origin:
    """The manifest field that a part of the fleet comes from.

    Attributes:
        path: The field; empty for the resource as a whole.
        lead: Prefix of every message, if another field is at fault.
    """

    source: ProblemSource
    path: str = ""
    lead: str = ""

    @property
    def written(self) -> str:
        """The field as its manifest has it: that of the resource from which another one was generated."""
        return self.source.written(self.path)

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return a problem at this field and its line."""
        return self.source.problem(self.path, f"{self.lead}{reason}", severity, rule)
