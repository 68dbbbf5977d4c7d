"""What a ModelBooster is expanded into: resources that nobody wrote, whose problems are its own."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.kinds import Kind
from ...contract.load import LoadedResource
from ...contract.meta import Resource
from ...contract.problems import Problem, Severity
from ...fleet.origins import ProblemSource

Blame = Callable[[str], tuple[str, str]]
"""Returns the field of the writer's resource behind a field of what is made of it, and the lead of a reason about it:
empty where that field says the same thing, else such as ``becomes spec.template.roles[0] of ModelServing 'a': ``.
"""


@dataclass(frozen=True, slots=True)
class Behind:
    """What is behind the fields of a resource that nobody wrote: all that is left of it once it is rendered.

    Attributes:
        title: ``Kind/name`` of the resource.
        writer: The resource that somebody wrote.
        blame: Which of its fields is behind a field of the other one.
    """

    title: str
    writer: LoadedResource
    blame: Blame

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of the writer's resource, at the line of the field behind."""
        field, lead = self.blame(path)
        return self.writer.problem(field, f"{lead}{reason}", severity, rule)


@dataclass(slots=True)
class FindingsBehind(Findings):
    """The problems of what nobody wrote, reported at the fields behind."""

    behind: Behind = field(kw_only=True)

    def record(self, path: str, reason: str, severity: Severity, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record what is wrong with a field."""
        self.problems.append(self.behind.problem(path, reason, severity, rule))


@dataclass(frozen=True, slots=True)
class Made(LoadedResource):
    """A resource made of another one; what is wrong with it is reported there."""

    behind: Behind = field(kw_only=True)

    @classmethod
    def by(cls, writer: LoadedResource, resource: Resource, kind: Kind, blame: Blame) -> "Made":
        """Return what a resource is expanded into."""
        behind = Behind(f"{kind.kind}/{resource.metadata.name}", writer, blame)
        return cls(resource, kind, writer.file, writer.line, behind=behind)

    @property
    def where(self) -> str:
        """The resource that somebody wrote, and its place."""
        return self.behind.writer.where

    @property
    def secrets(self) -> frozenset[str]:
        """Secrets that are written in clear; no message shows them."""
        return self.behind.writer.secrets

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of the writer's resource, at the line of the field behind."""
        return self.behind.problem(path, reason, severity, rule)


def behind(source: LoadedResource) -> ProblemSource:
    """Return what the fields of a resource are told by: itself, unless nobody wrote it."""
    return source.behind if isinstance(source, Made) else source
