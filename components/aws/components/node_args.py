"""Arguments of GpuNodeGroups and of KarpenterPools."""

from typing import Any, Required, TypedDict

import pulumi

from ...serving.flavor_args import FlavorArgs


class ReservationArgs(TypedDict, total=False):
    """Capacity that is paid for already: an On-Demand Capacity Reservation or a Capacity Block."""

    id: Required[str]
    """cr-..., or the ARN of a resource group of On-Demand reservations."""
    zone: Required[str]
    """The one availability zone it is in."""
    count: Required[int]
    """How many instances it holds."""
    starts: str
    """When a Capacity Block begins, such as 2027-01-11T11:30:00Z."""
    ends: str
    """When it ends."""


class NodeTypeArgs(TypedDict, total=False):
    """What is said about nodes of one instance type."""

    capacity: str
    """on-demand, spot, odcr (an On-Demand Capacity Reservation) or capacity-block. Default: that of all nodes."""
    reservation: ReservationArgs
    """The reservation; required with odcr and capacity-block."""
    zones: list[str]
    """Availability zones of the nodes. Default: those of all nodes."""
    spot_types: list[str]
    """Further types that pods may run on instead, so that spot capacity comes out of several pools."""
    efa: bool
    """Whether nodes get EFA interfaces even where no pod asks for them. Default: false."""
    placement_group: bool
    """Whether nodes are put close together, in a cluster placement group. Default: false."""
    ami_id: str
    """An image of your own, for types that AWS has no image for."""
    min_nodes: int
    """Least nodes of a group. Default: 0."""
    max_nodes: int
    """Most nodes of a group: what it may cost. Default: what the models may need; 10 for flavors."""


class GpuNodeGroupsArgs(TypedDict, total=False):
    """Arguments of GpuNodeGroups: the nodes, as flavors or as manifests, and the cluster."""

    flavors: list[FlavorArgs]
    """Kinds of nodes in order of preference. Their groups are empty at rest: an autoscaler fills them."""
    manifests: list[dict[str, Any]]
    """Instead of flavors, the models for which nodes are made, each an object in wire form. Their groups begin with
    the nodes that the models need at rest."""
    realization: str
    """How the models are deployed: native or operator. Default: native."""
    workload: str
    """auto, lws or deployment, as the models are deployed. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes, as the models are deployed: upstream or current. Default: upstream."""
    cluster_name: Required[pulumi.Input[str]]
    """Name of the EKS cluster."""
    cluster_plain_name: Required[str]
    """The same name, known before there is a cluster: it is part of tag keys."""
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
    """The cluster's own security group, which nodes with EFA must be given by hand."""
    endpoint: pulumi.Input[str]
    """API server; required with an image of your own."""
    certificate_authority: pulumi.Input[str]
    """The API server's CA in base64; required with an image of your own."""
    service_cidr: str
    """Addresses of Services, for groups with an image of your own. Default: 172.20.0.0/16."""
    types: dict[str, NodeTypeArgs]
    """What is said about nodes of single instance types, such as g5.2xlarge."""
    capacity: str
    """on-demand or spot, for types that say nothing of their own. Default: on-demand."""
    image: str
    """al2023 or bottlerocket. Default: al2023."""
    zones: list[str]
    """Availability zones of the nodes, each with a subnet. Default: all that have one."""
    labels: dict[str, str]
    """Labels that every node carries."""
    disk_gib: int
    """Disk for images and weights on nodes without local NVMe. Default: 200."""
    scale_to_zero: bool
    """Whether groups may be empty. Otherwise one node stays for each group that is preferred. Default: true."""
    quotas: dict[str, int]
    """vCPUs that the account may run, by quota code; more than that is warned of."""
    imds_hop_limit: int
    """Network hops to the instance metadata. Default: 1, which keeps pods from the node's role; 2 lets them."""
    node_repair: bool
    """Let EKS replace nodes with broken GPUs; needs the add-on eks-node-monitoring-agent. Default: false."""
    tags: dict[str, str]
    """Tags of everything, instances and volumes included."""


class KarpenterPoolsArgs(TypedDict, total=False):
    """Arguments of KarpenterPools: the nodes, as flavors or as manifests, and the cluster."""

    flavors: list[FlavorArgs]
    """Kinds of nodes in order of preference: the first weighs most."""
    manifests: list[dict[str, Any]]
    """Instead of flavors, the models for which nodes are made, each an object in wire form."""
    realization: str
    """How the models are deployed: native or operator. Default: native."""
    workload: str
    """auto, lws or deployment, as the models are deployed. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes, as the models are deployed: upstream or current. Default: upstream."""
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
    """What is said about nodes of single instance types, such as g5.2xlarge."""
    capacity: str
    """on-demand or spot, for types that say nothing of their own. Default: on-demand."""
    image: str
    """al2023 or bottlerocket. Default: al2023."""
    ami_release: str
    """Release of the images, such as v20260714, or latest. Default: the one this package was checked with."""
    zones: list[str]
    """Availability zones of the nodes, each with a subnet. Default: all that have one."""
    labels: dict[str, str]
    """Labels that every node carries."""
    disk_gib: int
    """Disk for images and weights on nodes without local NVMe. Default: 200."""
    quotas: dict[str, int]
    """vCPUs that the account may run, by quota code; more than that is warned of."""
    tags: dict[str, str]
    """Tags of instances, volumes and interfaces."""
