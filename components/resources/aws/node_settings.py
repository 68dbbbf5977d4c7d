"""What a program or a stack says about the nodes of models, checked, and what planning makes of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from ...clouds.aws.names import MOST_NODES
from ...clouds.aws.nodes.launch import LEAST_IOPS, LEAST_THROUGHPUT, MOST_IOPS, Boot
from ...clouds.aws.nodes.plan import NodeEnvironment
from ...clouds.aws.nodes.pools.rules import PoolRules
from ...clouds.aws.nodes.settings_location import SettingsLocation
from ...clouds.aws.words import NodeImage, Provisioner
from ...contract import clock
from ...fleet.nodes.policy import Capacity, NodePolicy, Reservation, TypePolicy
from ...plan.section import Flag, Moment, Section
from .parts.pool_settings import DisruptionSettings, GeneralPoolSettings

Zone = Annotated[str, Field(pattern=r"^[a-z]{2,4}(-[a-z]+)+-\d+[a-z]$")]
KMS_KEY = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/.+$"
OPERATED_TAINTS = (
    "is set, but pods that an operator makes do not tolerate further taints; set realization: native, or remove it"
)
_Count = Annotated[int, Field(ge=0, le=450)]


class ReservationSettings(Section):
    """Reserved capacity: an On-Demand Capacity Reservation or a Capacity Block."""

    id: str = Field(pattern=r"^(cr-[0-9a-z]+|arn:.*:group/.+)$")
    """ID (cr-...), or the ARN of a resource group of On-Demand Capacity Reservations."""
    zone: Zone
    """The availability zone that it is in."""
    count: int = Field(ge=1, le=450)
    """How many instances it has."""
    starts: Moment | None = None
    """When a Capacity Block starts, with a time zone, such as 2027-01-11T11:30:00Z."""
    ends: Moment | None = None
    """When a Capacity Block ends, with a time zone."""

    def reservation(self) -> Reservation:
        """Return what planning works with."""
        return Reservation(self.id, self.zone, self.count, self.starts, self.ends)


class TaintSettings(Section):
    """A taint of nodes, which the models' pods tolerate and others do not."""

    key: str
    """Its key."""
    value: str = ""
    """Its value. Default: none."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """What happens to pods that do not tolerate it."""

    def plain(self) -> dict[str, str]:
        """Return it as Kubernetes writes it."""
        return {"key": self.key, "value": self.value, "effect": self.effect}


class TypeSettings(Section):
    """Settings for nodes of one instance type."""

    capacity: Capacity | None = None
    """Purchase option of these nodes. Default: gpuNodes.capacity."""
    reservation: ReservationSettings | None = None
    """The reservation; required with odcr and capacity-block."""
    next_blocks: list[ReservationSettings] = Field(default_factory=list)
    """Capacity Blocks that follow the one in reservation, each with a node group of its own."""
    zones: list[Zone] = Field(default_factory=list)
    """Availability zones of its nodes. Default: those of gpuNodes."""
    spot_types: list[str] = Field(default_factory=list)
    """Additional instance types that the pods may run on, for more pools of spot capacity."""
    efa: bool = False
    """Whether nodes get EFA interfaces even if no manifest requests them; pods of groups that span nodes then do."""
    placement_group: bool = False
    """Whether nodes are placed close together, in a cluster placement group."""
    ami_id: str | None = Field(default=None, pattern=r"^ami-[0-9a-f]+$")
    """An image of your own, for types that AWS has no image for."""
    min_nodes: _Count | None = None
    """Minimum number of nodes, which the autoscaler keeps, instead of 0 (or 1 without scaleToZero)."""
    max_nodes: Annotated[int, Field(ge=1, le=450)] | None = None
    """Maximum number of nodes, which the autoscaler keeps, instead of what the models may need."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of these nodes, beside those of all nodes."""
    taints: list[TaintSettings] = Field(default_factory=list)
    """Taints of these nodes, beside those of all nodes."""

    def policy(self) -> TypePolicy:
        """Return the rule that planning works with."""
        return TypePolicy(
            capacity=self.capacity,
            reservation=self.reservation.reservation() if self.reservation else None,
            next_blocks=tuple(block.reservation() for block in self.next_blocks),
            zones=tuple(self.zones),
            alternatives=tuple(self.spot_types),
            efa=self.efa,
            placement_group=self.placement_group,
            ami_id=self.ami_id,
            min_nodes=self.min_nodes,
            max_nodes=self.max_nodes,
            labels=self.labels,
            taints=tuple(taint.plain() for taint in self.taints),
        )


