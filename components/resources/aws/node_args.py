"""Arguments of GpuNodeGroups and of KarpenterPools."""

from typing import Any, Required, TypedDict

import pulumi

from ..serving.args import FlavorArgs, ServiceLevelsArgs


class ReservationArgs(TypedDict, total=False):
    """Reserved capacity: an On-Demand Capacity Reservation or a Capacity Block."""

    id: Required[str]
    """ID (cr-...), or the ARN of a resource group of On-Demand Capacity Reservations."""
    zone: Required[str]
    """Its availability zone."""
    count: Required[int]
    """How many instances it has."""
    starts: str
    """When a Capacity Block starts, such as 2027-01-11T11:30:00Z."""
    ends: str
    """When it ends."""


class TaintArgs(TypedDict, total=False):
    """A taint of nodes."""

    key: Required[str]
    """Its key."""
    value: str
    """Its value. Default: none."""
    effect: str
    """NoSchedule, PreferNoSchedule or NoExecute. Default: NoSchedule."""


class NodeTypeArgs(TypedDict, total=False):
    """Settings for nodes of one instance type."""

    capacity: str
    """on-demand, spot, odcr (an On-Demand Capacity Reservation) or capacity-block. Default: that of all nodes."""
    reservation: ReservationArgs
    """The reservation; required with odcr and capacity-block."""
    next_blocks: list[ReservationArgs]
    """Capacity Blocks that follow the one in reservation, each with a node group of its own. Default: none."""
    zones: list[str]
    """Availability zones of the nodes. Default: those of all nodes."""
    spot_types: list[str]
    """Additional instance types that pods may run on, so that spot capacity comes from several pools."""
    efa: bool
    """Whether nodes get EFA interfaces even if no pod requests them. Default: false."""
    placement_group: bool
    """Whether nodes are placed close together, in a cluster placement group. Default: false."""
    ami_id: str
    """An image of your own, for types that AWS has no image for."""
    min_nodes: int
    """Minimum size of a group, which the autoscaler keeps. Default: 0."""
    max_nodes: int
    """Maximum size of a group, which caps its cost, and which the autoscaler keeps. Default: none for models, whose
    replicas are the bound; 10 for flavors."""
    labels: dict[str, str]
    """Labels for these nodes, beside those for every node."""
    taints: list[TaintArgs]
    """Taints for these nodes, beside those for every node."""


