"""What a report says: one revision, and what it changes against another one."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from .snapshot import FindingState, ServedModel, Snapshot


class ChangeKind(StrEnum):
    """What becomes of a resource."""

    CREATED = "created"
    UPDATED = "updated"
    REPLACED = "replaced"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that differs; None where it is not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """What becomes of one resource.

    Attributes:
        title: What a reader knows it by.
        type: Its type token.
        fields: What differs; of an update or a replacement alone.
    """

    kind: ChangeKind
    title: str
    type: str
    fields: tuple[FieldDifference, ...] = ()


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
        extra_accelerators: Accelerators that are needed on top while it lasts.
        because: The fields that cause it.
        estimate: What the seconds are made of, for the reader.
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


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A resource that serves, before and after; None where it is not there."""

    before: ServedModel | None
    after: ServedModel | None


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
    failures: tuple[str, ...] = field(default_factory=tuple)

    @property
    def changes_nothing(self) -> bool:
        """Whether the two revisions come to the same."""
        return self.base is not None and not (self.changes or self.endpoints or self.new or self.fixed)