class NodeSettings(Section):
    """The nodes of the models."""

    provisioner: Provisioner = Provisioner.MANAGED
    """What launches the nodes."""
    capacity: Literal["on-demand", "spot"] = "on-demand"
    """Purchase option of nodes whose type has no setting of its own."""
    image: NodeImage = NodeImage.AL2023
    """Operating system image of the nodes."""
    ami_release: str = ""
    """Release of the image, such as 1.35.6-20260714, or latest. Default: the one that this package pins."""
    force_update: bool = False
    """Whether updates of node groups replace nodes whose pods a disruption budget keeps."""
    disk_gib: int = Field(default=200, ge=20, le=16384)
    """Size in GiB of the disk for images and weights. Nodes with local NVMe keep these there; their disk has at
    most 80."""
    disk_throughput: int | None = Field(default=None, ge=LEAST_THROUGHPUT, le=2000)
    """Throughput of each disk, in MiB/s: 125 to 1000, 2000 with Karpenter. Default: 600 where it holds images,
    otherwise 125."""
    disk_iops: int | None = Field(default=None, ge=LEAST_IOPS, le=MOST_IOPS)
    """IOPS of each disk, 3000 to 80000. Default: what its throughput needs."""
    disk_kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """KMS key of the disks, which whoever launches the nodes must be allowed to use. Default: the account's key."""
    fast_image_pull: bool | None = None
    """Whether images are pulled and unpacked in parallel. Default: on AL2023 nodes with 8 vCPUs and a fast disk."""
    prefix_delegation: bool | None = None
    """Whether the cluster's network plugin hands out prefixes (ENABLE_PREFIX_DELEGATION). Otherwise a node takes only
    the pods that its network interfaces have addresses for. Default: true, for existing clusters false."""
    user_data: str = ""
    """What nodes are told in addition: a NodeConfig or a script that begins with #!, for bottlerocket TOML."""
    scale_to_zero: Flag = True
    """Whether node groups scale to zero while no pod needs them."""
    zones: list[Zone] = Field(default_factory=list)
    """Availability zones of the nodes whose type names no others. Default: those of the control plane."""
    node_repair: bool = False
    """Whether unhealthy nodes are replaced, by EKS or by Karpenter (a feature of its that is alpha)."""
    imds_hop_limit: int = Field(default=1, ge=1, le=64)
    """Hop limit of the instance metadata service: 1 keeps pods from the node's role, 2 allows them."""
    quotas: dict[str, int] = Field(default_factory=dict)
    """vCPU quotas of the account, by quota code such as L-DB2E81BA; exceeding one is a warning. Quotas that are not
    listed are not checked."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of all nodes, but for those of the general pool."""
    taints: list[TaintSettings] = Field(default_factory=list)
    """Taints of all nodes, but for those of the general pool, which the models' pods tolerate."""
    types: dict[str, TypeSettings] = Field(default_factory=dict)
    """Settings by instance type, such as g5.2xlarge."""
    disruption: DisruptionSettings = Field(default_factory=DisruptionSettings)
    """When Karpenter takes nodes away by itself. Default: when they were empty for ten minutes, one at a time."""
    general_pool: GeneralPoolSettings | None = None
    """A pool of Karpenter's for pods that name no instance type. Default: none."""

    def policy(self, labels: Mapping[str, str]) -> NodePolicy:
        """Return what planning works with.

        Args:
            labels: What every pod of the environment selects, and every node must carry therefore.
        """
        types = {name: given.policy() for name, given in self.types.items()}
        prefixes = self.prefix_delegation is not False
        taints = tuple(taint.plain() for taint in self.taints)
        return NodePolicy(Capacity(self.capacity), types, labels, prefixes, self.labels, taints, MOST_NODES)

    @property
    def has_taints(self) -> bool:
        """Whether any nodes have taints beside those of their accelerators."""
        return bool(self.taints) or any(given.taints for given in self.types.values())

    def boot(self) -> Boot:
        """Return how nodes start."""
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
        """Return where and how nodes are made, as of now.

        Args:
            region: AWS region.
            zones: Availability zones with a private subnet.
            version: Kubernetes version of the cluster.
            labels: What every node must carry.
            place: Where these settings are written.
            usual: Those of the zones in which nodes are for which nothing else is said. Default: all.
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
        given = tuple(to_camel(key) for key in ("disruption", "general_pool") if key in self.model_fields_set)
        general = self.general_pool.pool() if self.general_pool else None
        return PoolRules(self.disruption.disruption(), general, given)
