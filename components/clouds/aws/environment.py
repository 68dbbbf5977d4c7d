"""An environment on AWS: see :class:`~..fleet.cloud.Cloud`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ...contract.clock import OLD_AFTER_MONTHS, months_before
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.cloud import NodePlan
from ...fleet.endpoints import Endpoint
from ...fleet.images import PullThroughCache
from ...fleet.instances import Instance
from ...fleet.load_balancers import BalancerSeconds
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.nodes.policy import NodePolicy
from ...fleet.objects import Object, is_balanced, tcp_ports
from ...fleet.rendered import Fleet, Rendered
from .facts.releases import addons_date, image_date, image_release
from .load_balancers import load_balancer_annotations
from .names import EFA_COST, LOAD_BALANCER_CONTROLLER
from .nodes.autoscaler import EXPANDER
from .nodes.balanced import check_balanced_zones
from .nodes.checks import check_nodes
from .nodes.fabric import with_efa
from .nodes.karpenter import largest
from .nodes.plan import NodeEnvironment, NodeGroupPlan, node_plan
from .nodes.pool_rules import NODE_REPAIR, SPOT_TO_SPOT, features
from .provider import AWS, Aws
from .storage.checks import check_cache_zone
from .storage.volumes import ENCRYPTED_CLASS, VOLUME_DRIVER
from .subnets import range_of
from .traffic import image_passes_gateway, weights_pass_gateway
from .versions import check_version
from .words import Provisioner, Support

CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
"""The charts that scale nodes of EKS."""


@dataclass(frozen=True, slots=True)
class AwsEnvironment:
    """One environment on AWS.

    Attributes:
        nodes: Where and how nodes are made; None where others make them.
        existing: Whether the cluster is there already.
        support: What happens when standard support for the version ends; of an existing cluster it is not known.
        version_named: Whether somebody named the version of an existing cluster; otherwise it is assumed, and its
            support is not checked.
        addons: Names of the EKS add-ons that are asked for.
        cidr: Range of the VPC, as far as it is known.
        system_types: Instance types of the nodes without taints on which the cluster's own pods run.
        control_plane_zones: Zones of the control plane, as far as they are named.
        system_zones: Zones of the system nodes, where they are not those of the control plane.
        cache_zone: Zone of the file system in which weights are kept, if it is in one.
        renders: Whether the models are made as they are rendered here; otherwise other programs make them.
        system_scales: Whether the Cluster Autoscaler is to size these nodes.
        image_cache: The registry that images are pulled by way of; None where they are pulled from where they are.
        addresses: How many addresses the nodes have on the internet, those of NAT gateways; None where that is not
            known.
    """

    region: str
    nodes: NodeEnvironment | None = None
    existing: bool = False
    support: Support = Support.STANDARD
    version_named: bool = False
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

    provider: ClassVar[Aws] = AWS
    # EKS has the admission plugin in every version since 1.19 (aws/containers-roadmap issue 739).
    tolerates_devices: ClassVar[bool] = True

    @property
    def owns_nodes(self) -> bool:
        """Whether there are no nodes but those that are made for the models and for the cluster itself."""
        return self.nodes is not None and not self.existing

    @property
    def node_policy(self) -> NodePolicy | None:
        """What settings say about nodes; None where others make them."""
        return self.nodes.nodes if self.nodes else None

    @property
    def network(self) -> tuple[str, ...]:
        """The range of the VPC, as far as it is known and one."""
        known = range_of(self.cidr) if self.cidr else None
        return (str(known),) if known else ()

    @property
    def efa_types(self) -> frozenset[str]:
        """Instance types whose nodes have their EFA interfaces whether or not a pod asks for them."""
        return self.nodes.nodes.efa_types if self.nodes else frozenset()

    def features(self, groups: Iterable[NodeGroupPlan]) -> tuple[str, ...]:
        """Return the features that Karpenter must have for some node groups; none where others make nodes."""
        if self.nodes is None or self.nodes.provisioner != Provisioner.KARPENTER:
            return ()
        return features(groups, self.nodes.pools, node_repair=self.nodes.node_repair)

    @property
    def general_nodes(self) -> Instance | None:
        """The largest nodes that there may be for pods which name no instance type, beside those of the system."""
        pool = self.nodes.pools.general if self.nodes else None
        return largest(pool) if pool else None

    @property
    def alternatives(self) -> Mapping[str, tuple[str, ...]]:
        """Further instance types that pods may run on instead, by instance type."""
        return self.nodes.nodes.alternatives if self.nodes else {}

    @property
    def tolerations(self) -> tuple[Object, ...]:
        """What the models' pods must tolerate of their nodes, beside the taints of accelerators."""
        return self.nodes.nodes.tolerations if self.nodes else ()

    def adapted(self, fleet: Fleet, seconds: BalancerSeconds | None = None) -> Fleet:
        """Return the fleet as it runs on AWS: with load balancers inside, and EFA where the environment has it.

        Args:
            fleet: What is rendered.
            seconds: What load balancers are told of time; None for AWS's defaults.
        """
        inside = kept_inside(fleet, seconds)
        return with_efa(inside, self.nodes.nodes) if self.nodes and self.renders else inside

    def plan_nodes(self, fleet: Fleet, file: str) -> tuple[tuple[NodeGroupPlan, ...], list[Problem]]:
        """Return the node groups of a fleet, and what is wrong with them or with the cluster's version."""
        if self.nodes is None:
            return (), []
        groups = node_plan(fleet, self.nodes)
        problems = list(check_nodes(fleet, groups, self.nodes))
        problems += check_cache_zone(groups, self.cache_zone, file)
        problems += self.check_ages(file)
        if not self.existing or self.version_named:
            support = None if self.existing else self.support
            problems += check_version(self.nodes.version, self.nodes.now.date(), file, "cluster.version", support)
        return groups, problems

    def check_balancers(
        self, fleet: Fleet, groups: Sequence[NodePlan], *, every_model: bool, gateway: bool
    ) -> Iterator[Problem]:
        """Warn of nodes that load balancers may not reach; see :func:`.nodes.balanced.check_balanced_zones`."""
        if self.nodes is not None:
            zones, system = self.control_plane_zones, self.system_zones
            yield from check_balanced_zones(
                fleet, own_groups(groups), self.nodes, zones, system, every_model=every_model, gateway=gateway
            )

    def check_ages(self, file: str) -> Iterator[Problem]:
        """Warn of pinned node images and add-ons that are older than six months, all in one finding.

        Releases that settings name are a choice, and not reported.
        """
        nodes = self.nodes
        if nodes is None:
            return
        oldest = months_before(nodes.now.date(), OLD_AFTER_MONTHS)
        old = []
        pinned = image_release(nodes.image, nodes.version)
        if not nodes.ami_release and pinned and image_date(nodes.image) < oldest:
            old.append(f"the image {nodes.image} {pinned} ({image_date(nodes.image)}) of the nodes")
        if not self.existing and addons_date() < oldest:
            old.append(f"the EKS add-ons ({addons_date()})")
        if old:
            reason = (
                f"{' and '.join(old)} are older than six months; use a newer release of this package, or set "
                "gpuNodes.amiRelease and cluster.addons to newer ones"
            )
            yield Problem(file, 0, "", "", "cluster.addons", reason, Severity.WARNING, rule=RuleId.RELEASE_OLD)

    def check_scaling(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Report sizes that no autoscaler of the plan keeps, and features of Karpenter that nothing turns on."""
        if CLUSTER_AUTOSCALER not in installed:
            yield from self._check_bounds(groups, file)
        if {CLUSTER_AUTOSCALER, KARPENTER}.isdisjoint(installed):
            yield from self._check_features(groups)

    def _check_bounds(self, groups: Iterable[NodePlan], file: str) -> Iterator[Problem]:
        """Report sizes that only the Cluster Autoscaler keeps: EKS gets none (:mod:`.nodes.sizes`)."""
        if self.nodes is None:
            return
        if self.nodes.provisioner == Provisioner.KARPENTER:
            if self.system_scales:
                reason = (
                    "is for the Cluster Autoscaler, but Karpenter makes the nodes of this environment; remove it and "
                    "set gpuNodes.generalPool, or set provisioner: managed"
                )
                yield Problem(file, 0, "", "", "cluster.systemNodesMax", reason, rule=RuleId.SETTINGS)
            return
        bounded = [group.name for group in own_groups(groups) if group.autoscaled]
        bounded += ["the system"] if self.system_scales else []
        if bounded:
            reason = (
                f"the fewest and the most nodes of {', '.join(bounded)} are kept by the Cluster Autoscaler, which is "
                "not installed here: without them it may add up to 450 nodes to a group, whatever the plan says, and "
                "in any order; pass the output nodeGroupBounds to its chart as autoscalingGroups instead of "
                "autoDiscovery, with enforce-node-group-min-size, and nodeGroupPriorities as expanderPriorities with "
                f"expander: {EXPANDER}"
            )
            yield Problem(file, 0, "", "", "prerequisites", reason, Severity.WARNING, rule=RuleId.NODES_UNSCALED)

    def _check_features(self, groups: Iterable[NodePlan]) -> Iterator[Problem]:
        """Warn of settings that take effect only if Karpenter is installed with its features turned on."""
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
        """Yield the charts that models need on AWS alone, each with the resource that needs it."""
        for item in fleet.rendered:
            if any(endpoint.has_own_balancer for endpoint in item.endpoints):
                yield LOAD_BALANCER_CONTROLLER, item.title

    def check_volumes(self, fleet: Fleet, others: Sequence[str], file: str) -> Iterator[Problem]:
        """Report claims that a cluster created here cannot provision: they and their pods would stay Pending.

        Where volumes are provisioned by a storage class that is not made here, whether they are encrypted is not
        known.

        Args:
            fleet: What is rendered.
            others: Who else asks for a volume, in words.
            file: File of the settings, for messages.
        """
        claims = {
            f"{body['kind']}/{body['metadata']['name']} in namespace {item.namespace}": body["spec"]
            for item in fleet.rendered
            for body in item.objects
            if body["kind"] == "PersistentVolumeClaim"
        }
        claims |= {
            f"PersistentVolumeClaim/{name} of each pod of {each.kind}/{each.name} in namespace {each.namespace}": spec
            for _, each in fleet.workloads
            if not each.operated
            for name, spec in each.claims.items()
        }
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
                yield Problem(file, 0, "", "", "cluster", reason, warning, rule=RuleId.STORAGE_ENCRYPTION_UNCHECKED)
        elif claims:
            reason = (
                f"{', '.join(claims)} will stay Pending, because no add-on provisions volumes; add "
                f'{VOLUME_DRIVER}: ""'
            )
            yield Problem(file, 0, "", "", "cluster.addons", reason, rule=RuleId.STORAGE_UNPROVISIONED)

    def check_image_cache(self, file: str) -> Iterator[Problem]:
        """Warn of a cache whose first pulls have no way to the internet."""
        if self.image_cache is not None and self.addresses == 0:
            reason = (
                "the first pull of each image fails without a way to the internet: ECR requires one from the subnets "
                "of the nodes then, though later pulls need interface endpoints alone (ECR user guide, "
                "Considerations for using pull through cache); pull each image once from elsewhere, or set "
                "network.natGateways"
            )
            yield Problem(file, 0, "", "", "imageCache", reason, Severity.WARNING, rule=RuleId.IMAGES_FIRST_PULL)

    def cost_notes(self, groups: Iterable[NodeGroupDemand]) -> Iterator[str]:
        """Yield that EFA is free of charge where nodes have it."""
        if any(group.efa for group in groups):
            yield EFA_COST

    def image_passes_gateway(self, reference: str) -> bool:
        """Whether an image is pulled through a NAT gateway; see :mod:`.traffic`."""
        return image_passes_gateway(reference, self.region)

    def weights_pass_gateway(self, address: str) -> bool:
        """Whether weights are fetched through a NAT gateway; see :mod:`.traffic`."""
        return weights_pass_gateway(address)


def own_groups(groups: Iterable[NodePlan]) -> tuple[NodeGroupPlan, ...]:
    """Return node groups with all that AWS knows of them: those of a plan on AWS are all its own."""
    return tuple(group for group in groups if isinstance(group, NodeGroupPlan))


def kept_inside(fleet: Fleet, seconds: BalancerSeconds | None = None) -> Fleet:
    """Return the fleet with load balancers of models in the private network alone, as far as that is ours to say.

    On AWS a Service of type LoadBalancer is open to the internet otherwise, and an engine has no authentication.
    """
    return replace(fleet, rendered=tuple(_inside(item, seconds) for item in fleet.rendered))


def _inside(item: Rendered, seconds: BalancerSeconds | None) -> Rendered:
    if not any(endpoint.has_own_balancer for endpoint in item.endpoints):
        return item
    return replace(item, endpoints=tuple(_behind(endpoint, seconds) for endpoint in item.endpoints))


def _behind(endpoint: Endpoint, seconds: BalancerSeconds | None) -> Endpoint:
    body = endpoint.body
    if body is None or not is_balanced(body):
        return endpoint
    metadata = body["metadata"]
    ours = load_balancer_annotations(internal=True, seconds=seconds, tcp_ports=tcp_ports(body["spec"]))
    annotations = {**ours, **metadata.get("annotations", {})}
    return replace(endpoint, body={**body, "metadata": {**metadata, "annotations": annotations}})
