"""Resources generated from a ModelBooster. They have no file, so their problems are reported at the ModelBooster."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.kinds import Kind
from ...contract.load import LoadedResource
from ...contract.meta import Resource
from ...contract.problems import Problem, Severity
from ...fleet.origins import ProblemSource

FieldMap = Callable[[str], tuple[str, str]]
"""Maps a field of a generated resource to the owner's field that it came from, and to a prefix for messages about it.

The prefix is empty where both fields hold the same value, else such as
``becomes spec.template.roles[0] of ModelServing 'a': ``.
"""


@dataclass(frozen=True, slots=True)
class GeneratedOrigin:
    """Where the fields of a generated resource came from: all that is kept of the resource after rendering.

    Attributes:
        title: ``Kind/name`` of the generated resource.
        owner: The resource that the user wrote.
    """

    title: str
    owner: LoadedResource
    field_map: FieldMap

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem at the owner's field."""
        field, prefix = self.field_map(path)
        return self.owner.problem(field, f"{prefix}{reason}", severity, rule)

    def written(self, path: str) -> str:
        """Return the field of the owner's manifest."""
        field, _ = self.field_map(path)
        return self.owner.written(field)


@dataclass(slots=True)
class GeneratedFindings(Findings):
    """The problems of a generated resource, each at the owner's field."""

    origin: GeneratedOrigin = field(kw_only=True)

    def record(self, path: str, reason: str, severity: Severity, rule: RuleId = RuleId.CONTRACT) -> None:
        """Record a problem at the owner's field."""
        self.problems.append(self.origin.problem(path, reason, severity, rule))


@dataclass(frozen=True, slots=True)
class Generated(LoadedResource):
    """A generated resource."""

    origin: GeneratedOrigin = field(kw_only=True)

    @classmethod
    def create(cls, owner: LoadedResource, resource: Resource, kind: Kind, field_map: FieldMap) -> "Generated":
        """Return a resource that is generated from its owner."""
        origin = GeneratedOrigin(f"{kind.kind}/{resource.metadata.name}", owner, field_map)
        return cls(resource, kind, owner.file, owner.line, origin=origin)

    @property
    def where(self) -> str:
        """The owner and its position."""
        return self.origin.owner.where

    @property
    def secrets(self) -> frozenset[str]:
        """The owner's secrets in clear text, which messages mask."""
        return self.origin.owner.secrets

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem at the owner's field."""
        return self.origin.problem(path, reason, severity, rule)

    def written(self, path: str) -> str:
        """Return the field of the owner's manifest."""
        return self.origin.written(path)


def origin_of(source: LoadedResource) -> ProblemSource:
    """Return where to report problems of a resource: at the resource, or at the origin of a generated one."""
    return source.origin if isinstance(source, Generated) else source
