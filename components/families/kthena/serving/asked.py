"""What a ModelServing asks for, before it is anything else."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.load import LoadedResource
from ....fleet.options import Options
from ....fleet.origins import Origin
from ..made import Made, behind
from ..types import ModelServing
from ..types.model_serving import Role, ServingGroup

GROUP = "spec.template"
"""Field of what all serving groups have in common."""


@dataclass(frozen=True, slots=True)
class AskedServing:
    """A ModelServing, and how to render it."""

    source: LoadedResource
    serving: ModelServing
    namespace: str
    options: Options
    findings: Findings

    def origin(self, path: str = "") -> Origin:
        """Return one of its fields; itself for no path."""
        return Origin(behind(self.source), path)

    @property
    def name(self) -> str:
        """Its name."""
        return self.serving.metadata.name

    @property
    def model(self) -> str:
        """What its pods serve, as series and panels name it: the resource that somebody wrote."""
        return self.source.behind.writer.name if isinstance(self.source, Made) else self.name

    @property
    def replicas(self) -> int:
        """Serving groups at rest."""
        return self.serving.spec.replicas

    @property
    def group(self) -> ServingGroup:
        """The roles of a serving group."""
        return self.serving.spec.template

    @property
    def roles(self) -> Iterator[tuple[str, Role]]:
        """Each role, with the field that it is in."""
        return placed_roles(self.group)


def placed_roles(group: ServingGroup) -> Iterator[tuple[str, Role]]:
    """Yield each role of a serving group, with the field that it is in."""
    return ((f"{GROUP}.roles[{index}]", role) for index, role in enumerate(group.roles))
