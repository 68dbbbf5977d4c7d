"""What a Playground or Service asks for, before it is a Deployment or a LeaderWorkerSet."""

from dataclasses import dataclass, field

from ....engines.command_line import CommandLine
from ....fleet.demand import UNLIMITED
from ....fleet.objects import Object
from ..models import Claim
from ..parallel import Parallelism
from ..types import HPATrigger


@dataclass(frozen=True, slots=True)
class Scaling:
    """Replica bounds and what moves between them.

    Attributes:
        recommended: Whether the trigger is the configuration's, and not written in the Playground.
    """

    minimum: int
    maximum: int | None
    trigger: HPATrigger
    recommended: bool

    @property
    def most(self) -> int:
        """The upper bound; llmaz has one where none is given."""
        return UNLIMITED if self.maximum is None else self.maximum


@dataclass(slots=True)
class Asked:
    """What a Playground or Service asks for, before it is a Deployment or a LeaderWorkerSet.

    Attributes:
        template: ``leaderWorkerTemplate`` in wire form; rendering changes it in place.
        replicas: Replicas at rest.
        annotations: What the controller of LeaderWorkerSets is told, such as where groups may be.
        line: What a Playground's container is started with; None where the containers are written by hand.
    """

    name: str
    namespace: str
    claim: Claim
    replicas: int
    template: Object
    rollout: Object
    annotations: dict[str, str] = field(default_factory=dict)
    parallelism: Parallelism = field(default_factory=Parallelism)
    line: CommandLine | None = None
    scaling: Scaling | None = None

    @property
    def by_hand(self) -> bool:
        """Whether the pods are written by hand, as those of a Service are."""
        return self.line is None

    @property
    def size(self) -> int:
        """Pods of one replica."""
        size: int = self.template.get("size", 1)
        return size

    @property
    def front_part(self) -> str:
        """Field of the template of the pods that take requests."""
        return "leaderTemplate" if self.template.get("leaderTemplate") else "workerTemplate"

    @property
    def front(self) -> Object:
        """The template of the pods that take requests."""
        template: Object = self.template[self.front_part]
        return template

    @property
    def templates(self) -> dict[str, Object]:
        """Every pod template, leader first."""
        parts = ("leaderTemplate", "workerTemplate")
        return {part: self.template[part] for part in parts if self.template.get(part)}
