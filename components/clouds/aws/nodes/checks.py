"""What is wrong with the nodes that a fleet needs, before any is paid for (aws-gpu spec 18)."""

from collections.abc import Iterable, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity, did_you_mean
from ....fleet.instances import Instance, instance, instances
from ....fleet.nodes.fit import NodeRequest, node_requests
from ....fleet.nodes.policy import RESERVED, Capacity, TypePolicy
from ....fleet.rendered import Fleet
from ..facts.eks import is_fractional, limits, no_image
from ..facts.regions import is_withheld, regions, regions_of
from ..words import NodeImage, Provisioner
from .expander import check_order
from .fabric import unused_efa
from .labels import check_marks, cloud_labels, impossible
from .launch import boot_problems
from .pending import pending
from .plan import NodeEnvironment, NodeGroupPlan, image_of
from .pools.rules import WHEN_EMPTY
from .quotas import check_quotas
from .releases import release_problem
from .type_checks import check_types, not_offered
from .user_data import user_data_problem

_Misplaced = tuple[RuleId, str]
_POOLS_WANTED = 3
"""Spot types from which on an interruption of one pool leaves others."""


def check_nodes(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> tuple[Problem, ...]:
    """Return every problem of the nodes: of flavors at their manifests, of settings at their keys."""
    found = (
        *check_groups(node_requests(fleet), groups, environment),
        *pending(fleet, groups, environment),
        *unused_efa(fleet, groups, environment),
        *check_order(fleet, environment),
    )
    return tuple(sorted(dict.fromkeys(found), key=lambda p: p.sort_key))


def check_groups(
    wished: Iterable[NodeRequest], groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment
) -> tuple[Problem, ...]:
    """Return what is wrong with node groups, whatever runs on them."""
    wished = list(wished)
    found = [
        *_of_region(wished, environment),
        *(wish.problem(reason, rule=rule) for wish in wished for rule, reason in _of_wish(wish, environment)),
        *check_types(environment),
        *check_marks(environment.nodes, environment.provisioner, environment.place),
        *_of_updates(environment),
        *_of_start(environment),
        *_of_pulls(groups, environment),
        *_of_pools(environment),
        *_of_groups(groups, environment),
        *check_quotas(groups, environment),
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda p: p.sort_key))


def _of_updates(environment: NodeEnvironment) -> Iterator[Problem]:
    wrong = release_problem(environment.image, environment.version, environment.provisioner, environment.ami_release)
    if wrong:
        yield environment.place.problem(("amiRelease",), wrong)
    if environment.force_update and environment.provisioner == Provisioner.KARPENTER:
        reason = "has no effect with Karpenter, which waits for disruption budgets; remove it"
        yield environment.place.problem(("forceUpdate",), reason)


def _of_start(environment: NodeEnvironment) -> Iterator[Problem]:
    """Report what EC2 or the image would refuse of disks and first words."""
    for key, reason in boot_problems(
        environment.boot, environment.image, environment.provisioner, environment.ami_release
    ):
        yield environment.place.problem((key,), reason)
    words = environment.boot.user_data
    wrong = user_data_problem(words, environment.image) if words else ""
    if wrong:
        yield environment.place.problem(("userData",), wrong)


def _of_pulls(groups: Iterable[NodeGroupPlan], environment: NodeEnvironment) -> Iterator[Problem]:
    """Warn of nodes that do not pull in parallel though they are asked to: see ``pulls_fast``."""
    if not environment.boot.fast_image_pull or environment.image != NodeImage.BOTTLEROCKET:
        return
    slow = sorted(group.name for group in groups if not group.start.fast_image_pull)
    if slow:
        reason = (
            f"has no effect on {', '.join(slow)}: Karpenter does not put the folder of parallel pulls on local NVMe "
            "disks (aws/karpenter-provider-aws issue 8393), and images would fill the small disk beside them"
        )
        yield environment.place.problem(("fastImagePull",), reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)


