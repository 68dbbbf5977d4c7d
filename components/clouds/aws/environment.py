"""An environment on AWS: what of it decides about models, and what only AWS can say of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ...contract.clock import OLD_AFTER_MONTHS, months_before
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.endpoints import Endpoint
from ...fleet.instances import Instance, instance
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.objects import Object, is_balanced, tcp_ports
from ...fleet.rendered import Fleet, Rendered
from .facts.releases import addons_date, image_date, image_release
from .images import RegistryCache
from .names import (
    EFA_RESOURCE,
    LOAD_BALANCER_CONTROLLER,
    NEURON_RESOURCE,
    BalancerSeconds,
    load_balancer_annotations,
)
from .nodes.autoscaler import EXPANDER
from .nodes.balanced import check_balanced_zones
from .nodes.checks import check_nodes
from .nodes.fabric import with_efa
from .nodes.plan import NodeEnvironment, NodeGroupPlan, node_plan
from .nodes.pools.general import largest
from .nodes.pools.rules import NODE_REPAIR, SPOT_TO_SPOT, features
from .storage.checks import check_cache_zone
from .storage.classes import ENCRYPTED_CLASS, VOLUME_DRIVER
from .versions import check_version
from .words import Provisioner, Support


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
    image_cache: RegistryCache | None = None
    addresses: int | None = None
    system_zones: tuple[str, ...] = ()

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


def adapted(fleet: Fleet, aws: AwsEnvironment, seconds: BalancerSeconds | None = None) -> Fleet:
    """Return the fleet as it runs on AWS: with load balancers inside, and EFA where the environment has it.

    Args:
        fleet: What is rendered.
        aws: The environment.
        seconds: What load balancers are told of time; None for AWS's defaults.
    """
    inside = kept_inside(fleet, seconds)
    return with_efa(inside, aws.nodes.nodes) if aws.nodes and aws.renders else inside


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


def plan_nodes(fleet: Fleet, aws: AwsEnvironment, file: str) -> tuple[tuple[NodeGroupPlan, ...], list[Problem]]:
    """Return the node groups of a fleet, and what is wrong with them or with the cluster's version."""
    if aws.nodes is None:
        return (), []
    groups = node_plan(fleet, aws.nodes)
    problems = list(check_nodes(fleet, groups, aws.nodes))
    problems += check_cache_zone(groups, aws.cache_zone, file)
    problems += check_ages(aws, file)
    if not aws.existing or aws.version_named:
        support = None if aws.existing else aws.support
        problems += check_version(aws.nodes.version, aws.nodes.now.date(), file, "cluster.version", support)
    return groups, problems


def check_balancers(
    fleet: Fleet, groups: Iterable[NodeGroupPlan], aws: AwsEnvironment, *, every_model: bool, gateway: bool
) -> Iterator[Problem]:
    """Warn of nodes that load balancers may not reach; see :func:`.nodes.balanced.check_balanced_zones`."""
    if aws.nodes is not None:
        zones, system = aws.control_plane_zones, aws.system_zones
        yield from check_balanced_zones(
            fleet, groups, aws.nodes, zones, system, every_model=every_model, gateway=gateway
        )


def check_ages(aws: AwsEnvironment, file: str) -> Iterator[Problem]:
    """Warn of pinned node images and add-ons that are older than six months, all in one finding.

    Releases that settings name are a choice, and not reported.
    """
    nodes = aws.nodes
    if nodes is None:
        return
    oldest = months_before(nodes.now.date(), OLD_AFTER_MONTHS)
    old = []
    pinned = image_release(nodes.image, nodes.version)
    if not nodes.ami_release and pinned and image_date(nodes.image) < oldest:
        old.append(f"the image {nodes.image} {pinned} ({image_date(nodes.image)}) of the nodes")
    if not aws.existing and addons_date() < oldest:
        old.append(f"the EKS add-ons ({addons_date()})")
    if old:
        reason = (
            f"{' and '.join(old)} are older than six months; use a newer release of this package, or set "
            "gpuNodes.amiRelease and cluster.addons to newer ones"
        )
        yield Problem(file, 0, "", "", "cluster.addons", reason, Severity.WARNING, rule=RuleId.RELEASE_OLD)


