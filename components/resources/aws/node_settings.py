"""Settings of the models' nodes, shared by programs and stacks, and their conversion for planning."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel

from ...clouds.aws.names import MOST_NODES
from ...clouds.aws.nodes.launch import LEAST_IOPS, LEAST_THROUGHPUT, MOST_IOPS, Boot
from ...clouds.aws.nodes.owned import FixedProperties, OwnedGroup
from ...clouds.aws.nodes.plan import NodeEnvironment
from ...clouds.aws.nodes.pool_rules import PoolRules
from ...clouds.aws.nodes.settings_location import SettingsLocation
from ...clouds.aws.words import NodeImage, Provisioner
from ...contract import clock
from ...fleet.nodes.policy import Capacity, NodePolicy, Reservation, TypePolicy
from ...plan.section import Flag, KubernetesVersion, Moment, Section
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


class OwnedSizeSettings(Section):
    """Sizes of an owned node group at its adoption."""

    min: int = Field(ge=0)
    """Minimum size."""
    max: int = Field(ge=1)
    """Maximum size."""
    desired: int = Field(ge=0)
    """Desired size."""


class OwnedFixedSettings(Section):
    """Properties of an owned node group that EKS cannot change in place; an edit is an error."""

    subnets: list[str] = Field(min_length=1)
    """IDs of its subnets."""
    node_role_arn: str
    """ARN of the IAM role of its nodes."""
    capacity_type: Literal["ON_DEMAND", "SPOT"]
    """Purchase option: ON_DEMAND, also in a capacity reservation, or SPOT."""
    instance_types: list[str] = Field(default_factory=list)
    """Its instance types. Default: that of its launch template."""
    ami_type: str = ""
    """Its image type in the EKS API, such as AL2023_x86_64_NVIDIA. Default: none."""
    disk_gib: int | None = Field(default=None, ge=1)
    """Size of its disk in GiB. Default: that of its launch template."""
    launch_template_id: str = ""
    """ID of its launch template. Default: none."""
    ssh_key: str = ""
    """EC2 key pair with which its nodes admit SSH. Default: none."""
    ssh_security_groups: list[str] = Field(default_factory=list)
    """IDs of the security groups that may use SSH. Default: none."""
    size: OwnedSizeSettings
    """Its sizes at the adoption. Autoscalers change them afterwards, and no update does."""
    checksum: str = Field(pattern=r"^([0-9a-f]{4}-){9}[0-9a-f]{4}$")
    """Digests of the other keys at the adoption, as workbench adopt wrote them."""

    def properties(self) -> FixedProperties:
        return FixedProperties(
            ami_type=self.ami_type,
            capacity_type=self.capacity_type,
            disk_gib=self.disk_gib,
            instance_types=tuple(self.instance_types),
            launch_template_id=self.launch_template_id,
            node_role_arn=self.node_role_arn,
            ssh_key=self.ssh_key,
            ssh_security_groups=tuple(sorted(self.ssh_security_groups)),
            subnets=tuple(sorted(self.subnets)),
            size=(self.size.min, self.size.max, self.size.desired),
        )


class OwnedUpdateSettings(Section):
    """How EKS updates an owned node group."""

    max_unavailable: int | None = Field(default=None, ge=1, le=100)
    """Number of nodes that are updated at once."""
    max_unavailable_percentage: int | None = Field(default=None, ge=1, le=100)
    """Percentage of nodes that are updated at once, instead of maxUnavailable."""
    update_strategy: Literal["DEFAULT", "MINIMAL"] | None = None
    """DEFAULT, which starts new nodes before it stops old ones, or MINIMAL. Default: that of the group."""

    @model_validator(mode="after")
    def _one_limit(self) -> "OwnedUpdateSettings":
        if self.max_unavailable is not None and self.max_unavailable_percentage is not None:
            raise ValueError("must have maxUnavailable or maxUnavailablePercentage, not both")
        return self


class OwnedGroupSettings(Section):
    """A managed node group that existed before the stack, and that the stack owns; workbench adopt writes it."""

    name: str = Field(pattern=GROUP_NAME, max_length=63)
    """Name of the node group."""
    labels: dict[str, str] = Field(default_factory=dict)
    """All labels of the group. A label that is removed here is removed from the nodes."""
    taints: list[TaintSettings] = Field(default_factory=list)
    """All taints of the group, those of accelerators included."""
    tags: dict[str, str] = Field(default_factory=dict)
    """All tags of the group, except those that AWS sets; tags of the stack are added."""
    launch_template_version: str = ""
    """Version of its launch template; another one replaces its nodes, one after another. Required with
    fixed.launchTemplateId."""
    update: OwnedUpdateSettings = Field(default_factory=OwnedUpdateSettings)
    """How EKS updates the group. Default: as it is."""
    version: KubernetesVersion | None = None
    """Kubernetes version of the group; a newer one replaces its nodes, one after another. Default: as it is."""
    release_version: str = ""
    """Release of its image, such as 1.35.6-20260714. Default: as it is."""
    retain: Flag = True
    """Whether the group stays when it leaves the stack, or the stack is destroyed."""
    fixed: OwnedFixedSettings
    """What EKS cannot change in place."""

    @model_validator(mode="after")
    def _template_with_version(self) -> "OwnedGroupSettings":
        if bool(self.launch_template_version) != bool(self.fixed.launch_template_id):
            raise ValueError("must have both launchTemplateVersion and fixed.launchTemplateId, or neither")
        if self.fixed.ami_type == "CUSTOM" and (self.version or self.release_version):
            raise ValueError(
                "has the image type CUSTOM, whose image and version the launch template sets; remove version and "
                "releaseVersion"
            )
        return self

    def group(self) -> OwnedGroup:
        return OwnedGroup(
            name=self.name,
            fixed=self.fixed.properties(),
            checksum=self.fixed.checksum,
            labels=self.labels,
            taints=tuple(taint.wire() for taint in self.taints),
            tags=self.tags,
            launch_template_version=self.launch_template_version,
            update=self.update.model_dump(exclude_none=True),
            version=self.version or "",
            release=self.release_version,
            retain=self.retain,
        )


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
    owned_groups: list[OwnedGroupSettings] = Field(default_factory=list)
    """Existing managed node groups with these nodes that the stack imports and owns, with their names; it creates no
    other nodes of this type. Default: none."""
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
    generation: str = Field(default="", pattern=r"^([a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?)?$")
    """Name of the generation of these nodes, such as b. The pods select it: another name creates another node group,
    to which they move by a rolling update before the old group is deleted. Default: none."""

    def policy(self) -> TypePolicy:
        return TypePolicy(
            capacity=self.capacity,
            reservation=self.reservation.reservation() if self.reservation else None,
            next_blocks=tuple(block.reservation() for block in self.next_blocks),
            zones=tuple(self.zones),
            existing_groups=(*self.existing_groups, *(group.name for group in self.owned_groups)),
            alternatives=tuple(self.spot_types),
            efa=self.efa,
            placement_group=self.placement_group,
            ami_id=self.ami_id,
            min_nodes=self.min_nodes,
            max_nodes=self.max_nodes,
            labels=self.labels,
            taints=tuple(taint.wire() for taint in self.taints),
            generation=self.generation,
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
        return NodePolicy(
            capacity=Capacity(self.capacity),
            types=types,
            labels=labels,
            prefixes=prefixes,
            further=self.labels,
            taints=taints,
            most_nodes=MOST_NODES,
        )

    @property
    def has_taints(self) -> bool:
        """Whether nodes get taints other than those for accelerators; existing nodes have theirs in any case."""
        return bool(self.taints) or any(
            rule.taints and not (rule.existing_groups or rule.owned_groups) for rule in self.types.values()
        )

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
            owned={
                name: tuple(group.group() for group in rule.owned_groups)
                for name, rule in self.types.items()
                if rule.owned_groups
            },
        )

    def _pools(self) -> PoolRules:
        explicit = tuple(to_camel(key) for key in ("disruption", "general_pool") if key in self.model_fields_set)
        general = self.general_pool.pool() if self.general_pool else None
        return PoolRules(self.disruption.disruption(), general, explicit)
