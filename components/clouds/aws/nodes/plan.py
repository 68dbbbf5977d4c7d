"""Turn node demand into plans for node groups, in the terms of EKS.

Managed node groups and Karpenter pools use the same plan; each ignores the fields that it has no equivalent for.
"""

import datetime
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ....fleet.instances import Instance, instance
from ....fleet.nodes.availability import nodes_at_once
from ....fleet.nodes.groups import NodeGroupDemand, node_groups
from ....fleet.nodes.policy import RESERVED, Capacity, NodePolicy, Reservation, TypePolicy
from ....fleet.nodes.replacement import NodeReplacement, NodeSource
from ....fleet.objects import Object
from ....fleet.rendered import Fleet
from ..facts.eks import ami_type, limits, system_ami_type
from ..facts.waits import longest_update
from ..words import NodeImage, Provisioner
from .autoscaler import Bounds, autoscaler_tags
from .disks import with_resource_tags
from .labels import capacity_type, cloud_labels, own_labels
from .launch import Boot, Disk, Interface, disk, interfaces, pulls_fast
from .owned import API_EFFECTS, OwnedGroup
from .pool_rules import Disruption, PoolRules
from .releases import eks_release, karpenter_release
from .replacement import node_replacement, node_sources
from .settings_location import SettingsLocation
from .sizes import CapacityBlock, block_of, sizes_of
from .user_data import Start

_NO_DRIFT = '[{nodes: "0", reasons: [Drifted]}, {nodes: "1"}]'
"""Budgets of pools in which Karpenter replaces no drifted node."""
_GENERATION = 13
"""Length of a generation's name to which a suffix of two characters can be added."""


@dataclass(frozen=True, slots=True)
class NodeEnvironment:
    """Node settings of a cluster on AWS.

    Attributes:
        zones: Default availability zones of nodes.
        selectable: Zones that flavors may select; empty for ``zones``.
        subnets: Zones with a private subnet, which settings of instance types may name; empty for ``zones``.
        version: Kubernetes version of the cluster.
        now: Reference time for reservations and support dates.
        boot: Disk and boot settings.
        scale_to_zero: Whether groups may be empty. Otherwise groups that models prefer keep one node.
        quotas: vCPU quotas of the account by code; quotas without a value are not checked.
        ami_release: Release of the images; empty for the pinned one.
        force_update: Whether updates replace nodes even if a disruption budget protects their pods.
        system_vcpus: vCPUs of the on-demand nodes for system pods; 0 if they are managed elsewhere.
        node_repair: Whether nodes that stay unhealthy are replaced.
        pools: Settings of Karpenter pools.
        place: Location of these settings, for messages.
        owned: Existing node groups that the stack owns, by instance type.
    """

    region: str
    zones: tuple[str, ...]
    version: str
    now: datetime.datetime
    nodes: NodePolicy = field(default_factory=NodePolicy)
    provisioner: Provisioner = Provisioner.MANAGED
    image: NodeImage = NodeImage.AL2023
    boot: Boot = field(default_factory=Boot)
    scale_to_zero: bool = True
    quotas: Mapping[str, int] = field(default_factory=dict)
    ami_release: str = ""
    force_update: bool = False
    system_vcpus: int = 0
    node_repair: bool = False
    pools: PoolRules = field(default_factory=PoolRules)
    place: SettingsLocation = field(default_factory=SettingsLocation)
    selectable: tuple[str, ...] = ()
    subnets: tuple[str, ...] = ()
    owned: Mapping[str, tuple[OwnedGroup, ...]] = field(default_factory=dict)

    @property
    def owned_groups(self) -> tuple[OwnedGroup, ...]:
        """The existing node groups that the stack owns."""
        return tuple(group for groups in self.owned.values() for group in groups)