def check_bounds(
    groups: Iterable[NodeGroupPlan], aws: AwsEnvironment, file: str, *, installed: bool
) -> Iterator[Problem]:
    """Report sizes that no autoscaler of the plan keeps: EKS gets none (:mod:`.nodes.sizes`).

    Args:
        groups: The node groups.
        aws: The environment.
        file: File of the settings, for messages.
        installed: Whether the Cluster Autoscaler is installed here, with these sizes.
    """
    if aws.nodes is None or installed:
        return
    if aws.nodes.provisioner == Provisioner.KARPENTER:
        if aws.system_scales:
            reason = (
                "is for the Cluster Autoscaler, but Karpenter makes the nodes of this environment; remove it and set "
                "gpuNodes.generalPool, or set provisioner: managed"
            )
            yield Problem(file, 0, "", "", "cluster.systemNodesMax", reason, rule=RuleId.SETTINGS)
        return
    bounded = [group.name for group in groups if group.bounds]
    bounded += ["the system"] if aws.system_scales else []
    if bounded:
        reason = (
            f"the fewest and the most nodes of {', '.join(bounded)} are kept by the Cluster Autoscaler, which is not "
            "installed here: without them it may add up to 450 nodes to a group, whatever the plan says, and in any "
            "order; pass the output nodeGroupBounds to its chart as autoscalingGroups instead of autoDiscovery, with "
            f"enforce-node-group-min-size, and nodeGroupPriorities as expanderPriorities with expander: {EXPANDER}"
        )
        yield Problem(file, 0, "", "", "prerequisites", reason, Severity.WARNING, rule=RuleId.NODES_UNSCALED)


def check_features(aws: AwsEnvironment, groups: Iterable[NodeGroupPlan]) -> Iterator[Problem]:
    """Warn of settings that take effect only if whoever installs Karpenter turns its features on."""
    if aws.nodes is None:
        return
    keys = {NODE_REPAIR: ("nodeRepair",), SPOT_TO_SPOT: ("disruption", "spotToSpot")}
    for feature in aws.features(groups):
        reason = (
            f"has no effect unless Karpenter is installed with settings.featureGates.{feature}: true, and "
            "prerequisites do not install it"
        )
        yield aws.nodes.place.problem(
            keys.get(feature, ("scaleToZero",)), reason, Severity.WARNING, rule=RuleId.NODES_UNSCALED
        )


def charts_needed(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Yield the charts that models need on AWS alone, each with the resource that needs it."""
    for item in fleet.rendered:
        if any(endpoint.has_own_balancer for endpoint in item.endpoints):
            yield LOAD_BALANCER_CONTROLLER, item.title


def device_charts(group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
    """Yield the charts that make usable what only nodes of AWS have, each with what needs it."""
    node = instance(group.instance_type)
    if node and node.accelerator_resource == NEURON_RESOURCE:
        yield "neuron-device-plugin", f"nodes {group.name}"
    if group.efa:
        yield "efa-device-plugin", f"{EFA_RESOURCE} on nodes {group.name}"


def check_volumes(fleet: Fleet, aws: AwsEnvironment, others: tuple[str, ...], file: str) -> Iterator[Problem]:
    """Report claims that a cluster created here cannot provision: they and their pods would stay Pending.

    Where volumes are provisioned by a storage class that is not made here, whether they are encrypted is not known.

    Args:
        fleet: What is rendered.
        aws: The environment.
        others: Who else asks for a volume, in words.
        file: File of the settings, for messages.
    """
    claims = {
        f"{body['kind']}/{body['metadata']['name']} in namespace {item.namespace}": body["spec"]
        for item in fleet.rendered
        for body in item.objects
        if body["kind"] == "PersistentVolumeClaim"
    }
    claims |= {claim: {} for claim in others}
    if aws.existing or VOLUME_DRIVER in aws.addons:
        ours = (ENCRYPTED_CLASS,) if aws.existing else (None, ENCRYPTED_CLASS)
        unknown = [
            name
            for name, spec in claims.items()
            if not spec.get("volumeName") and spec.get("storageClassName") not in ours
        ]
        if unknown:
            reason = (
                f"whether the volumes of {', '.join(unknown)} are encrypted is not checked: their storage class is "
                'not made here; give it the parameter encrypted: "true", or switch on EBS encryption by default for '
                "the account in this region"
            )
            warning = Severity.WARNING
            yield Problem(file, 0, "", "", "cluster", reason, warning, rule=RuleId.STORAGE_ENCRYPTION_UNCHECKED)
    elif claims:
        reason = (
            f'{", ".join(claims)} will stay Pending, because no add-on provisions volumes; add {VOLUME_DRIVER}: ""'
        )
        yield Problem(file, 0, "", "", "cluster.addons", reason, rule=RuleId.STORAGE_UNPROVISIONED)
