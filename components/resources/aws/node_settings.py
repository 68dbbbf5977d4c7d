"""Settings of the models' nodes, shared by programs and stacks, and their conversion for planning."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from ...clouds.aws.names import MOST_NODES
from ...clouds.aws.nodes.launch import LEAST_IOPS, LEAST_THROUGHPUT, MOST_IOPS, Boot
from ...clouds.aws.nodes.plan import NodeEnvironment
from ...clouds.aws.nodes.pool_rules import PoolRules
from ...clouds.aws.nodes.settings_location import SettingsLocation
from ...clouds.aws.words import NodeImage, Provisioner
from ...contract import clock
from ...fleet.nodes.policy import Capacity, NodePolicy, Reservation, TypePolicy
from ...plan.section import Flag, Moment, Section
from .parts.pool_settings import DisruptionSettings, GeneralPoolSettings

Zone = Annotated[str, Field(pattern=r"^[a-z]{2,4}(-[a-z]+)+-\d+[a-z]$")]
KMS_KEY = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/.+$"
GROUP_NAME = r"^[0-9A-Za-z][\w.-]*$"
"""Name of a node group (EKS API, CreateNodegroup) or of a Karpenter pool (a DNS subdomain)."""
OPERATED_TAINTS = (
    "is set, but pods that an operator creates do not tolerate further taints; set realization: native, or remove it"
)
_Count = Annotated[int, Field(ge=0, le=450)]


class ReservationSettings(Section):
    """Reserved capacity: an On-Demand Capacity Reservation or a Capacity Block."""

    id: str = Field(pattern=r"^(cr-[0-9a-z]+|arn:.*:group/.+)$")
    """ID of the reservation (cr-...), or ARN of a resource group of On-Demand Capacity Reservations."""
    zone: Zone
    """Availability zone of the reservation."""
    count: int = Field(ge=1, le=450)
    """Number of reserved instances."""
    starts: Moment | None = None
    """Start of a Capacity Block, with a time zone, such as 2027-01-11T11:30:00Z."""
    ends: Moment | None = None
    """End of a Capacity Block, with a time zone."""

    def reservation(self) -> Reservation:
        return Reservation(self.id, self.zone, self.count, self.starts, self.ends)


class TaintSettings(Section):
    """A taint of nodes, tolerated by the models' pods only."""

    key: str
    """Key of the taint."""
    value: str = ""
    """Value of the taint. Default: none."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """Effect on pods that do not tolerate the taint: NoSchedule, PreferNoSchedule or NoExecute."""

    def wire(self) -> dict[str, str]:
        return {"key": self.key, "value": self.value, "effect": self.effect}


class TypeSettings(Section):
    """Settings of nodes of one instance type."""

    capacity: Capacity | None = None
    """Purchase option of these nodes: on-demand, spot, odcr (an On-Demand Capacity Reservation) or capacity-block.
    Default: gpuNodes.capacity."""
    reservation: ReservationSettings | None = None
    """Reservation to launch the nodes in. Required with odcr and capacity-block."""
    next_blocks: list[ReservationSettings] = Field(default_factory=list)
    """Capacity Blocks after the one in reservation; each gets its own node group."""
    zones: list[Zone] = Field(default_factory=list)
    """Availability zones of these nodes. Default: gpuNodes.zones."""
    existing_groups: list[Annotated[str, Field(pattern=GROUP_NAME, max_length=253)]] = Field(default_factory=list)
    """Names of existing node groups or Karpenter pools with these nodes, which the stack uses without owning them: it
    creates no nodes of this type. The other settings of the type describe them. Default: none; the stack creates the
    nodes."""
    spot_types: list[str] = Field(default_factory=list)
    """Additional instance types that the pods may run on, to draw from more spot capacity pools."""
    efa: bool = False
    """Whether nodes get EFA interfaces even if no manifest requests them; pods of multi-node groups then request
    them."""
    placement_group: bool = False
    """Whether to place the nodes close together, in a cluster placement group."""
    ami_id: str | None = Field(default=None, pattern=r"^ami-[0-9a-f]+$")
    """ID of a custom AMI, for instance types that no AMI of AWS supports."""
    min_nodes: _Count | None = None
    """Minimum number of nodes, enforced by the node autoscaler. Default: 0, or 1 if scaleToZero is false."""
    max_nodes: Annotated[int, Field(ge=1, le=450)] | None = None
    """Maximum number of nodes, enforced by the node autoscaler. Default: what the models may need."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of these nodes, in addition to those of all nodes."""
    taints: list[TaintSettings] = Field(default_factory=list)
    """Taints of these nodes, in addition to those of all nodes."""

    def policy(self) -> TypePolicy:
        return TypePolicy(
            capacity=self.capacity,
            reservation=self.reservation.reservation() if self.reservation else None,
            next_blocks=tuple(block.reservation() for block in self.next_blocks),
            zones=tuple(self.zones),
            existing_groups=tuple(self.existing_groups),
            alternatives=tuple(self.spot_types),
            efa=self.efa,
            placement_group=self.placement_group,
            ami_id=self.ami_id,
            min_nodes=self.min_nodes,
            max_nodes=self.max_nodes,
            labels=self.labels,
            taints=tuple(taint.wire() for taint in self.taints),
        )