class GpuNodeGroupsArgs(TypedDict, total=False):
    """Arguments of GpuNodeGroups: the nodes, as flavors or as manifests, and the cluster."""

    flavors: list[FlavorArgs]
    """Flavors in order of preference."""
    manifests: pulumi.Input[list[dict[str, Any]]]
    """Instead of flavors, the models that the nodes are for, each an object in wire form."""
    realization: str
    """How the models are deployed: native or operator. Default: native."""
    realizations: dict[str, str]
    """Families whose models are deployed otherwise, by name, as in ModelFleet. Default: none."""
    workload: str
    """auto, lws or deployment, as the models are deployed. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes, as the models are deployed: upstream or current. Default: upstream."""
    service_levels: ServiceLevelsArgs
    """What the models promise and what is asked of them, as in ModelFleet. Default: nothing."""
    cluster_name: Required[pulumi.Input[str]]
    """Name of the EKS cluster."""
    cluster_plain_name: Required[str]
    """The same name as a plain string, which must be known before the cluster exists: it is part of tag keys."""
    region: Required[str]
    """AWS region, such as us-east-1."""
    version: Required[str]
    """Kubernetes version of the nodes, such as 1.35."""
    vpc_id: Required[pulumi.Input[str]]
    """The cluster's VPC; for the security group of EFA."""
    subnets: Required[dict[str, pulumi.Input[str]]]
    """Private subnet per availability zone."""
    node_role_arn: Required[pulumi.Input[str]]
    """Role of the nodes."""
    cluster_security_group_id: Required[pulumi.Input[str]]
    """The cluster's own security group, which nodes with EFA need explicitly."""
    endpoint: pulumi.Input[str]
    """URL of the API server; required with an image of your own."""
    certificate_authority: pulumi.Input[str]
    """The API server's CA in base64; required with an image of your own."""
    service_cidr: str
    """CIDR range of Services, for groups with an image of your own. Default: 172.20.0.0/16."""
    types: dict[str, NodeTypeArgs]
    """Settings by instance type, such as g5.2xlarge."""
    capacity: str
    """on-demand or spot, for types without a setting of their own. Default: on-demand."""
    image: str
    """al2023 or bottlerocket. Default: al2023."""
    ami_release: str
    """Release of the images, such as 1.35.6-20260714, or latest: the newest when a group is created or changed.
    Default: the one that this package pins for the version."""
    force_update: bool
    """Whether updates replace nodes whose pods a disruption budget keeps. Default: false."""
    zones: list[str]
    """Availability zones, each with a subnet, of the nodes whose type names no others. Default: all that have a
    subnet: a subnet added later then replaces the groups. Name zones to avoid that."""
    labels: dict[str, str]
    """Labels for every node."""
    taints: list[TaintArgs]
    """Taints for every node, beside those for accelerators. The models' pods must tolerate them: hand them to
    ModelFleet as tolerations."""
    disk_gib: int
    """Disk for images and weights on nodes without local NVMe. Default: 200."""
    disk_throughput: int
    """Throughput of each disk, in MiB/s: 125 to 1000, 2000 with Karpenter. Default: 600 where it holds images,
    otherwise 125."""
    disk_iops: int
    """IOPS of each disk, 3000 to 80000. Default: what its throughput needs."""
    disk_kms_key_arn: str
    """KMS key of the disks, which whoever launches the nodes must be allowed to use. Default: the account's key."""
    fast_image_pull: bool
    """Whether images are pulled and unpacked in parallel. Default: on AL2023 nodes with 8 vCPUs and a fast disk."""
    prefix_delegation: bool
    """Whether the cluster's network plugin hands out prefixes (ENABLE_PREFIX_DELEGATION), as that of Cluster does.
    Otherwise a node takes only the pods that its network interfaces have addresses for. Default: true."""
    user_data: str
    """What nodes are told in addition: a NodeConfig or a script that begins with #!, for bottlerocket TOML."""
    scale_to_zero: bool
    """Whether groups scale to zero. Otherwise every preferred group keeps one node. Default: true."""
    quotas: dict[str, int]
    """vCPU quotas of the account, by quota code; exceeding one is a warning."""
    imds_hop_limit: int
    """Hop limit of the instance metadata service. Default: 1, which keeps pods from the node's role; 2 allows
    them."""
    node_repair: bool
    """Whether EKS replaces nodes with broken GPUs; requires the add-on eks-node-monitoring-agent. Default: false."""
    tags: dict[str, str]
    """Tags for all resources, including instances and volumes."""


class BudgetArgs(TypedDict, total=False):
    """How many nodes of a pool Karpenter may take away at once; of several that count, the smallest does."""

    nodes: Required[str]
    """A number, or a share such as 10%. With 0, none."""
    schedule: str
    """When it begins to count, as a cron line in UTC. Default: it always counts."""
    duration: str
    """How long it counts from then on, such as 10h."""
    reasons: list[str]
    """Why nodes are taken away: Underutilized, Empty, Drifted, Unhealthy. Default: for any reason."""


class DisruptionArgs(TypedDict, total=False):
    """When Karpenter takes nodes away by itself."""

    consolidation_policy: str
    """WhenEmpty, WhenEmptyOrUnderutilized or Balanced. Default: WhenEmpty, for all others end pods that serve."""
    consolidate_after: str
    """How long a node must be so, or Never. Default: 10m."""
    budgets: list[BudgetArgs]
    """How many nodes of a pool it takes away at once. Default: one."""
    spot_to_spot: bool
    """Whether it replaces spot nodes by cheaper spot nodes; requires its feature spotToSpotConsolidation. Default:
    false."""