@dataclass(frozen=True, slots=True)
class NodeGroupPlan:
    """One node group, ready to be registered.

    Attributes:
        name: Stable name, which depends only on the demand.
        id: The name with a digest of the immutable properties, so that a replacement gets a new name.
        instance_types: The flavor's type, then its alternatives.
        ami_type: EKS image type; None with a custom image.
        capacity_type: ``ON_DEMAND``, ``SPOT`` or ``CAPACITY_BLOCK``.
        zones: Availability zones of its nodes.
        labels: Labels that the group sets.
        node_labels: All known labels of its nodes.
        taints: Taints in the spelling of the EKS API.
        minimum: Minimum size.
        maximum: Maximum size, which the autoscaler, costs, checks and quotas use.
        tags: Tags of the Auto Scaling group that describe an empty group to the Cluster Autoscaler.
        interfaces: Network interfaces; empty without EFA.
        start: Settings in the user data of its nodes.
        update_strategy: ``MINIMAL`` on reserved capacity, where no surge nodes are available.
        release: Release of the image, as the provisioner spells it; empty for EKS's newest.
        force_update: Whether updates replace nodes even if a disruption budget protects their pods.
        blocks: The Capacity Blocks of its nodes, the reservation first.
        former: Name of the group before each Capacity Block got its own group; empty for other groups.
        existing: Names of existing node groups or pools with these nodes, which are not created then.
        provisioner: What launches its nodes.
        owned: Those of the existing groups that the stack owns.
        disruption: When Karpenter replaces its nodes.
        version: Kubernetes version of its nodes.
        max_unavailable: Nodes that an update may make unavailable at once.
        move: Setting with which its pods move to another group before it is deleted; empty for existing groups.
        hold: Setting with which Karpenter replaces none of its nodes.
    """

    name: str
    id: str
    demand: NodeGroupDemand
    node: Instance
    instance_types: tuple[str, ...]
    ami_type: str | None
    ami_id: str | None
    image: NodeImage
    capacity_type: str
    zones: tuple[str, ...]
    minimum: int
    maximum: int
    labels: Mapping[str, str]
    node_labels: Mapping[str, str]
    taints: tuple[Object, ...]
    tags: Mapping[str, str]
    interfaces: tuple[Interface, ...]
    placement_group: bool
    reservation: Reservation | None
    disk: Disk
    start: Start
    update_strategy: str
    release: str = ""
    force_update: bool = False
    blocks: tuple[CapacityBlock, ...] = ()
    former: str = ""
    existing: tuple[str, ...] = ()
    provisioner: Provisioner = Provisioner.MANAGED
    owned: tuple[OwnedGroup, ...] = ()
    disruption: Disruption = field(default_factory=Disruption)
    version: str = ""
    max_unavailable: int = 1
    move: str = ""
    hold: str = ""

    @property
    def sources(self) -> tuple[NodeSource, ...]:
        """The resources that its nodes come from."""
        return tuple(node_sources(self, of_blocks(self)))

    @property
    def replacement(self) -> NodeReplacement:
        """How its nodes are replaced one after another."""
        return node_replacement(self)

    @property
    def autoscaled(self) -> bool:
        """Whether the autoscaler owns its size; the nodes of a Capacity Block are prepaid, so all of them stay."""
        return self.demand.capacity != Capacity.CAPACITY_BLOCK

    @property
    def bounds(self) -> Bounds | None:
        """The bounds that the autoscaler enforces; None for a group that it does not scale."""
        return Bounds(self.minimum, self.maximum, self.demand.level) if self.autoscaled else None

    @property
    def longest_update(self) -> int:
        """Seconds of an update that replaces all its nodes, at most; 0 if Karpenter replaces them by itself."""
        if self.existing or self.provisioner != Provisioner.MANAGED:
            return 0
        return longest_update(self.maximum, self.max_unavailable)

    @property
    def held(self) -> tuple[Reservation, ...]:
        """Reserved capacity that is billed whether or not it is used; Capacity Blocks in order."""
        if self.blocks:
            return tuple(block.reservation for block in self.blocks)
        return (self.reservation,) if self.reservation else ()

    @property
    def reserved(self) -> bool:
        """Whether its nodes use reserved capacity."""
        return self.demand.capacity in RESERVED


def of_blocks(plan: NodeGroupPlan) -> tuple[NodeGroupPlan, ...]:
    """Split a plan into one managed node group per Capacity Block; other plans are returned unchanged.

    Each group has its own name, because the group of the next block is created while the previous one still runs. EKS
    schedules the end of a block when it creates a group for it (EKS user guide, "Create a managed node group with
    Capacity Blocks for ML"); that it also does so when an update names another block is not documented.
    """
    groups = []
    for index, block in enumerate(plan.blocks):
        held = block.reservation
        # The EKS name must not depend on the other blocks, so that adding or removing one keeps this group.
        facts = (plan.instance_types, plan.ami_type, plan.demand.capacity, held.zone, held.id)
        groups.append(
            replace(
                plan,
                name=f"{plan.name}-{held.id.removeprefix('cr-')}",
                id=_digested(plan.demand.name, facts),
                zones=(held.zone,),
                maximum=held.count,
                reservation=held,
                blocks=(block,),
                former="" if index else plan.name,
            )
        )
    return tuple(groups) or (plan,)


def created(groups: Iterable[NodeGroupPlan]) -> tuple[NodeGroupPlan, ...]:
    """Return the node groups that are to be created, without those that exist."""
    return tuple(group for group in groups if not group.existing)


def node_plan(fleet: Fleet, environment: NodeEnvironment) -> tuple[NodeGroupPlan, ...]:
    """Return the node groups that a fleet needs, by name."""
    groups = group_plans(node_groups(fleet, environment.nodes), environment)
    return tuple(
        replace(
            group,
            max_unavailable=nodes_at_once(fleet, group.demand, environment.nodes, _most_at_once(group)),
            tags=with_resource_tags(group, fleet, environment),
        )
        for group in groups
    )


def _most_at_once(group: NodeGroupPlan) -> int:
    return min(group.maximum, limits().unavailable_nodes)


