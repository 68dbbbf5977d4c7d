"""Where something in a fleet comes from: a field of a manifest."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity


class Reporter(Protocol):
    """What a problem can be reported at: a field of a manifest, an argument of a program."""

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return what is wrong with it."""


class ProblemSource(Protocol):
    """What has the fields that something comes from: a resource, or what a resource was made of."""

    @property
    def title(self) -> str:
        """``Kind/name``, as messages name it."""

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return what is wrong with one of its fields."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a component that something comes from."""

    component: str
    path: str

    def below(self, path: str) -> Self:
        """Return a key inside it; itself for no path."""
        joint = "" if path.startswith("[") or not path else "."
        return replace(self, path=f"{self.path}{joint}{path}")

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return what is wrong with it."""
        return Problem(self.component, 0, "", "", self.path, reason, severity, rule)


@dataclass(frozen=True, slots=True)
class Origin:
    """The field of a manifest that something comes from.

    Attributes:
        path: The field; empty for the resource as a whole.
        lead: Prefix of every reason, if the field itself is not the one at fault.
    """

    source: ProblemSource
    path: str = ""
    lead: str = ""

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return a problem of this field, at its line."""
        return self.source.problem(self.path, f"{self.lead}{reason}", severity, rule)