class GeneralPoolArgs(TypedDict, total=False):
    """A pool of nodes without accelerators, for pods that name no instance type."""

    capacity: list[str]
    """on-demand, spot or both, where spot is tried first. Default: on-demand."""
    categories: list[str]
    """Categories of instance families. Default: c, m and r."""
    arch: str
    """amd64 or arm64. Default: amd64."""
    max_vcpus: int
    """vCPUs that it may grow to. Default: 64."""


class KarpenterPoolsArgs(TypedDict, total=False):
    """Arguments of KarpenterPools: the nodes, as flavors or as manifests, and the cluster."""

    flavors: list[FlavorArgs]
    """Flavors in order of preference: the first has the highest weight."""
    manifests: pulumi.Input[list[dict[str, Any]]]
    """Instead of flavors, the models that the nodes are for, each an object in wire form."""
    realization: str
    """How the models are deployed: native or operator. Default: native."""
    realizations: dict[str, str]
    """Families whose models are deployed otherwise, by name, as in ModelFleet. Default: none."""
    workload: str
    """auto, lws or deployment, as the models are deployed. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes, as the models are deployed: upstream or current. Default: upstream."""
    service_levels: ServiceLevelsArgs
    """What the models promise and what is asked of them, as in ModelFleet. Default: nothing."""
    region: Required[str]
    """AWS region, such as us-east-1."""
    vpc_id: Required[pulumi.Input[str]]
    """The cluster's VPC; for the security group of EFA."""
    subnets: Required[dict[str, pulumi.Input[str]]]
    """Private subnet per availability zone."""
    cluster_security_group_id: Required[pulumi.Input[str]]
    """The cluster's own security group."""
    node_role_name: Required[pulumi.Input[str]]
    """Role of the nodes: KarpenterAccess.node_role_name."""
    types: dict[str, NodeTypeArgs]
    """Settings by instance type, such as g5.2xlarge."""
    capacity: str
    """on-demand or spot, for types without a setting of their own. Default: on-demand."""
    image: str
    """al2023 or bottlerocket. Default: al2023."""
    ami_release: str
    """Release of the images, such as v20260714, or latest: with it, each new image replaces running nodes. Default:
    the one that this package pins."""
    zones: list[str]
    """Availability zones, each with a subnet, of the nodes whose type names no others. Default: all that have a
    subnet."""
    labels: dict[str, str]
    """Labels for every node."""
    taints: list[TaintArgs]
    """Taints for every node, beside those for accelerators. The models' pods must tolerate them: hand them to
    ModelFleet as tolerations."""
    disk_gib: int
    """Disk for images and weights on nodes without local NVMe. Default: 200."""
    disk_throughput: int
    """Throughput of each disk, in MiB/s: 125 to 1000, 2000 with Karpenter. Default: 600 where it holds images,
    otherwise 125."""
    disk_iops: int
    """IOPS of each disk, 3000 to 80000. Default: what its throughput needs."""
    disk_kms_key_arn: str
    """KMS key of the disks, which whoever launches the nodes must be allowed to use. Default: the account's key."""
    fast_image_pull: bool
    """Whether images are pulled and unpacked in parallel. Default: on AL2023 nodes with 8 vCPUs and a fast disk."""
    prefix_delegation: bool
    """Whether the cluster's network plugin hands out prefixes (ENABLE_PREFIX_DELEGATION), as that of Cluster does.
    Otherwise a node takes only the pods that its network interfaces have addresses for. Default: true."""
    user_data: str
    """What nodes are told in addition: a NodeConfig or a script that begins with #!, for bottlerocket TOML."""
    scale_to_zero: bool
    """Whether pools scale to zero. Otherwise one node is always there for every preferred group, for which Karpenter
    needs its feature staticCapacity. Default: true."""
    imds_hop_limit: int
    """Hop limit of the instance metadata service. Default: 1, which keeps pods from the node's role; 2 allows
    them."""
    disruption: DisruptionArgs
    """When Karpenter takes nodes away by itself. Default: when they were empty for ten minutes, one at a time."""
    general_pool: GeneralPoolArgs
    """A pool for pods that name no instance type. Default: none."""
    quotas: dict[str, int]
    """vCPU quotas of the account, by quota code; exceeding one is a warning."""
    tags: dict[str, str]
    """Tags for instances, volumes and network interfaces."""