def group_plans(
    demands: Iterable[NodeGroupDemand], environment: NodeEnvironment, cap: int | None = None
) -> tuple[NodeGroupPlan, ...]:
    """Return the plans of node groups.

    Invalid settings are omitted or reduced to valid ones; :mod:`.checks` reports them.

    Args:
        demands: Demand for nodes.
        environment: Node settings.
        cap: Maximum size of groups without ``max_nodes``, if no models determine it.
    """
    return tuple(
        _plan(demand, node, environment, cap)
        for demand in demands
        if (node := instance(demand.instance_type)) is not None
    )


def _plan(demand: NodeGroupDemand, node: Instance, environment: NodeEnvironment, cap: int | None) -> NodeGroupPlan:
    rule = environment.nodes.of(demand.instance_type)
    demand = replace(demand, efa=(demand.efa or rule.efa) and node.fabric_interfaces > 0)
    known = cloud_labels(node, demand.capacity, demand.zone, environment.region, environment.provisioner)
    own = own_labels(demand, node, known)
    on_node = dict(sorted({**demand.labels, **own}.items()))
    zones = _zones(demand, rule, environment)
    types = (node.name, *demand.alternatives)
    image = None if rule.ami_id else image_of(node, environment.image)
    sizes = sizes_of(demand, rule, cap=cap, scale_to_zero=environment.scale_to_zero)
    boot = environment.boot
    root = disk(node, environment.image, boot)
    by_karpenter = environment.provisioner == Provisioner.KARPENTER
    fast = pulls_fast(node, environment.image, root, boot, own_image=bool(rule.ami_id), by_karpenter=by_karpenter)
    return NodeGroupPlan(
        name=demand.name,
        # A digest of the properties whose change requires a new group.
        id=_digested(demand.name, (types, image, demand.capacity, zones)),
        demand=demand,
        node=node,
        instance_types=types,
        ami_type=image,
        ami_id=rule.ami_id,
        image=environment.image,
        capacity_type=capacity_type(demand.capacity),
        zones=zones,
        minimum=sizes.minimum,
        maximum=sizes.maximum,
        labels=own,
        node_labels=on_node,
        taints=tuple({**taint, "effect": API_EFFECTS[taint["effect"]]} for taint in demand.taints),
        tags=autoscaler_tags(demand, on_node),
        interfaces=interfaces(node) if demand.efa else (),
        placement_group=rule.placement_group,
        reservation=rule.reservation if demand.capacity in RESERVED else None,
        disk=root,
        start=Start.of(node, demand.pods, fast_image_pull=fast, extra=boot.user_data),
        update_strategy="MINIMAL" if demand.capacity in RESERVED else "DEFAULT",
        release="" if rule.ami_id else release_of(environment),
        force_update=environment.force_update,
        blocks=tuple(block_of(held, environment.now) for held in _blocks(demand, rule)),
        existing=rule.existing_groups,
        provisioner=environment.provisioner,
        owned=environment.owned.get(node.name, ()),
        disruption=environment.pools.disruption,
        version=environment.version,
        move="" if rule.existing_groups else _move(node.name, rule, environment.place),
        hold=f"{environment.place.path('disruption', 'budgets')}: {_NO_DRIFT}",
    )


def _move(name: str, rule: TypePolicy, place: SettingsLocation) -> str:
    """Return the setting that makes the pods of an instance type select another group."""
    return f"{place.path('types', name, 'generation')}: {next_generation(rule.generation)}"


def next_generation(current: str) -> str:
    """Return a name for the generation after one: ``b`` for nodes without a name, which are the first."""
    if len(current) == 1 and "a" <= current < "z":
        return chr(ord(current) + 1)
    return f"{current[:_GENERATION]}-b" if current else "b"


def image_of(node: Instance, image: NodeImage) -> str | None:
    """Return the ``amiType`` of an instance type; None if AWS has no image for it."""
    return ami_type(node, image) if node.accelerators else system_ami_type(node, image)


def release_of(environment: NodeEnvironment) -> str:
    """Return the release of the node image, as the provisioner spells it; empty for EKS's newest."""
    release = karpenter_release if environment.provisioner == Provisioner.KARPENTER else eks_release
    return release(environment.image, environment.version, environment.ami_release)


def _zones(demand: NodeGroupDemand, rule: TypePolicy, environment: NodeEnvironment) -> tuple[str, ...]:
    if demand.zone:
        return (demand.zone,)
    if rule.reservation and demand.capacity in RESERVED:
        return tuple(dict.fromkeys(reservation.zone for reservation in _blocks(demand, rule) or (rule.reservation,)))
    return rule.zones or environment.zones


def _blocks(demand: NodeGroupDemand, rule: TypePolicy) -> tuple[Reservation, ...]:
    """Return the Capacity Blocks of a group; pods that select a zone cannot use blocks in other zones."""
    if demand.capacity != Capacity.CAPACITY_BLOCK or rule.reservation is None:
        return ()
    return (rule.reservation, *(block for block in rule.next_blocks if demand.zone in (None, block.zone)))


def _digested(name: str, facts: tuple[object, ...]) -> str:
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:6]
    return f"{name[: limits().name - 7]}-{digest}"