def _of_pools(environment: NodeEnvironment) -> Iterator[Problem]:
    """Report what is said about Karpenter's pools to no effect."""
    pools, place = environment.pools, environment.place
    if environment.provisioner != Provisioner.KARPENTER:
        for key in pools.given:
            yield place.problem((key,), "is for Karpenter's pools; set provisioner: karpenter, or remove it")
    elif pools.disruption.spot_to_spot and not pools.swaps_spot:
        reason = (
            f"has no effect with {place.key('consolidationPolicy')}: {WHEN_EMPTY}, where nodes that serve stay; set "
            f"WhenEmptyOrUnderutilized, or {place.path('generalPool')} with spot nodes"
        )
        yield place.problem(("disruption", "spotToSpot"), reason)


def _of_region(wished: Iterable[NodeRequest], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report a region that nothing is known of once, and not for each type that is not offered there."""
    known = regions()
    named = {wish.choice.instance_type or "" for wish in wished}
    named |= {name for rule in environment.nodes.types.values() for name in rule.alternatives}
    if environment.region not in known and any(regions_of(name) for name in named):
        hint = did_you_mean(environment.region, known) or f"; known regions: {', '.join(sorted(known))}"
        reason = f"no region that is known to offer accelerators has the name {environment.region!r}"
        yield environment.place.whole("region", reason + hint)


def _of_wish(wish: NodeRequest, environment: NodeEnvironment) -> Iterator[_Misplaced]:
    """What a flavor asks for and this environment cannot give."""
    node = instance(wish.choice.instance_type or "")
    if node is None:
        return
    place = environment.place
    if is_withheld(node.name, environment.region):
        yield (
            RuleId.NODES_TYPE_NOT_OFFERED,
            f"{node.name} {not_offered(node.name, environment.region, wish.type_name)}",
        )
    rule = environment.nodes.of(node.name)
    if image_of(node, environment.image) is None and rule.ami_id is None:
        yield (
            RuleId.NODES_TYPE_NOT_OFFERED,
            f"AWS has no EKS image ({environment.image}) for {node.name}: {no_image(node)}; choose another "
            f"{wish.type_name}, or set {place.path('types', node.name, 'amiId')} to an image of your own",
        )
    if environment.provisioner == Provisioner.KARPENTER and is_fractional(node.name):
        reason = f"Karpenter does not place pods on {node.name}, which has a fractional GPU; use managed node groups"
        yield RuleId.NODES_TYPE_NOT_OFFERED, reason
    zone, selectable = wish.choice.zone, environment.selectable or environment.zones
    if zone and zone not in selectable:
        yield (
            RuleId.NODES_PLACEMENT,
            f"selects zone {zone}, but the nodes of this environment are in {', '.join(selectable)}; use "
            "one of these zones",
        )
    capacity = environment.nodes.capacity_of(wish.choice)
    known = cloud_labels(node, capacity, zone, environment.region, environment.provisioner)
    wrong = impossible(wish.choice.labels, known, environment.provisioner)
    yield from ((RuleId.NODES_PLACEMENT, reason) for reason in wrong)
    yield from ((RuleId.NODES_PLACEMENT, reason) for reason in _of_capacity(wish, rule, environment))


def _of_capacity(wish: NodeRequest, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    instance_type = wish.choice.instance_type
    capacity = environment.nodes.capacity_of(wish.choice)
    if capacity not in list(Capacity):
        yield f"selects unknown capacity {capacity!r}; use one of {', '.join(Capacity)}"
    if capacity in RESERVED and rule.reservation is None:
        yield (
            f"selects reserved {instance_type}, but there is no reservation; set "
            f"{environment.place.path('types', instance_type or '', 'reservation')}: {{id: cr-..., zone: ..., "
            "count: ...}"
        )
    if capacity in RESERVED and rule.reservation and wish.choice.zone not in (None, rule.reservation.zone):
        yield f"selects zone {wish.choice.zone}, but its reservation is in {rule.reservation.zone}; select that zone"


def _of_groups(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    most = limits().node_groups
    if environment.provisioner == Provisioner.MANAGED and len(groups) > most:
        names = ", ".join(group.name for group in groups)
        instead = "provisioner: karpenter" if environment.place.section else "KarpenterPools"
        reason = (
            f"the models need {len(groups)} node groups, but EKS allows {most} per cluster: {names}; use fewer "
            f"instance types and labels, or {instead}"
        )
        yield environment.place.problem(
            ("provisioner",) if environment.place.section else (), reason, rule=RuleId.NODES_TOO_MANY_GROUPS
        )
    for group in groups:
        yield from _of_group(group, environment)
    if environment.provisioner == Provisioner.MANAGED:
        yield from _of_blocks(groups, environment)


def _of_group(group: NodeGroupPlan, environment: NodeEnvironment) -> Iterator[Problem]:
    name = group.node.name
    if group.interfaces and len(group.zones) > 1 and not environment.nodes.of(name).efa:
        reason = f"pods request EFA, so the nodes must be in one zone; set zones: [{group.zones[0]}]"
        yield environment.place.problem(("types", name, "zones"), reason)
    if group.demand.capacity == Capacity.SPOT and len(group.instance_types) < _POOLS_WANTED:
        others = ", ".join(similar(group.node)[:_POOLS_WANTED])
        reason = (
            f"spot capacity of only {len(group.instance_types)} instance "
            f"type{'s' * (len(group.instance_types) > 1)} can be reclaimed all at once; let the pods use other "
            "types too"
        ) + (f", such as {others}" if others else "")
        yield environment.place.problem(
            ("types", name, "spotTypes"), reason, Severity.WARNING, rule=RuleId.NODES_FEW_SPOT_POOLS
        )
    if group.maximum == limits().nodes_per_group:
        price = group.node.usd_per_hour
        cost = f", {price * group.maximum:,.0f} USD an hour" if price else ""
        reason = (
            f"group {group.name} may grow to {group.maximum} nodes{cost}; "
            f"set {environment.place.key('maxNodes')}, or maxReplicas of its models"
        )
        yield environment.place.problem(
            ("types", name, "maxNodes"), reason, Severity.WARNING, rule=RuleId.NODES_UNBOUNDED
        )


def _of_blocks(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Say what becomes of Capacity Blocks that run, and of those that are too late or are wanted twice.

    Whether a block is extended, or has its nodes, AWS alone knows: the settings are held against the clock.
    """
    place = environment.place
    claimed: dict[str, list[NodeGroupPlan]] = {}
    for group, block in [(each, block) for each in groups for block in each.blocks]:
        held = block.reservation
        claimed.setdefault(held.id, []).append(group)
        where = ("types", group.node.name, "reservation" if held == group.reservation else "nextBlocks")
        if held.ends is None or held.ends <= environment.now:
            continue  # an error already
        if block.filling is None:
            reason = (
                f"{held.id} ends at {held.ends:%Y-%m-%d %H:%M} UTC (now {environment.now:%Y-%m-%d %H:%M}): EKS takes "
                "its nodes away 40 minutes before, so that a group that has none yet gets none; name the next block"
            )
            yield place.problem(where, reason, Severity.WARNING, rule=RuleId.NODES_BLOCK_ENDS)
        elif block.running:
            reason = (
                f"{held.id} has begun: until {held.ends:%Y-%m-%d %H:%M} UTC its nodes keep their image, disk, user "
                "data, tags and Kubernetes version, because EKS updates the group of a Capacity Block only without "
                "nodes; changes of these reach the nodes of the next block. To have them now, replace the group and "
                "its launch template (pulumi up --replace), which ends its nodes for some minutes"
            )
            yield place.problem(where, reason, Severity.NOTE, rule=RuleId.NODES_BLOCK_RUNS)
    for id_, wanting in sorted(claimed.items()):
        if len(wanting) > 1:
            names = ", ".join(sorted(group.name for group in wanting))
            reason = (
                f"{id_} is for {len(wanting)} node groups ({names}), and each asks for all of its nodes; let their "
                "pods select the same zone and labels"
            )
            key = ("types", wanting[0].node.name, "reservation")
            yield place.problem(key, reason, Severity.WARNING, rule=RuleId.NODES_BLOCK_SHARED)


def similar(node: Instance) -> list[str]:
    """Return types with as many of the same accelerators and no less CPU and memory, cheapest first."""
    found = [
        other
        for other in instances().values()
        if other.name != node.name
        and (other.accelerator, other.arch, other.accelerators) == (node.accelerator, node.arch, node.accelerators)
        and other.accelerator_memory_gib == node.accelerator_memory_gib
        and other.vcpu >= node.vcpu
        and other.memory_gib >= node.memory_gib
    ]
    return [n.name for n in sorted(found, key=lambda n: (n.usd_per_hour is None, n.usd_per_hour or 0, n.name))]
