"""The content of a report: one revision, and its changes to another one."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from ..costs.bill import ModelCost
from .snapshot import FindingState, ServedModel, Snapshot
from .speeds import SpeedChange
from .traffic import TrafficComparison, TrafficLimit


class ChangeKind(StrEnum):
    """Operation on a resource."""

    CREATED = "created"
    UPDATED = "updated"
    REPLACED = "replaced"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that differs; None if it is not set.

    Attributes:
        replaces: Whether the change requires replacement.
    """

    path: str
    before: str | None
    after: str | None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """A change of one resource.

    Attributes:
        title: Name for readers.
        type: Its type token.
        fields: Differences; only for updates and replacements.
        urn: URN after the change; for deletions, before it.
        former: URN before the change, if it differs.
        note: Effect of resource options, such as that Pulumi refuses to replace it.
    """

    kind: ChangeKind
    title: str
    type: str
    fields: tuple[FieldDifference, ...] = ()
    urn: str = ""
    former: str = ""
    note: str = ""


class Interruption(StrEnum):
    """Effect of a change on running replicas."""

    NONE = "none"
    """Nothing restarts."""
    SCALE = "scales"
    SURGE = "rolls with surge"
    """New replicas start first: no capacity is missing if there are enough nodes."""
    GAP = "rolls with a gap"
    """Old replicas terminate first."""
    NEW = "new"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Blast:
    """Effect of a change on one workload.

    Attributes:
        title: ``Kind namespace/name`` of the workload.
        model: ``Kind/name`` of the resource that serves the model.
        replicas: Replicas that restart, or are added or removed.
        short: Maximum number of replicas that are missing at once.
        seconds: How long replicas are missing; None if unknown.
        extra_accelerators: Additional accelerators: those needed during the change, and those of added replicas.
        because: The fields that cause it.
        estimate: Breakdown of the duration, for readers.
        waves: Number of successive steps in which replicas start.
        warning: Risk during the change, such as pods that stay Pending.
        extra_at_most: Accelerators that an autoscaler may add beyond its former maximum.
        pending: Maximum number of new replicas that stay Pending until there is room.
        pending_at_most: Replicas without room if an autoscaler scales to its maximum.
        extra_nodes: Additional nodes while the update runs.
        extra_node_seconds: How long they are needed in total; None if unknown.
        extra_usd: Their cost in US dollars; None if unknown.
        advice: The way without missing replicas, with what it needs; empty if none is known.
    """

    title: str
    model: str
    disruption: Interruption
    replicas: int
    short: int = 0
    seconds: int | None = None
    extra_accelerators: int = 0
    because: tuple[str, ...] = ()
    estimate: str = ""
    waves: int = 1
    warning: str = ""
    pending: int = 0
    pending_at_most: int = 0
    extra_at_most: int = 0
    extra_nodes: int = 0
    extra_node_seconds: int | None = None
    extra_usd: Decimal | None = None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A resource that serves a model, before and after the change; None if it does not exist.

    Kind and name differ if the model was moved.

    Attributes:
        cost_before: Cost before; None if unknown.
        cost_after: Cost after; None if unknown.
        speeds: Workloads whose GPU type changes, with the speeds before and after.
        unplanned: Whether an error keeps it from being planned, so that it has no figures after the change.
        was_unplanned: The same before the change.
    """

    before: ServedModel | None
    after: ServedModel | None
    cost_before: ModelCost | None = None
    cost_after: ModelCost | None = None
    speeds: tuple[SpeedChange, ...] = ()
    unplanned: bool = False
    was_unplanned: bool = False


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """An endpoint that is added, removed or moved."""

    name: str
    before: str | None
    after: str | None


class UpgradeStage(StrEnum):
    """Step of an operator's upgrade, in order."""

    DEFINITIONS = "definitions"
    CONTROLLERS = "controllers"
    CUSTOM_RESOURCES = "custom resources"


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """One step of an operator's upgrade.

    Attributes:
        changes: Its changes of resources, in words.
        note: Who makes them, if no resource of this stack changes.
    """

    stage: UpgradeStage
    changes: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class OperatorUpgrade:
    """The upgrade of an operator to another release of its API.

    Attributes:
        project: Name of the project.
        before: The release before.
        after: The release after.
        steps: The steps in the order in which they are made.
        dropped: Fields of stored objects that the API server drops from the first step on, until the last step
            converts the objects: each object with its fields.
    """

    project: str
    before: str
    after: str
    steps: tuple[UpgradeStep, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds above which a review fails.

    Attributes:
        fail_on: ``error`` or ``warning``.
        max_monthly_usd: Monthly cost with all autoscalers at their maximum; None for no limit.
        max_gpus: Accelerators with all autoscalers at their maximum; None for no limit.
        traffic: Limits of the figures under a trace of requests.
        strict: Whether a model must be checked.
    """

    fail_on: str = "error"
    max_monthly_usd: Decimal | None = None
    max_gpus: int | None = None
    traffic: tuple[TrafficLimit, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """A review of one revision.

    Attributes:
        head: The proposed revision.
        base: The revision it is compared with; None without a comparison.
        changes: Changes of resources, ordered by title; empty without a base.
        blasts: Their effect on replicas.
        models: Resources that serve models, of both revisions.
        endpoints: Changes of endpoints.
        upgrades: Operators that are upgraded.
        new: Findings that are not in the base.
        fixed: Findings that are only in the base.
        notes: Notes on the comparison, such as which code planned the base.
        failures: Why the review fails: findings and thresholds, in words; empty if it passes.
        traffic: Latencies, lost requests and costs under a trace of requests; None without a trace.
    """

    head: Snapshot
    base: Snapshot | None = None
    changes: tuple[ResourceChange, ...] = ()
    blasts: tuple[Blast, ...] = ()
    models: tuple[ModelChange, ...] = ()
    endpoints: tuple[EndpointChange, ...] = ()
    new: tuple[FindingState, ...] = ()
    fixed: tuple[FindingState, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    upgrades: tuple[OperatorUpgrade, ...] = ()
    traffic: TrafficComparison | None = None

    @property
    def is_compared(self) -> bool:
        """Whether the changes are known: not if the program fails for one of the revisions."""
        return self.base is not None and not (self.base.is_refused or self.head.is_refused)

    @property
    def changes_nothing(self) -> bool:
        """Whether the revisions do not differ."""
        changes = (self.changes, self.blasts, self.endpoints, self.new, self.fixed)
        return self.is_compared and not any(changes)
