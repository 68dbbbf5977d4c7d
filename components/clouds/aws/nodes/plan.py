"""From the demand of the models to node groups, in EKS's words and with everything that is wrong with them.

The plan is the same for managed node groups and for Karpenter; each takes from it what it has words for.
"""

import datetime
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ....fleet.instances import Instance, instance
from ....fleet.nodes.groups import NodeGroupDemand, node_groups
from ....fleet.nodes.policy import RESERVED, Capacity, NodePolicy, Reservation, TypePolicy
from ....fleet.objects import Object
from ....fleet.rendered import Fleet
from ..facts.eks import ami_type, limits, system_ami_type
from ..words import NodeImage, Provisioner
from .autoscaler import Bounds, autoscaler_tags
from .labels import capacity_type, cloud_labels, own_labels
from .launch import Boot, Disk, Interface, disk, interfaces, pulls_fast
from .pool_rules import PoolRules
from .releases import eks_release, karpenter_release
from .settings_location import SettingsLocation
from .sizes import CapacityBlock, block_of, sizes_of
from .user_data import Start

_API_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}


@dataclass(frozen=True, slots=True)
class NodeEnvironment:
    """Where nodes are made, and how.

    Attributes:
        zones: Availability zones of nodes for which no others are named.
        selectable: Zones that flavors may select; empty for those.
        subnets: Zones with a private subnet, which settings of instance types may name; empty for those as well.
        version: Kubernetes version of the cluster.
        now: The moment against which reservations and support dates are held.
        boot: How nodes start.
        scale_to_zero: Whether groups may be empty. Otherwise one node stays for each group that models prefer.
        quotas: vCPUs that the account may run, by quota code; what is not named is not checked.
        ami_release: Release of the images; empty for the pinned one.
        force_update: Whether updates replace nodes whose pods a disruption budget keeps.
        system_vcpus: vCPUs of the on-demand nodes for the cluster's own pods; 0 where others make them.
        node_repair: Whether nodes that stay unhealthy are replaced.
        pools: What is said about Karpenter's pools alone.
        place: Where these settings are written, for messages.
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


@dataclass(frozen=True, slots=True)
class NodeGroupPlan:
    """One node group, ready to be registered.

    Attributes:
        name: Stable name; the same for the same need in every run.
        id: The name with a digest of what cannot be changed in place, so that a replacement gets a new name.
        instance_types: First the flavor's, then what may be taken instead.
        ami_type: EKS's image; None with an image of one's own.
        capacity_type: ``ON_DEMAND``, ``SPOT`` or ``CAPACITY_BLOCK``.
        zones: Availability zones of its nodes.
        labels: Labels that the group sets.
        node_labels: All labels that its nodes will have, as far as known.
        taints: In the spelling of the EKS API.
        minimum: Nodes that stay.
        maximum: Nodes that there may be: what costs, checks and quotas count with, and what the autoscaler keeps.
        tags: Tags of the Auto Scaling group by which the Cluster Autoscaler knows the group at zero nodes.
        interfaces: Network interfaces; empty without EFA.
        start: What its nodes are told first.
        update_strategy: ``MINIMAL`` where no spare capacity can be had.
        release: Release of the image, in the words of whoever makes the nodes; empty for EKS's newest.
        force_update: Whether updates replace nodes whose pods a disruption budget keeps.
        blocks: The Capacity Blocks that its nodes come out of, first the reservation.
        former: Name that the group had before each Capacity Block got a group of its own; empty for others.
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

    @property
    def autoscaled(self) -> bool:
        """Whether the autoscaler owns its size. The nodes of a Capacity Block are paid for: all of them stay."""
        return self.demand.capacity != Capacity.CAPACITY_BLOCK

    @property
    def bounds(self) -> Bounds | None:
        """The sizes that the autoscaler keeps; None for a group that it leaves alone."""
        return Bounds(self.minimum, self.maximum, self.demand.level) if self.autoscaled else None

    @property
    def held(self) -> tuple[Reservation, ...]:
        """Reserved capacity that is paid for whether or not nodes use it, of Capacity Blocks the first one first."""
        if self.blocks:
            return tuple(block.reservation for block in self.blocks)
        return (self.reservation,) if self.reservation else ()

    @property
    def reserved(self) -> bool:
        """Whether its nodes come out of a reservation."""
        return self.demand.capacity in RESERVED


