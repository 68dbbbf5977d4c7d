"""A ModelServing while it is rendered."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.load import LoadedResource
from ....contract.releases import Span
from ....fleet.options import Options
from ....fleet.origins import Origin
from ...leaderworkerset.rules import share
from ..generated import Generated, origin_of
from ..names import VOLCANO
from ..types import ModelServing
from ..types.model_serving import ModelServingSpec, Role, RollingUpdateConfiguration, ServingGroup

GROUP = "spec.template"
"""The field of the serving group's template."""


@dataclass(frozen=True, slots=True)
class ServingContext:
    """A ModelServing, the options to render it with, and where its problems go."""

    source: LoadedResource
    resource: ModelServing
    namespace: str
    options: Options
    findings: Findings

    def origin(self, path: str = "") -> Origin:
        """Return the origin of a field; of the whole resource without a path."""
        return Origin(origin_of(self.source), path)

    @property
    def name(self) -> str:
        return self.resource.metadata.name

    @property
    def spec(self) -> ModelServingSpec:
        return self.resource.spec

    @property
    def scheduler(self) -> str:
        """The scheduler that Kthena's controllers give the pods; empty for that of Kubernetes.

        Volcano is the default. The API server keeps an empty name, which the controllers hand on.
        """
        return VOLCANO if self.spec.scheduler_name is None else self.spec.scheduler_name

    @property
    def starts_groups(self) -> bool:
        """Whether its release makes each group with the scheduler volcano a gang, with or without gangPolicy.

        Since v0.3.0 (isSchedulingEnabled in podgroupmanager/manager.go). What a ModelBooster generates has a
        gangPolicy where it is a gang.
        """
        kind = self.source.kind
        since = Span(since="v0.3.0")
        return not isinstance(self.source, Generated) and kind.has_rule(since) and self.scheduler == VOLCANO

    @property
    def model(self) -> str:
        """The name of the model in metrics and dashboards: that of the resource that the user wrote."""
        return self.source.origin.owner.name if isinstance(self.source, Generated) else self.name

    @property
    def replicas(self) -> int:
        """The number of serving groups before any autoscaling."""
        return self.spec.replicas

    @property
    def group(self) -> ServingGroup:
        return self.spec.template

    @property
    def roles(self) -> Iterator[tuple[str, Role]]:
        """The roles, each with its field."""
        return roles_with_paths(self.group)

    @property
    def rolling_update(self) -> RollingUpdateConfiguration:
        """The configuration of rolling updates, with its defaults where the resource has none."""
        strategy = self.spec.rollout_strategy
        return (strategy and strategy.rolling_update_configuration) or RollingUpdateConfiguration()

    @property
    def partition(self) -> int:
        """The ordinal from which on groups are updated; a percentage is rounded up."""
        partition = self.rolling_update.partition
        return 0 if partition is None else share(partition, self.replicas, up=True)

    @property
    def rolls_roles(self) -> bool:
        """Whether role instances are updated, rather than whole groups."""
        return self.spec.rollout_strategy is not None and self.spec.rollout_strategy.type == "RoleRollingUpdate"


def roles_with_paths(group: ServingGroup) -> Iterator[tuple[str, Role]]:
    """Yield the roles of a serving group, each with its field."""
    return ((f"{GROUP}.roles[{index}]", role) for index, role in enumerate(group.roles))
