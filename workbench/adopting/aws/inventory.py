"""What exists on AWS around a cluster, whatever it was read from."""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Unexpressed(NamedTuple):
    """Something that the settings do not express.

    Attributes:
        subject: What was found, such as ``node group gpu``.
        reason: Why it is not expressed, or only in part.
    """

    subject: str
    reason: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """An EKS cluster.

    Attributes:
        region: Empty if unknown.
        version: Kubernetes version; empty if unknown.
        vpc_id: Empty if unknown.
        subnets: IDs of the subnets of the control plane.
        account: ID of its account; empty if unknown.
        ip_family: ``ipv4`` or ``ipv6``.
        oidc_provider: ARN of its IAM OIDC provider; empty if there is none, or it is unknown.
        addons: Names of its EKS add-ons; None if unknown.
        endpoint: URL of its API server; empty if unknown.
        authority: CA certificate of the API server, PEM in base64; empty if unknown.
        security_group: ID of the security group that EKS created; empty if unknown.
    """

    name: str
    region: str
    version: str
    vpc_id: str
    subnets: tuple[str, ...] = ()
    account: str = ""
    ip_family: str = "ipv4"
    oidc_provider: str = ""
    addons: frozenset[str] | None = None
    endpoint: str = ""
    authority: str = ""
    security_group: str = ""


class Subnet(NamedTuple):
    """A subnet.

    Attributes:
        public: Whether its routes lead to an internet gateway; None if unknown.
    """

    id: str
    zone: str
    public: bool | None


class Taint(NamedTuple):
    """A taint, in the spelling of Kubernetes."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A managed node group, or other nodes with the reason why settings cannot express them.

    Attributes:
        capacity: ``ON_DEMAND``, ``SPOT`` or ``CAPACITY_BLOCK``.
        minimum: None if unknown.
        maximum: None if unknown.
        ami_type: EKS image type; empty if unknown.
        zones: Availability zones; empty for all zones of the network.
        role: ARN of the nodes' IAM role; empty if unknown.
        reservation: ID of the reservation that its launch template targets; empty without one.
        efa: Whether its launch template has EFA interfaces.
        reason: Why its nodes cannot be used; empty if they can be.
        notes: What is true of the nodes and has no setting.
    """

    name: str
    title: str = "node group"
    instance_types: tuple[str, ...] = ()
    capacity: str = "ON_DEMAND"
    minimum: int | None = None
    maximum: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    ami_type: str = ""
    zones: tuple[str, ...] = ()
    role: str = ""
    reservation: str = ""
    efa: bool = False
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """Title and name."""
        return f"{self.title} {self.name}"


@dataclass(frozen=True, slots=True)
class FoundReservation:
    """An active or scheduled capacity reservation.

    Attributes:
        block: Whether it is a Capacity Block.
        targeted: Whether only instances that name it use it; otherwise matching on-demand instances do.
    """

    id: str
    instance_type: str
    zone: str
    count: int
    starts: datetime.datetime | None = None
    ends: datetime.datetime | None = None
    block: bool = False
    targeted: bool = True


@dataclass(slots=True)
class ApiAnswers:
    """ApiAnswers of the API, in its spelling.

    Attributes:
        cluster: Of DescribeCluster.
        vpc: Of DescribeVpcs.
        subnets: Of DescribeSubnets, by ID.
        groups: Of DescribeNodegroup, by name.
    """

    cluster: Mapping[str, Any] = field(default_factory=dict)
    vpc: Mapping[str, Any] = field(default_factory=dict)
    subnets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    groups: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inventory:
    """A cluster with its network, nodes and reservations.

    Attributes:
        source: What it was read from, for messages.
        vpc_ipv6: Whether the VPC has an IPv6 range.
        vpc_ranges: IPv4 CIDR ranges of the VPC; empty if unknown.
        findings: What the source does not determine.
        answers: What the API answered about cluster, VPC, subnets and node groups; empty for files.
    """

    source: str
    cluster: FoundCluster
    subnets: tuple[Subnet, ...] = ()
    groups: tuple[FoundGroup, ...] = ()
    reservations: tuple[FoundReservation, ...] = ()
    vpc_ipv6: bool = False
    vpc_ranges: tuple[str, ...] = ()
    findings: tuple[Unexpressed, ...] = ()
    answers: ApiAnswers = field(default_factory=ApiAnswers)

    @property
    def zones(self) -> dict[str, str]:
        """Zone by subnet ID."""
        return {subnet.id: subnet.zone for subnet in self.subnets}


def zones_of(subnets: Iterable[str], zones: Mapping[str, str]) -> tuple[str, ...]:
    """Return the sorted zones of subnets, as far as they are known."""
    return tuple(sorted({zones[subnet] for subnet in subnets if subnet in zones}))


class Routes:
    """Which subnets are public: those whose route table leads to an internet gateway."""

    def __init__(self) -> None:
        self._public: dict[str, bool] = {}
        self._table_of: dict[str, str] = {}
        self._main: dict[str, str] = {}

    def table(self, table: str, *, vpc: str = "", main: bool = False) -> None:
        """Add a route table."""
        self._public.setdefault(table, False)
        if main:
            self._main[vpc] = table

    def route(self, table: str, gateway: str) -> None:
        """Add a route; gateways of other kinds than internet gateways do not matter."""
        self._public[table] = self._public.get(table, False) or gateway.startswith("igw-")

    def associate(self, subnet: str, table: str) -> None:
        """Add the association of a subnet."""
        self._table_of[subnet] = table

    def is_public(self, subnet: str, vpc: str, tags: Mapping[str, str], *, assigns: bool = False) -> bool | None:
        """Return whether a subnet is public; None if nothing tells.

        Args:
            subnet: Its ID.
            vpc: ID of its VPC.
            tags: Its tags, which load balancers read.
            assigns: Whether its instances get public addresses.
        """
        table = self._table_of.get(subnet) or self._main.get(vpc)
        if table in self._public:
            return self._public[table]
        if assigns or "kubernetes.io/role/elb" in tags:
            return True
        return False if "kubernetes.io/role/internal-elb" in tags else None


EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
"""Kubernetes' spelling of the effects of taints in the EKS API."""


def unexpressed(names: Iterable[str], title: str, reason: str) -> Iterator[FoundGroup]:
    """Yield nodes that no setting can express."""
    yield from (FoundGroup(name, title=title, reason=reason) for name in names)


SELF_MANAGED = "is not a managed node group, so that its instance types, labels and taints are not part of EKS's API"
FARGATE = "Fargate has no accelerators"
