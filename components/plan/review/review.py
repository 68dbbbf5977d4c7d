"""What a report says: one revision, and what it changes against another one."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from ..costs.bill import ModelCost
from .snapshot import FindingState, ServedModel, Snapshot
from .speeds import SpeedChange


class ChangeKind(StrEnum):
    """What becomes of a resource."""

    CREATED = "created"
    UPDATED = "updated"
    REPLACED = "replaced"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that differs; None where it is not there.

    Attributes:
        replaces: Whether only a new resource can have the other value.
    """

    path: str
    before: str | None
    after: str | None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """What becomes of one resource.

    Attributes:
        title: What a reader knows it by.
        type: Its type token.
        fields: What differs; of an update or a replacement alone.
        urn: What Pulumi knows it by, afterwards if there is an afterwards.
        former: What it knew it by before, where that is another one.
        note: What the program's options mean for it, such as that Pulumi refuses to replace it.
    """

    kind: ChangeKind
    title: str
    type: str
    fields: tuple[FieldDifference, ...] = ()
    urn: str = ""
    former: str = ""
    note: str = ""


class Interruption(StrEnum):
    """What a change does to running replicas."""

    NONE = "none"
    """Nothing restarts."""
    SCALE = "scales"
    SURGE = "rolls with surge"
    """New replicas come first: no capacity is missing as long as nodes are there."""
    GAP = "rolls with a gap"
    """Old replicas go first."""
    NEW = "new"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Blast:
    """What a change does to one workload.

    Attributes:
        title: ``Kind namespace/name`` of the workload.
        model: ``Kind/name`` of the resource that serves.
        replicas: Replicas that restart, come or go.
        short: Replicas that are missing at once, at most.
        seconds: For how long some are missing; None where nothing tells it.
        extra_accelerators: Additional accelerators: those needed during the change, and those of added replicas.
        because: The fields that cause it.
        estimate: What the seconds are made of, for the reader.
        waves: How many times replicas start one after the other.
        warning: What may go wrong while it lasts, such as pods that stay Pending.
        extra_at_most: Accelerators that an autoscaler may add beyond its former maximum.
        pending: Maximum number of new replicas that stay Pending until there is room.
        pending_at_most: Replicas without room if an autoscaler scales to its maximum.
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


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A resource that serves, before and after; None where it is not there.

    Both have another kind or name where a model was moved.

    Attributes:
        cost_before: What it cost; None where there is no bill or it is not in it.
        cost_after: What it will cost.
        speeds: Workloads whose GPU type changes, with the speeds before and after.
    """

    before: ServedModel | None
    after: ServedModel | None
    cost_before: ModelCost | None = None
    cost_after: ModelCost | None = None
    speeds: tuple[SpeedChange, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """An endpoint that comes, goes or answers elsewhere."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What ends a review with an exit code.

    Attributes:
        fail_on: ``error`` or ``warning``.
        max_monthly_usd: Of the environment at its maximum; None without.
        max_gpus: Accelerators at their maximum; None without.
    """

    fail_on: str = "error"
    max_monthly_usd: Decimal | None = None
    max_gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer reads.

    Attributes:
        head: What is proposed.
        base: What is there; None where nothing is compared.
        changes: What becomes of resources, in the order of titles; empty without a base.
        blasts: What that does to replicas.
        models: Every resource that serves, of either revision.
        endpoints: What changes of them.
        new: Findings that the base has not.
        fixed: Findings that only the base has.
        notes: What a reader must know of the comparison, such as which code made the base.
        failures: Why the review ends with an exit code: findings and thresholds, in words; empty where all is well.
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

    @property
    def is_compared(self) -> bool:
        """Whether what changes is known: not where one of the two revisions is refused."""
        return self.base is not None and not (self.base.is_refused or self.head.is_refused)

    @property
    def changes_nothing(self) -> bool:
        """Whether the two revisions come to the same."""
        found = (self.changes, self.blasts, self.endpoints, self.new, self.fixed)
        return self.is_compared and not any(found)