def of_blocks(plan: NodeGroupPlan) -> tuple[NodeGroupPlan, ...]:
    """Return a managed node group for each Capacity Block of a plan; others are one group as they are.

    Each has a name of its own: the group of the next block is made while the one before still runs, and EKS schedules
    the end of a block when a group is made for it (EKS user guide, "Create a managed node group with Capacity Blocks
    for ML"); that it does so for a block that a new version of the launch template names is nowhere documented.
    """
    each = [
        replace(
            plan,
            name=f"{plan.name}-{block.reservation.id.removeprefix('cr-')}",
            id=_block_id(plan, block.reservation),
            zones=(block.reservation.zone,),
            maximum=block.reservation.count,
            reservation=block.reservation,
            blocks=(block,),
            former="" if index else plan.name,
        )
        for index, block in enumerate(plan.blocks)
    ]
    return tuple(each) or (plan,)


def _block_id(plan: NodeGroupPlan, block: Reservation) -> str:
    """Name the group of a block for EKS, whichever other blocks there are."""
    facts = (plan.instance_types, plan.ami_type, plan.demand.capacity, block.zone, block.id)
    return _digested(plan.demand.name, facts)


def node_plan(fleet: Fleet, environment: NodeEnvironment) -> tuple[NodeGroupPlan, ...]:
    """Return the node groups that a fleet needs, by name."""
    return group_plans(node_groups(fleet, environment.nodes), environment)


def group_plans(
    demands: Iterable[NodeGroupDemand], environment: NodeEnvironment, cap: int | None = None
) -> tuple[NodeGroupPlan, ...]:
    """Return the node groups in EKS's words.

    What cannot be is left out or cut to what can; :mod:`.checks` says what and why.

    Args:
        demands: What the nodes are for.
        environment: Where and how nodes are made.
        cap: Most nodes of a group for which settings name no maximum, where no models say what they need.
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
    root, start = _boot(demand, node, rule, environment)
    return NodeGroupPlan(
        name=demand.name,
        id=_id(demand, types, image, zones),
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
        taints=tuple({**taint, "effect": _API_EFFECTS[taint["effect"]]} for taint in demand.taints),
        tags=autoscaler_tags(demand, on_node),
        interfaces=interfaces(node) if demand.efa else (),
        placement_group=rule.placement_group,
        reservation=rule.reservation if demand.capacity in RESERVED else None,
        disk=root,
        start=start,
        update_strategy="MINIMAL" if demand.capacity in RESERVED else "DEFAULT",
        release="" if rule.ami_id else release_of(environment),
        force_update=environment.force_update,
        blocks=tuple(block_of(held, environment.now) for held in _blocks(demand, rule)),
    )


def image_of(node: Instance, image: NodeImage) -> str | None:
    """Return the ``amiType`` of an instance type, None where AWS has no image for it."""
    return ami_type(node, image) if node.accelerators else system_ami_type(node, image)


def _boot(
    demand: NodeGroupDemand, node: Instance, rule: TypePolicy, environment: NodeEnvironment
) -> tuple[Disk, Start]:
    boot = environment.boot
    root = disk(node, environment.image, boot)
    by_karpenter = environment.provisioner == Provisioner.KARPENTER
    fast = pulls_fast(node, environment.image, root, boot, own_image=bool(rule.ami_id), by_karpenter=by_karpenter)
    return root, Start.of(node, demand.pods, fast_image_pull=fast, extra=boot.user_data)


def release_of(environment: NodeEnvironment) -> str:
    """Return the release of the nodes' image, in the words of who makes them; empty for EKS's newest."""
    named = karpenter_release if environment.provisioner == Provisioner.KARPENTER else eks_release
    return named(environment.image, environment.version, environment.ami_release)


def _zones(demand: NodeGroupDemand, rule: TypePolicy, environment: NodeEnvironment) -> tuple[str, ...]:
    if demand.zone:
        return (demand.zone,)
    if rule.reservation and demand.capacity in RESERVED:
        return tuple(dict.fromkeys(each.zone for each in _blocks(demand, rule) or (rule.reservation,)))
    return rule.zones or environment.zones


def _blocks(demand: NodeGroupDemand, rule: TypePolicy) -> tuple[Reservation, ...]:
    """Return the Capacity Blocks of a group; pods that select a zone cannot use those of other zones."""
    if demand.capacity != Capacity.CAPACITY_BLOCK or rule.reservation is None:
        return ()
    return (rule.reservation, *(block for block in rule.next_blocks if demand.zone in (None, block.zone)))


def _id(demand: NodeGroupDemand, types: tuple[str, ...], image: str | None, zones: tuple[str, ...]) -> str:
    """Name a group for EKS: what is part of the digest cannot be changed without a new group."""
    return _digested(demand.name, (types, image, demand.capacity, zones))


def _digested(name: str, facts: tuple[object, ...]) -> str:
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:6]
    return f"{name[: limits().name - 7]}-{digest}"
