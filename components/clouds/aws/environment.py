"""An environment on AWS: see :class:`~..fleet.cloud.Cloud`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ...contract.clock import OLD_AFTER_MONTHS, months_before
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.cloud import NodePlan
from ...fleet.downloads import Download
from ...fleet.endpoints import Endpoint
from ...fleet.images import PullThroughCache
from ...fleet.instances import Instance
from ...fleet.load_balancers import BalancerSeconds
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.nodes.policy import NodePolicy
from ...fleet.objects import Object, is_balanced, tcp_ports
from ...fleet.rendered import Fleet
from .facts.eks import EksVersion, versions
from .facts.releases import addons_date, image_date, image_release
from .load_balancers import load_balancer_annotations
from .monitoring import check_monitoring, check_repair
from .names import EFA_COST, LOAD_BALANCER_CONTROLLER
from .nodes.autoscaler import EXPANDER
from .nodes.balanced import check_balanced_zones
from .nodes.checks import check_nodes
from .nodes.fabric import with_efa
from .nodes.generations import with_generations
from .nodes.karpenter import largest
from .nodes.plan import NodeEnvironment, NodeGroupPlan, created, node_plan
from .nodes.pool_rules import NODE_REPAIR, SPOT_TO_SPOT, features
from .provider import AWS, Aws
from .reach import Exits, Setup, check_reach
from .storage.checks import check_cache_zone, check_mount_room, check_volume_zones
from .storage.volumes import ENCRYPTED_CLASS, FORMER_CLASS, VOLUME_DRIVER
from .subnets import range_of
from .traffic import image_passes_gateway, weights_pass_gateway
from .versions import DESCRIBED_IN, check_version
from .words import Provisioner, Support

CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
"""The charts that scale nodes of EKS."""


@dataclass(frozen=True, slots=True)
class AwsEnvironment:
    """One environment on AWS.

    Attributes:
        nodes: Node settings; None if nodes are managed elsewhere.
        existing: Whether the cluster exists already.
        support: Upgrade policy at the end of standard support; unknown for an existing cluster.
        version_named: Whether settings name the version of an existing cluster; otherwise it is assumed, and its
            support is not checked.
        described_version: What settings say of the cluster's version, if the tables do not have it.
        addons: Names of the configured EKS add-ons.
        cidr: Address range of the VPC, if known.
        system_types: Instance types of the untainted nodes for system pods.
        control_plane_zones: Configured zones of the control plane.
        system_zones: Zones of the system nodes, if they differ from those of the control plane.
        cache_zone: Zone of the file system for weights, if it is in a single zone.
        renders: Whether the stack creates the models that are rendered here; otherwise other programs do.
        system_scales: Whether the Cluster Autoscaler scales the system nodes.
        image_cache: The registry that caches images; None if images are pulled directly.
        addresses: Public addresses of the nodes, which are those of NAT gateways; None if unknown.
        exits: The ways out of the private subnets; None if the network is not checked.
        web_identity: Whether service accounts assume their roles with their tokens.
        models_in_s3: Whether pods read models in S3.
        bucket_claims: Claims whose volumes are buckets, by name.
        bastion: Whether there is a bastion.
        images: Images that the stack runs by itself.
    """

    region: str
    nodes: NodeEnvironment | None = None
    existing: bool = False
    support: Support = Support.STANDARD
    version_named: bool = False
    described_version: EksVersion | None = None
    addons: frozenset[str] = frozenset()
    cidr: str | None = None
    system_types: tuple[str, ...] = ()
    system_scales: bool = False
    renders: bool = True
    cache_zone: str | None = None
    control_plane_zones: tuple[str, ...] = ()
    image_cache: PullThroughCache | None = None
    addresses: int | None = None
    system_zones: tuple[str, ...] = ()
    exits: Exits | None = None
    web_identity: bool = False
    models_in_s3: bool = False
    bucket_claims: frozenset[str] = frozenset()
    bastion: bool = False
    images: tuple[str, ...] = ()

    provider: ClassVar[Aws] = AWS
    # EKS has the admission plugin in every version since 1.19 (aws/containers-roadmap issue 739).
    tolerates_devices: ClassVar[bool] = True

    @property
    def owns_nodes(self) -> bool:
        """Whether this environment creates all nodes of the cluster."""
        return self.nodes is not None and not self.existing

    @property
    def node_policy(self) -> NodePolicy | None:
        """Settings of nodes; None if nodes are managed elsewhere."""
        return self.nodes.nodes if self.nodes else None

    @property
    def given(self) -> tuple[str, ...]:
        """Facts about this cloud that come from the settings, because no table has them."""
        described = self.described_version
        return (f"Kubernetes {described.version} ({DESCRIBED_IN})",) if described else ()

    @property
    def network(self) -> tuple[str, ...]:
        """The address range of the VPC, if it is known and valid."""
        cidr = range_of(self.cidr) if self.cidr else None
        return (str(cidr),) if cidr else ()

    @property
    def efa_types(self) -> frozenset[str]:
        """Instance types whose nodes have EFA interfaces even if no pod requests them."""
        return self.nodes.nodes.efa_types if self.nodes else frozenset()

    def features(self, groups: Iterable[NodeGroupPlan]) -> tuple[str, ...]:
        """Return the Karpenter feature gates that node groups need; empty with another provisioner."""
        if self.nodes is None or self.nodes.provisioner != Provisioner.KARPENTER:
            return ()
        return features(groups, self.nodes.pools, node_repair=self.nodes.node_repair)

    @property
    def general_nodes(self) -> Instance | None:
        """The largest node of the general pool, for pods that select no instance type; None without that pool."""
        pool = self.nodes.pools.general if self.nodes else None
        return largest(pool) if pool else None

    @property
    def alternatives(self) -> Mapping[str, tuple[str, ...]]:
        """Alternative instance types, by instance type."""
        return self.nodes.nodes.alternatives if self.nodes else {}

    @property
    def tolerations(self) -> tuple[Object, ...]:
        """Tolerations that model pods need, besides those for accelerators."""
        return self.nodes.nodes.tolerations if self.nodes else ()

    def adapted(self, fleet: Fleet, seconds: BalancerSeconds | None = None) -> Fleet:
        """Return the fleet adapted to AWS.

        Load balancers are internal, pods request EFA on nodes that have it, and select the generation of their nodes.

        Args:
            fleet: The rendered fleet.
            seconds: Timeouts of load balancers; None for AWS's defaults.
        """
        internal = with_internal_balancers(fleet, seconds)
        if self.nodes is None or not self.renders:
            return internal
        return with_generations(with_efa(internal, self.nodes.nodes), self.nodes.nodes)

    def plan_nodes(self, fleet: Fleet, file: str) -> tuple[tuple[NodeGroupPlan, ...], list[Problem]]:
        """Return the node groups of a fleet, and the problems of nodes and cluster version."""
        if self.nodes is None:
            return (), []
        groups = node_plan(fleet, self.nodes)
        problems = list(check_nodes(fleet, groups, self.nodes))
        for name in self.nodes.owned if not self.existing else ():
            reason = "requires the cluster that has the groups; set cluster.existing: true, or remove it"
            problems.append(self.nodes.place.problem(("types", name, "ownedGroups"), reason))
        problems += check_cache_zone(groups, self.cache_zone, file)
        # The default class of an existing cluster is unknown.
        classes = (ENCRYPTED_CLASS, FORMER_CLASS) if self.existing else (None, ENCRYPTED_CLASS, FORMER_CLASS)
        problems += check_volume_zones(fleet, groups, self.nodes, classes)
        problems += check_mount_room(fleet, groups, self.nodes, self.bucket_claims)
        if not self.existing:
            problems += check_repair(self.nodes, self.addons)
        problems += self.check_ages(file)
        if not self.existing or self.version_named:
            support = None if self.existing else self.support
            problems += check_version(
                version=self.nodes.version,
                today=self.nodes.now.date(),
                file=file,
                key="cluster.version",
                support=support,
                described=self.described_version,
            )
        return groups, problems

    def check_balancers(
        self, fleet: Fleet, groups: Sequence[NodePlan], *, every_model: bool, gateway: bool
    ) -> Iterator[Problem]:
        """Warn about nodes that load balancers may not reach; see :func:`.nodes.balanced.check_balanced_zones`."""
        if self.nodes is not None:
            zones, system = self.control_plane_zones, self.system_zones
            yield from check_balanced_zones(
                fleet, own_groups(groups), self.nodes, zones, system, every_model=every_model, gateway=gateway
            )

    def check_ages(self, file: str) -> Iterator[Problem]:
        """Warn about pinned node images and add-ons that are older than six months, in a single finding.

        Releases that settings name are deliberate and not reported.
        """
        nodes = self.nodes
        if nodes is None:
            return
        oldest = months_before(nodes.now.date(), OLD_AFTER_MONTHS)
        old = []
        pinned = image_release(nodes.image, nodes.version)
        if not nodes.ami_release and pinned and image_date(nodes.image) < oldest:
            old.append(f"the image {nodes.image} {pinned} ({image_date(nodes.image)}) of the nodes")
        if not self.existing and nodes.version in versions() and addons_date() < oldest:
            old.append(f"the EKS add-ons ({addons_date()})")
        if old:
            reason = (
                f"{' and '.join(old)} are older than six months; use a newer release of this package, or set "
                "gpuNodes.amiRelease and cluster.addons to newer ones"
            )
            yield Problem(
                file=file, path="cluster.addons", reason=reason, severity=Severity.WARNING, rule=RuleId.RELEASE_OLD
            )

    def check_scaling(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Report bounds that no installed autoscaler enforces, and Karpenter features that nothing enables."""
        if CLUSTER_AUTOSCALER not in installed:
            yield from self._check_bounds(groups, file)
        if {CLUSTER_AUTOSCALER, KARPENTER}.isdisjoint(installed):
            yield from self._check_features(groups)

    def check_charts(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Report charts that do not work with the nodes and add-ons; see :mod:`.monitoring`."""
        if self.nodes is not None:
            yield from check_monitoring(own_groups(groups), self.nodes, self.addons, installed, file)

    def _check_bounds(self, groups: Iterable[NodePlan], file: str) -> Iterator[Problem]:
        """Report bounds that only the Cluster Autoscaler could enforce; EKS has none (:mod:`.nodes.sizes`)."""
        if self.nodes is None:
            return
        if self.nodes.provisioner == Provisioner.KARPENTER:
            if self.system_scales:
                reason = (
                    "is for the Cluster Autoscaler, but Karpenter makes the nodes of this environment; remove it and "
                    "set gpuNodes.generalPool, or set provisioner: managed"
                )
                yield Problem(file=file, path="cluster.systemNodesMax", reason=reason, rule=RuleId.SETTINGS)
            return
        bounded = [group.name for group in created(own_groups(groups)) if group.autoscaled]
        bounded += ["the system"] if self.system_scales else []
        if bounded:
            reason = (
                f"the fewest and the most nodes of {', '.join(bounded)} are kept by the Cluster Autoscaler, which is "
                "not installed here: without them it may add up to 450 nodes to a group, more than planned, and in "
                "any order; pass the output nodeGroupBounds to its chart as autoscalingGroups instead of "
                "autoDiscovery, with enforce-node-group-min-size, and nodeGroupPriorities as expanderPriorities with "
                f"expander: {EXPANDER}"
            )
            yield Problem(
                file=file, path="prerequisites", reason=reason, severity=Severity.WARNING, rule=RuleId.NODES_UNSCALED
            )

    def _check_features(self, groups: Iterable[NodePlan]) -> Iterator[Problem]:
        """Warn about settings that need a Karpenter feature gate which the stack does not enable."""
        if self.nodes is None:
            return
        keys = {NODE_REPAIR: ("nodeRepair",), SPOT_TO_SPOT: ("disruption", "spotToSpot")}
        for feature in self.features(own_groups(groups)):
            reason = (
                f"has no effect unless Karpenter is installed with settings.featureGates.{feature}: true, and "
                "prerequisites do not install it"
            )
            yield self.nodes.place.problem(
                keys.get(feature, ("scaleToZero",)), reason, Severity.WARNING, rule=RuleId.NODES_UNSCALED
            )

    def charts_for_models(self, fleet: Fleet) -> Iterator[tuple[str, str]]:
        """Yield the charts that models need only on AWS, each with the resource that needs it."""
        for item in fleet.rendered:
            if any(endpoint.has_own_balancer for endpoint in item.endpoints):
                yield LOAD_BALANCER_CONTROLLER, item.title

    def check_volumes(self, fleet: Fleet, others: Sequence[str], file: str) -> Iterator[Problem]:
        """Report claims that a cluster created here cannot provision: they and their pods would stay Pending.

        Whether volumes of a storage class that the stack does not create are encrypted is unknown.

        Args:
            fleet: The rendered fleet.
            others: Descriptions of further claims, such as those of charts.
            file: File of the settings, for messages.
        """
        claims = {
            f"{body['kind']}/{body['metadata']['name']} in namespace {item.namespace}": body["spec"]
            for item in fleet.rendered
            for body in item.objects
            if body["kind"] == "PersistentVolumeClaim"
        }
        for _, workload in fleet.workloads:
            if not workload.operated:
                pods = f"each pod of {workload.kind}/{workload.name} in namespace {workload.namespace}"
                claims |= {f"PersistentVolumeClaim/{name} of {pods}": spec for name, spec in workload.claims.items()}
        claims |= {claim: {} for claim in others}
        if self.existing or VOLUME_DRIVER in self.addons:
            ours = (ENCRYPTED_CLASS,) if self.existing else (None, ENCRYPTED_CLASS)
            unknown = [
                name
                for name, spec in claims.items()
                if not spec.get("volumeName") and spec.get("storageClassName") not in ours
            ]
            if unknown:
                reason = (
                    f"whether the volumes of {', '.join(unknown)} are encrypted is not checked: their storage class "
                    'is not made here; give it the parameter encrypted: "true", or switch on EBS encryption by '
                    "default for the account in this region"
                )
                warning = Severity.WARNING
                yield Problem(
                    file=file,
                    path="cluster",
                    reason=reason,
                    severity=warning,
                    rule=RuleId.STORAGE_ENCRYPTION_UNCHECKED,
                )
        elif claims:
            reason = (
                f"{', '.join(claims)} will stay Pending, because no add-on provisions volumes; add "
                f'{VOLUME_DRIVER}: ""'
            )
            yield Problem(file=file, path="cluster.addons", reason=reason, rule=RuleId.STORAGE_UNPROVISIONED)

    def check_image_cache(self, file: str) -> Iterator[Problem]:
        """Warn about a cache whose first pulls have no route to the internet."""
        if self.image_cache is not None and self.addresses == 0:
            reason = (
                "the first pull of each image fails without internet access, which ECR requires from the subnets of "
                "the nodes; later pulls need only interface endpoints (ECR user guide, "
                "Considerations for using pull through cache); pull each image once from elsewhere, or set "
                "network.natGateways"
            )
            yield Problem(
                file=file, path="imageCache", reason=reason, severity=Severity.WARNING, rule=RuleId.IMAGES_FIRST_PULL
            )

    def check_reach(self, downloads: Sequence[Download], charts: Collection[str], file: str) -> Iterator[Problem]:
        """Report what nodes and pods cannot reach; see :func:`.reach.check_reach`."""
        if self.exits is not None and self.nodes is not None:
            yield from check_reach(self.setup(downloads, charts), self.exits, self.region, file)

    def setup(self, downloads: Sequence[Download], charts: Collection[str]) -> Setup:
        """Return what contacts something outside the cluster."""
        own = tuple(Download(image, "the stack", is_image=True) for image in self.images)
        return Setup(
            addons=self.addons,
            charts=charts,
            pod_identity=not self.web_identity,
            web_identity=self.web_identity,
            models_in_s3=self.models_in_s3,
            bastion=self.bastion,
            downloads=(*downloads, *own),
            cached=self.image_cache.registries if self.image_cache else (),
        )

    def cost_notes(self, groups: Iterable[NodeGroupDemand]) -> Iterator[str]:
        """Yield a note that EFA is free of charge, if nodes have it."""
        if any(group.efa for group in groups):
            yield EFA_COST

    def image_passes_gateway(self, reference: str) -> bool:
        """Return whether an image is pulled through a NAT gateway; see :mod:`.traffic`."""
        return image_passes_gateway(reference, self.region)

    def weights_pass_gateway(self, address: str) -> bool:
        """Return whether weights are downloaded through a NAT gateway; see :mod:`.traffic`."""
        return weights_pass_gateway(address)


def own_groups(groups: Iterable[NodePlan]) -> tuple[NodeGroupPlan, ...]:
    """Return the node groups of AWS. All groups of a plan on AWS are its own; this only narrows their type."""
    return tuple(group for group in groups if isinstance(group, NodeGroupPlan))


def with_internal_balancers(fleet: Fleet, seconds: BalancerSeconds | None = None) -> Fleet:
    """Return the fleet with internal load balancers for models, unless their manifests say otherwise.

    On AWS a Service of type LoadBalancer is otherwise public, and engines have no authentication.
    """
    items = []
    for item in fleet.rendered:
        if any(endpoint.has_own_balancer for endpoint in item.endpoints):
            endpoints = tuple(_with_internal_balancer(endpoint, seconds) for endpoint in item.endpoints)
            item = replace(item, endpoints=endpoints)
        items.append(item)
    return replace(fleet, rendered=tuple(items))


def _with_internal_balancer(endpoint: Endpoint, seconds: BalancerSeconds | None) -> Endpoint:
    body = endpoint.body
    if body is None or not is_balanced(body):
        return endpoint
    metadata = body["metadata"]
    ours = load_balancer_annotations(internal=True, seconds=seconds, tcp_ports=tcp_ports(body["spec"]))
    annotations = {**ours, **metadata.get("annotations", {})}
    return replace(endpoint, body={**body, "metadata": {**metadata, "annotations": annotations}})
