"""The AWS resources of an environment: network, cluster, nodes and identities, in that order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.clouds.aws.environment import KARPENTER, own_groups
from components.clouds.aws.facts.iam import DNS_CHALLENGES, controllers
from components.clouds.aws.nodes.autoscaler import chart_groups, expander_priorities
from components.clouds.aws.nodes.plan import NodeGroupPlan, created
from components.clouds.aws.nodes.quotas import vcpus
from components.clouds.aws.words import NatGateways, Provisioner, ServiceLinkedRole
from components.plan.plan import Plan
from components.resources.aws.args import IdentitiesArgs, ImageCacheArgs, KarpenterAccessArgs
from components.resources.aws.cluster import Cluster
from components.resources.aws.gpu_node_groups import GpuNodeGroups
from components.resources.aws.identities import Identities
from components.resources.aws.image_cache import ImageCache
from components.resources.aws.karpenter_access import KarpenterAccess
from components.resources.aws.karpenter_pools import KarpenterPools
from components.resources.aws.network import Network
from components.resources.aws.provider import aws_provider
from components.resources.serving.kubernetes_provider import KubernetesProvider
from components.resources.serving.site import Site

from .cloud_args import aws_timeouts, cluster_args, network_args
from .settings import Settings
from .storage import model_volumes


@dataclass(frozen=True, slots=True)
class CloudCluster:
    """A cluster on AWS for models.

    Attributes:
        site: Facts about the cluster, and a function that creates nodes.
        exports: Stack outputs about the cluster.
    """

    provider: KubernetesProvider
    site: Site
    aws: pulumi.ProviderResource
    exports: Mapping[str, Any] = field(default_factory=dict)


def make_cloud(settings: Settings, planned: Plan) -> CloudCluster:
    """Create the AWS resources of a stack, except nodes of Karpenter.

    Raises:
        InvalidArguments: the arguments of a component are invalid; lists its problems.
    """
    credentials = settings.credentials
    aws = aws_provider(
        "aws",
        settings.region,
        allowed_account_ids=credentials.allowed_account_ids,
        profile=credentials.profile or "",
        role_arn=credentials.assume_role_arn or "",
    )
    groups = own_groups(planned.cloud_groups)
    network = Network("network", network_args(settings), _with(aws))
    # Without NAT gateways, nodes reach the registry and EKS only through the endpoints.
    after = network.endpoints if settings.network.nat_gateways == NatGateways.NONE else []
    options = pulumi.ResourceOptions(providers=[aws], depends_on=after)
    zones = settings.cluster.system_zones
    system = pulumi.Output.all(*(network.private_by_zone[zone] for zone in zones)) if zones else None
    cluster = Cluster("cluster", cluster_args(settings, network.control_plane_subnet_ids, system), options)
    nodes = _ModelNodes(settings, groups, network, cluster, aws, planned.timeouts.drains, planned.longest_grace)
    charts = [prerequisite.chart.name for prerequisite in planned.prerequisites]
    installed = charts if settings.prerequisites.install else []
    if settings.gpu_nodes.provisioner == Provisioner.KARPENTER and not _only_existing(settings, groups, charts):
        nodes.before.append(nodes.prepare_karpenter())
    # Roles of other controllers belong to those who install them, and so do their Pod Identity associations.
    roles = [chart for chart in installed if chart in controllers()]
    if not settings.answers_challenges:
        roles = [role for role in roles if role != DNS_CHALLENGES]
    identities = nodes.identities(planned.namespaces, roles)
    cache = nodes.image_cache()
    nodes.before += [*network.ready, identities, *([cache] if cache else ())]
    if not nodes.access:
        nodes.prepare_managed()
    # A claim that is created before the classes would permanently get another class.
    nodes.before += cluster.classes
    site = Site(
        name=settings.cluster_name,
        region=settings.region,
        vpc_id=network.vpc_id,
        interruption_queue=nodes.access.queue_name if nodes.access else "",
        features=settings.cloud_environment.features(groups) if settings.cloud_environment else (),
        answers_challenges=DNS_CHALLENGES in roles,
        role_arns=identities.role_arns if settings.cluster.oidc_provider_arn else None,
        node_bounds=nodes.bounds or None,
        bounded_only=bool(nodes.bounds),
        owned=not settings.cluster.existing,
        after=tuple(nodes.before),
        volumes=tuple(model_volumes(settings, planned, network, cluster, aws)),
        nodes=nodes.register,
    )
    exports = _exports(settings, planned, cluster, nodes)
    if cache:
        exports["imageCache"] = {"registry": cache.registry, "nodePolicy": cache.node_policy}
    return CloudCluster(cluster.provider, site, aws, exports)


def _only_existing(settings: Settings, groups: Sequence[NodeGroupPlan], charts: Sequence[str]) -> bool:
    """Whether all nodes exist, or are launched by the Karpenter of the cluster in pools that exist."""
    own = created(groups) or settings.gpu_nodes.general_pool or KARPENTER in charts
    return (bool(groups) or settings.cluster.existing) and not own


def _exports(settings: Settings, planned: Plan, cluster: Cluster, nodes: "_ModelNodes") -> dict[str, Any]:
    exports: dict[str, Any] = {
        "cluster": {"name": settings.cluster_name, "region": settings.region, "version": settings.cluster.version},
        "clusterEndpoint": cluster.endpoint,
        "kubeconfig": cluster.kubeconfig,
        "vcpus": {
            quota.code: {"quota": quota.name, "vcpus": needed}
            for quota, needed in vcpus(own_groups(planned.cloud_groups), settings.cluster.system_vcpus).items()
        },
    }
    if nodes.bounds:
        exports["nodeGroupBounds"] = chart_groups(nodes.bounds)
        exports["nodeGroupPriorities"] = pulumi.Output.from_input(nodes.bounds).apply(expander_priorities)
    if settings.cluster.bastion:
        exports["tunnel"] = cluster.tunnel
    return exports


def _with(*providers: pulumi.ProviderResource) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(providers=list(providers))


@dataclass(slots=True)
class _ModelNodes:
    """Creates the nodes, and the identities of controllers.

    Attributes:
        drains: Seconds until the pods of each node group have moved elsewhere, at most.
        longest_grace: Longest time that a pod may take to terminate, in seconds.
        access: AWS resources of Karpenter, if it launches the nodes.
        managed: The managed node groups otherwise.
    """

    settings: Settings
    groups: tuple[NodeGroupPlan, ...]
    network: Network
    cluster: Cluster
    aws: pulumi.ProviderResource
    drains: Mapping[str, int]
    longest_grace: int
    access: KarpenterAccess | None = None
    managed: GpuNodeGroups | None = None
    before: list[pulumi.Resource] = field(default_factory=list)
    """AWS resources that nodes, controllers and pods require for as long as they exist."""

    @property
    def bounds(self) -> list[Any]:
        """Bounds of node groups for the Cluster Autoscaler."""
        return [*self.cluster.bounded, *(self.managed.bounded if self.managed else ())]

    def register(self, after: list[pulumi.Resource]) -> list[pulumi.Resource]:
        """Create nodes that depend on a controller; return all resources that models depend on."""
        managed = self.managed
        nodes = [*managed.groups.values(), *managed.owned] if managed else self._karpenter(after)
        return [*after, *self.before, *nodes]

    def prepare_managed(self) -> None:
        """Create managed node groups, before the autoscaler, which requires their bounds."""
        cluster, settings = self.cluster, self.settings
        assert settings.cloud_environment is not None  # noqa: S101  the stack is on AWS
        assert settings.cloud_environment.nodes is not None  # noqa: S101  a stack has settings of nodes
        self.managed = GpuNodeGroups.of(
            "nodes",
            self.groups,
            {
                "cluster_name": cluster.cluster_name,
                "cluster_plain_name": settings.cluster_name,
                "region": settings.region,
                "vpc_id": self.network.vpc_id,
                "subnets": self.network.private_by_zone,
                "node_role_arn": cluster.node_role_arn,
                "cluster_security_group_id": cluster.security_group_id,
                "version": settings.cluster.version,
                "endpoint": cluster.endpoint,
                "certificate_authority": cluster.certificate_authority,
                "service_cidr": settings.cluster.service_cidr,
                "imds_hop_limit": settings.gpu_nodes.imds_hop_limit,
                "node_repair": settings.gpu_nodes.node_repair,
                "tags": settings.tags,
                "timeouts": aws_timeouts(settings),
            },
            pulumi.ResourceOptions(providers=[self.aws], depends_on=[*cluster.ready, *self.before]),
            settings.cloud_environment.nodes.owned_groups,
        )

    def prepare_karpenter(self) -> KarpenterAccess:
        args: KarpenterAccessArgs = {
            "cluster_name": self.cluster.cluster_name,
            "cluster_plain_name": self.settings.cluster_name,
            "region": self.settings.region,
            "tags": self.settings.tags,
        }
        if self.settings.permissions_boundary_arn:
            args["permissions_boundary_arn"] = self.settings.permissions_boundary_arn
        if self.settings.cluster.spot_service_linked_role == ServiceLinkedRole.CREATE:
            args["create_spot_role"] = True
        if self.settings.cluster.node_policies is not None:
            args["node_policies"] = self.settings.cluster.node_policies
        self.access = KarpenterAccess("karpenter", args, _with(self.aws))
        return self.access

    def _karpenter(self, after: list[pulumi.Resource]) -> list[pulumi.Resource]:
        """Create Karpenter's node pools, after Karpenter if the stack installs it."""
        cluster, settings, access = self.cluster, self.settings, self.access
        assert access is not None  # noqa: S101  prepare_karpenter has been called
        assert settings.cloud_environment is not None  # noqa: S101  Karpenter requires AWS
        assert settings.cloud_environment.nodes is not None  # noqa: S101  a stack has settings of nodes
        pools = KarpenterPools.of(
            "nodes",
            self.groups,
            settings.cloud_environment.nodes,
            {
                "region": settings.region,
                "vpc_id": self.network.vpc_id,
                "subnets": self.network.private_by_zone,
                "cluster_security_group_id": cluster.security_group_id,
                "node_role_name": access.node_role_name,
                "imds_hop_limit": settings.gpu_nodes.imds_hop_limit,
                "tags": settings.tags,
                "timeouts": aws_timeouts(settings),
            },
            pulumi.ResourceOptions(providers=[self.aws, cluster.provider], depends_on=[*after, *self.before]),
            self.drains,
            self.longest_grace,
        )
        return list(pools.pools.values())

    def image_cache(self) -> ImageCache | None:
        """Create the image cache, if any, and grant access to the node roles that the stack creates."""
        cache, account = self.settings.image_cache, self.settings.cache_account
        if not cache.registries or account is None:
            return None
        roles: dict[str, pulumi.Input[str]] = {}
        if self.cluster.node_role:
            roles["nodes"] = self.cluster.node_role[0].name
        if self.access:
            roles["karpenter"] = self.access.node_role_name
        args: ImageCacheArgs = {
            "account": account,
            "region": self.settings.region,
            "registries": list(dict.fromkeys(cache.registries)),
            "credentials": cache.credentials,
            "prefix": cache.prefix,
            "existing": cache.existing,
            "node_roles": roles,
            "tags": self.settings.tags,
        }
        if self.settings.permissions_boundary_arn:
            args["permissions_boundary_arn"] = self.settings.permissions_boundary_arn
        if cache.kms_key_arn:
            args["kms_key_arn"] = cache.kms_key_arn
        if cache.keep_images:
            args["keep_images"] = cache.keep_images
        return ImageCache("images", args, _with(self.aws))

    def identities(self, namespaces: Sequence[str], controllers: list[str]) -> Identities:
        """Create the identities of controllers, and of the models' pods if they read buckets."""
        settings = self.settings
        account = settings.model_account
        identities: IdentitiesArgs = {
            "cluster_name": self.cluster.cluster_name,
            "cluster_plain_name": settings.cluster_name,
            "region": settings.region,
            "controllers": controllers,
            "tags": settings.tags,
        }
        if settings.permissions_boundary_arn:
            identities["permissions_boundary_arn"] = settings.permissions_boundary_arn
        if settings.cluster.oidc_provider_arn:
            identities["oidc_provider_arn"] = settings.cluster.oidc_provider_arn
        if DNS_CHALLENGES in controllers:
            identities["hosted_zone_id"] = settings.dns.hosted_zone_id or ""
            identities["host"] = settings.front_door.host or ""
        if settings.buckets:
            identities["model_buckets"] = settings.buckets
            identities["model_service_accounts"] = [f"{namespace}/{account}" for namespace in namespaces]
        if self.access:
            identities["node_role_arn"] = self.access.node_role_arn
            identities["interruption_queue_arn"] = self.access.queue_arn
        return Identities("identities", identities, _with(self.aws))