class NodeSettings(Section):
    """Nodes of the models."""

    provisioner: Provisioner = Provisioner.MANAGED
    """What launches the nodes: managed (EKS managed node groups) or karpenter."""
    capacity: Literal["on-demand", "spot"] = "on-demand"
    """Purchase option of nodes whose type sets none: on-demand or spot."""
    image: NodeImage = NodeImage.AL2023
    """AMI family of the nodes: al2023 or bottlerocket."""
    ami_release: str = ""
    """AMI release, such as 1.35.6-20260714, or latest. Default: the release that this package pins."""
    force_update: bool = False
    """Whether updates of node groups proceed when a disruption budget blocks the eviction of pods."""
    disk_gib: int = Field(default=200, ge=20, le=16384)
    """Size in GiB of the disk for images and weights. Nodes with local NVMe store these there; their disk is limited
    to 80 GiB."""
    disk_throughput: int | None = Field(default=None, ge=LEAST_THROUGHPUT, le=2000)
    """Throughput of each disk in MiB/s, 125 to 1000, with Karpenter to 2000. Default: 600 for disks with images,
    otherwise 125."""
    disk_iops: int | None = Field(default=None, ge=LEAST_IOPS, le=MOST_IOPS)
    """IOPS of each disk, 3000 to 80000. Default: the minimum for the throughput."""
    disk_kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """ARN of the KMS key that encrypts the disks; the service that launches the nodes must be allowed to use it.
    Default: the account's default key for EBS."""
    fast_image_pull: bool | None = None
    """Whether to pull and unpack images in parallel. Default: true on AL2023 nodes with at least 8 vCPUs and a fast
    disk."""
    prefix_delegation: bool | None = None
    """Whether the cluster's VPC CNI plugin assigns prefixes (ENABLE_PREFIX_DELEGATION). Without prefixes, the
    addresses of a node's network interfaces limit its pods. Default: true; false for an existing cluster."""
    user_data: str = ""
    """Additional user data: a NodeConfig, or a script that begins with #!; for bottlerocket, TOML."""
    scale_to_zero: Flag = True
    """Whether node groups scale to zero when no pod needs them."""
    zones: list[Zone] = Field(default_factory=list)
    """Availability zones of nodes whose type sets none. Default: the zones of the control plane."""
    node_repair: bool = False
    """Whether EKS or Karpenter replaces unhealthy nodes; in Karpenter this is an alpha feature."""
    imds_hop_limit: int = Field(default=1, ge=1, le=64)
    """Hop limit of the instance metadata service: 1 keeps pods from using the node's role, 2 allows it."""
    quotas: dict[str, int] = Field(default_factory=dict)
    """vCPU quotas of the account, by quota code such as L-DB2E81BA. Exceeding one is a warning; quotas that are not
    listed are not checked."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of all nodes except those of the general pool."""
    taints: list[TaintSettings] = Field(default_factory=list)
    """Taints of all nodes except those of the general pool; the models' pods tolerate them."""
    types: dict[str, TypeSettings] = Field(default_factory=dict)
    """Settings by instance type, such as g5.2xlarge."""
    disruption: DisruptionSettings = Field(default_factory=DisruptionSettings)
    """When Karpenter disrupts nodes. Default: when they have been empty for ten minutes, one at a time."""
    general_pool: GeneralPoolSettings | None = None
    """Karpenter node pool for pods that require no instance type. Default: none."""

    def policy(self, labels: Mapping[str, str]) -> NodePolicy:
        """Return the node policy for planning.

        Args:
            labels: The node selector of every pod in the environment; every node must have these labels.
        """
        types = {name: rule.policy() for name, rule in self.types.items()}
        prefixes = self.prefix_delegation is not False
        taints = tuple(taint.wire() for taint in self.taints)
        return NodePolicy(Capacity(self.capacity), types, labels, prefixes, self.labels, taints, MOST_NODES)

    @property
    def has_taints(self) -> bool:
        """Whether nodes get taints other than those for accelerators; existing nodes have theirs in any case."""
        return bool(self.taints) or any(rule.taints and not rule.existing_groups for rule in self.types.values())

    def boot(self) -> Boot:
        return Boot(
            disk_gib=self.disk_gib,
            throughput=self.disk_throughput,
            iops=self.disk_iops,
            kms_key=self.disk_kms_key_arn or "",
            fast_image_pull=self.fast_image_pull,
            user_data=self.user_data,
        )

    def environment(
        self,
        region: str,
        zones: Sequence[str],
        version: str,
        labels: Mapping[str, str],
        place: SettingsLocation,
        usual: Sequence[str] = (),
    ) -> NodeEnvironment:
        """Return the environment in which nodes are planned, as of now.

        Args:
            region: AWS region.
            zones: Availability zones with a private subnet.
            version: Kubernetes version of the cluster.
            labels: Labels of every node.
            place: Location of these settings, for messages.
            usual: Default zones of nodes; empty for all of `zones`.
        """
        return NodeEnvironment(
            region=region,
            zones=tuple(self.zones or usual or zones),
            selectable=tuple(self.zones or zones),
            subnets=tuple(zones),
            version=version,
            now=clock.now(),
            nodes=self.policy(labels),
            provisioner=self.provisioner,
            image=self.image,
            boot=self.boot(),
            scale_to_zero=self.scale_to_zero,
            quotas=self.quotas,
            ami_release=self.ami_release,
            force_update=self.force_update,
            node_repair=self.node_repair,
            pools=self._pools(),
            place=place,
        )

    def _pools(self) -> PoolRules:
        explicit = tuple(to_camel(key) for key in ("disruption", "general_pool") if key in self.model_fields_set)
        general = self.general_pool.pool() if self.general_pool else None
        return PoolRules(self.disruption.disruption(), general, explicit)
