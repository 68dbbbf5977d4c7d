"""Checks of the nodes that a fleet needs, before any is created (aws-gpu spec 18)."""

from collections.abc import Iterable, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import MOST_HINTS, Problem, Severity, did_you_mean
from ....fleet.instances import Instance, instance, instances
from ....fleet.nodes.availability import runs_on
from ....fleet.nodes.fit import NodeRequest, nearest_types, node_requests
from ....fleet.nodes.groups import preferences
from ....fleet.nodes.order import group_order
from ....fleet.nodes.policy import RESERVED, Capacity, Reservation, TypePolicy
from ....fleet.rendered import Fleet
from ..facts.eks import is_fractional, limits, no_image, takes_capacity_block
from ..facts.regions import is_withheld, regions, regions_of
from ..facts.waits import node_steps
from ..names import ACCELERATOR_LABEL
from ..words import NodeImage, Provisioner
from .disks import check_disks
from .fabric import unused_efa
from .generations import check_generations
from .labels import check_marks, cloud_labels, impossible
from .launch import boot_problems
from .owned import check_owned
from .pending import pending
from .plan import NodeEnvironment, NodeGroupPlan, image_of
from .pool_rules import WHEN_EMPTY
from .quotas import check_quotas
from .releases import release_problem
from .stuck import stuck_problem, stuck_rollouts
from .user_data import user_data_problem

_LEAST_SPOT_POOLS = 3
"""Minimum instance types for spot capacity, so that the interruption of one pool leaves others."""
_GRACE = "terminationGracePeriodSeconds"
_FOR_CREATED = (("placement_group", "placementGroup"), ("ami_id", "amiId"))
"""Settings of an instance type that take effect only where its nodes are created."""


def check_nodes(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> tuple[Problem, ...]:
    """Report all problems of nodes: those of flavors at their manifests, those of settings at their keys."""
    stuck = list(stuck_rollouts(fleet, groups, environment))
    problems = (
        *check_groups(node_requests(fleet), groups, environment),
        *pending(fleet, groups, environment, {id(rollout.item) for rollout in stuck}),
        *(stuck_problem(rollout, groups, environment) for rollout in stuck),
        *unused_efa(fleet, groups, environment),
        *check_disks(fleet, groups, environment),
        *check_full_reservations(groups, environment),
        *check_drains(fleet, groups, environment),
        *check_order(fleet, environment),
        *check_generations(fleet, environment),
    )
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: p.sort_key))


def check_groups(
    requests: Iterable[NodeRequest], groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment
) -> tuple[Problem, ...]:
    """Report problems of node groups that do not depend on the pods on them."""
    requests = list(requests)
    problems = [
        *_check_region(requests, environment),
        *(r.problem(reason, rule=rule) for r in requests for rule, reason in _request_problems(r, environment)),
        *check_types(environment),
        *check_marks(environment.nodes, environment.provisioner, environment.place),
        *_check_settings(groups, environment),
        *_check_plans(groups, environment),
        *check_existing(groups, environment),
        *check_owned(environment),
        *check_quotas(groups, environment),
    ]
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: p.sort_key))


def _check_settings(groups: Iterable[NodeGroupPlan], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report settings of all nodes that EC2 or the image would reject, or that have no effect."""
    image, provisioner, boot, place = environment.image, environment.provisioner, environment.boot, environment.place
    is_karpenter = provisioner == Provisioner.KARPENTER
    wrong = release_problem(image, environment.version, provisioner, environment.ami_release)
    if wrong:
        yield place.problem(("amiRelease",), wrong)
    if environment.force_update and is_karpenter:
        reason = "has no effect with Karpenter, which waits for disruption budgets; remove it"
        yield place.problem(("forceUpdate",), reason)
    for key, reason in boot_problems(boot, image, provisioner, environment.ami_release):
        yield place.problem((key,), reason)
    wrong = user_data_problem(boot.user_data, image) if boot.user_data else ""
    if wrong:
        yield place.problem(("userData",), wrong)
    # On AL2023 the setting applies to every node; see pulls_fast.
    is_requested = boot.fast_image_pull and image == NodeImage.BOTTLEROCKET
    slow = sorted(group.name for group in groups if is_requested and not group.start.fast_image_pull)
    if slow:
        reason = (
            f"has no effect on {', '.join(slow)}: Karpenter does not put the folder of parallel pulls on local NVMe "
            "disks (aws/karpenter-provider-aws issue 8393), and images would fill the small disk beside them"
        )
        yield place.problem(("fastImagePull",), reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)
    pools = environment.pools
    if not is_karpenter:
        for key in pools.given:
            yield place.problem((key,), "is for Karpenter's pools; set provisioner: karpenter, or remove it")
    elif pools.disruption.spot_to_spot and not pools.swaps_spot:
        reason = (
            f"has no effect with {place.key('consolidationPolicy')}: {WHEN_EMPTY}, where nodes that serve stay; set "
            f"WhenEmptyOrUnderutilized, or {place.path('generalPool')} with spot nodes"
        )
        yield place.problem(("disruption", "spotToSpot"), reason)


def _check_region(requests: Iterable[NodeRequest], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report an unknown region once, instead of once for each instance type."""
    known = regions()
    named = {request.choice.instance_type or "" for request in requests}
    named |= {name for rule in environment.nodes.types.values() for name in rule.alternatives}
    if environment.region not in known and any(regions_of(name) for name in named):
        hint = did_you_mean(environment.region, known) or f"; known regions: {', '.join(sorted(known))}"
        reason = f"no region that is known to offer accelerators has the name {environment.region!r}"
        yield environment.place.whole("region", reason + hint)


def _request_problems(request: NodeRequest, environment: NodeEnvironment) -> Iterator[tuple[RuleId, str]]:
    """Report requirements of a flavor that this environment cannot satisfy."""
    node = instance(request.choice.instance_type or "")
    if node is None:
        return
    place = environment.place
    if is_withheld(node.name, environment.region):
        yield (
            RuleId.NODES_TYPE_NOT_OFFERED,
            f"{node.name} {not_offered(node.name, environment.region, request.type_name)}",
        )
    rule = environment.nodes.of(node.name)
    if image_of(node, environment.image) is None and rule.ami_id is None and not rule.existing_groups:
        yield (
            RuleId.NODES_TYPE_NOT_OFFERED,
            f"{_why_no_image(node, environment.image)}; choose another {request.type_name}, or set "
            f"{place.path('types', node.name, 'amiId')} to an image of your own",
        )
    if environment.provisioner == Provisioner.KARPENTER and is_fractional(node.name):
        reason = f"Karpenter does not place pods on {node.name}, which has a fractional GPU; use managed node groups"
        yield RuleId.NODES_TYPE_NOT_OFFERED, reason
    zone, selectable = request.choice.zone, environment.selectable or environment.zones
    if zone and zone not in selectable:
        yield (
            RuleId.NODES_PLACEMENT,
            f"selects zone {zone}, but the nodes of this environment are in {', '.join(selectable)}; use "
            "one of these zones",
        )
    capacity = environment.nodes.capacity_of(request.choice)
    known = cloud_labels(node, capacity, zone, environment.region, environment.provisioner)
    wrong = impossible(request.choice.labels, known, environment.provisioner)
    yield from ((RuleId.NODES_PLACEMENT, reason) for reason in wrong)
    if capacity not in list(Capacity):
        yield RuleId.NODES_PLACEMENT, f"selects unknown capacity {capacity!r}; use one of {', '.join(Capacity)}"
    if capacity in RESERVED and rule.reservation is None:
        yield (
            RuleId.NODES_PLACEMENT,
            f"selects reserved {node.name}, but there is no reservation; set "
            f"{place.path('types', node.name, 'reservation')}: {{id: cr-..., zone: ..., count: ...}}",
        )
    if capacity in RESERVED and rule.reservation and zone not in (None, rule.reservation.zone):
        yield (
            RuleId.NODES_PLACEMENT,
            f"selects zone {zone}, but its reservation is in {rule.reservation.zone}; select that zone",
        )


def _check_plans(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
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
        name = group.node.name
        if group.interfaces and len(group.zones) > 1 and not environment.nodes.of(name).efa:
            reason = f"pods request EFA, so the nodes must be in one zone; set zones: [{group.zones[0]}]"
            yield environment.place.problem(("types", name, "zones"), reason)
        if group.demand.capacity == Capacity.SPOT and len(group.instance_types) < _LEAST_SPOT_POOLS:
            examples = ", ".join(similar(group.node)[:_LEAST_SPOT_POOLS])
            reason = (
                f"spot capacity of only {len(group.instance_types)} instance "
                f"type{'s' * (len(group.instance_types) > 1)} can be reclaimed all at once; let the pods use other "
                "types too"
            ) + (f", such as {examples}" if examples else "")
            yield environment.place.problem(
                ("types", name, "spotTypes"), reason, Severity.WARNING, rule=RuleId.NODES_FEW_SPOT_POOLS
            )
        # No model bounds such a group: its maximum is EKS's limit.
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
    if environment.provisioner == Provisioner.MANAGED:
        yield from _check_blocks(groups, environment)


def _check_blocks(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report Capacity Blocks that run, that end too soon, or that several groups use.

    The settings are compared with the clock; only AWS knows whether a block was extended or has its nodes.
    """
    place = environment.place
    claimed: dict[str, list[NodeGroupPlan]] = {}
    for group, block in [(plan, block) for plan in groups for block in plan.blocks]:
        held = block.reservation
        claimed.setdefault(held.id, []).append(group)
        key = ("types", group.node.name, "reservation" if held == group.reservation else "nextBlocks")
        if held.ends is None or held.ends <= environment.now:
            continue  # check_types reports these as errors
        if block.filling is None:
            reason = (
                f"{held.id} ends at {held.ends:%Y-%m-%d %H:%M} UTC (now {environment.now:%Y-%m-%d %H:%M}): EKS "
                "terminates its nodes 40 minutes earlier, and a group without nodes gets none; specify the next block"
            )
            yield place.problem(key, reason, Severity.WARNING, rule=RuleId.NODES_BLOCK_ENDS)
        elif block.running:
            reason = (
                f"{held.id} is active: until {held.ends:%Y-%m-%d %H:%M} UTC its nodes keep their image, disk, user "
                "data, tags and Kubernetes version, because EKS updates the group of a Capacity Block only without "
                "nodes; changes apply to the nodes of the next block. To apply them now, replace the group and its "
                "launch template (pulumi up --replace), which terminates its nodes for some minutes"
            )
            yield place.problem(key, reason, Severity.NOTE, rule=RuleId.NODES_BLOCK_RUNS)
    for id_, claimants in sorted(claimed.items()):
        if len(claimants) > 1:
            names = ", ".join(sorted(group.name for group in claimants))
            reason = (
                f"{id_} is for {len(claimants)} node groups ({names}), and each requests all of its nodes; let their "
                "pods select the same zone and labels"
            )
            key = ("types", claimants[0].node.name, "reservation")
            yield place.problem(key, reason, Severity.WARNING, rule=RuleId.NODES_BLOCK_SHARED)


def similar(node: Instance) -> list[str]:
    """Return types with the same accelerators and at least as much CPU and memory, cheapest first."""
    candidates = [
        other
        for other in instances().values()
        if other.name != node.name
        and (other.accelerator, other.arch, other.accelerators) == (node.accelerator, node.arch, node.accelerators)
        and other.accelerator_memory_gib == node.accelerator_memory_gib
        and other.vcpu >= node.vcpu
        and other.memory_gib >= node.memory_gib
    ]
    return [n.name for n in sorted(candidates, key=lambda n: (n.usd_per_hour is None, n.usd_per_hour or 0, n.name))]


def _why_no_image(node: Instance, image: str) -> str:
    if node.name not in instances():
        return f"whether the EKS image ({image}) supports {node.name} is not known: only instanceTypes describes it"
    return f"AWS has no EKS image ({image}) for {node.name}: {no_image(node)}"


def not_offered(instance_type: str, region: str, type_name: str = "type") -> str:
    """Return the reason for a type that a region does not offer, with the regions that do."""
    offered = regions_of(instance_type)
    if not offered:
        return f"is no longer offered in any region; choose another {type_name}"
    return f"is not offered in {region}, only in {', '.join(sorted(offered))}"


def check_types(environment: NodeEnvironment) -> Iterator[Problem]:
    """Report problems of the settings of instance types."""
    for number, (name, rule) in enumerate(environment.nodes.types.items()):
        node = instance(name)
        if node is None:
            reason = f"unknown instance type {name!r}{nearest_types(name) if number < MOST_HINTS else ''}"
            yield environment.place.problem(("types", name), reason)
            continue
        for key, reason in _type_problems(node, rule, environment):
            yield environment.place.problem(("types", name, key), reason)
        if node.fabric_card and environment.provisioner == Provisioner.KARPENTER:
            reason = "is for managed node groups: Karpenter chooses the network cards itself; remove it"
            yield environment.place.whole(f"instanceTypes.{name}.firstEfaCard", reason)


def _type_problems(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[tuple[str, str]]:
    place = environment.place
    if rule.efa and not node.fabric_interfaces:
        with_efa = sorted(n.name for n in instances().values() if n.family == node.family and n.fabric_interfaces)
        hint = f"in its family, {', '.join(with_efa)} have EFA" if with_efa else "no type of its family has EFA"
        yield "efa", f"{node.name} has no EFA; {hint}"
    zones = rule.zones or ((rule.reservation.zone,) if rule.reservation else environment.zones)
    if (rule.efa or rule.placement_group) and len(zones) > 1:
        yield (
            "efa",
            f"nodes with EFA or in a placement group must be in one zone, found {', '.join(zones)}; set zones: "
            f"[{zones[0]}]",
        )
    yield from (("spotTypes", reason) for reason in _alternative_problems(node, rule, environment))
    known = environment.subnets or environment.zones
    unknown = [zone for zone in rule.zones if zone not in known]
    if unknown:
        yield "zones", f"must be zones of the environment ({', '.join(known)}), found {', '.join(unknown)}"
    yield from (("reservation", reason) for reason in _reservation_problems(node, rule, environment))
    yield from (("nextBlocks", reason) for reason in _next_block_problems(node, rule, environment))
    # A Capacity Block places its instances close together already (EC2 user guide, Capacity Blocks for ML). AWS's own
    # tool rejects a placement group beside it (aws/aws-parallelcluster, PlacementGroupCapacityTypeValidator), and
    # launches fail for lack of capacity (terraform-aws-modules/terraform-aws-eks, pull request 3730).
    if rule.placement_group and rule.capacity == Capacity.CAPACITY_BLOCK:
        yield (
            "placementGroup",
            "is not possible with a Capacity Block, whose instances are placed close together already; remove it",
        )
    # A managed group has all nodes of its Capacity Block as long as the block runs. Karpenter may use fewer.
    if rule.capacity == Capacity.CAPACITY_BLOCK and environment.provisioner != Provisioner.KARPENTER:
        for key, value in (("minNodes", rule.min_nodes), ("maxNodes", rule.max_nodes)):
            if value is not None:
                path = place.key("reservation")
                yield key, f"all nodes of a Capacity Block run from its start to its end ({path}: count); remove it"
    if rule.min_nodes is not None and rule.max_nodes is not None and rule.min_nodes > rule.max_nodes:
        yield (
            "minNodes",
            f"must not be above {place.key('maxNodes')} ({rule.max_nodes}), found {rule.min_nodes}",
        )


def _alternative_problems(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    for number, name in enumerate(rule.alternatives):
        other = instance(name)
        if other is None:
            yield f"unknown instance type {name!r}{nearest_types(name) if number < MOST_HINTS else ''}"
        elif other.arch != node.arch:
            yield f"mixed architectures in one group: {node.name} is {node.arch}, {other.name} is {other.arch}"
        elif image_of(other, environment.image) != image_of(node, environment.image):
            yield f"{other.name} needs a different image than {node.name}, but a group has only one; remove it"
        elif other.accelerator_resource != node.accelerator_resource:
            yield (
                f"pods on {node.name} request {node.accelerator_resource}, which {other.name} does not have; "
                "remove it"
            )
        elif is_withheld(name, environment.region):
            yield f"{name} {not_offered(name, environment.region)}"
    most = limits().instance_types_per_group - 1
    if len(rule.alternatives) > most:
        yield f"must have at most {most} types in addition to the first, found {len(rule.alternatives)}"
    if rule.alternatives and rule.capacity in RESERVED:
        yield f"a reservation has only one type, {node.name}; remove {environment.place.key('spotTypes')}"


def _reservation_problems(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    reservation = rule.reservation
    if reservation is None:
        if rule.capacity in RESERVED:
            yield (
                f"is required with capacity {rule.capacity}; for example {{id: cr-..., zone: "
                f"{environment.zones[0]}, count: 1}}"
            )
        return
    if rule.capacity == Capacity.ODCR and (reservation.starts or reservation.ends):
        yield "has starts or ends, which are those of a Capacity Block; remove them: this capacity is used at once"
    if rule.capacity not in RESERVED:
        yield f"is set without reserved capacity; set capacity: {' or '.join(RESERVED)}"
    yield from _zone_problems(reservation, environment)
    if rule.zones and rule.zones != (reservation.zone,):
        yield f"is in {reservation.zone}, but zones is {', '.join(rule.zones)}; make them match"
    if environment.provisioner == Provisioner.KARPENTER and not reservation.id.startswith("cr-"):
        yield f"must have the ID of a reservation (cr-...) with Karpenter, found {reservation.id!r}"
    if rule.capacity == Capacity.CAPACITY_BLOCK:
        yield from _block_problems(node, reservation, environment)


def _next_block_problems(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    if rule.next_blocks and (rule.capacity != Capacity.CAPACITY_BLOCK or rule.reservation is None):
        place = environment.place
        yield (
            "are the Capacity Blocks after that of "
            f"{place.key('reservation')}; set capacity: capacity-block and {place.key('reservation')}, or remove it"
        )
        return
    for block in rule.next_blocks:
        yield from (f"{block.id}: {reason}" for reason in _zone_problems(block, environment))
        yield from (f"{block.id}: {reason}" for reason in _block_problems(node, block, environment))
    ids = [block.id for block in (rule.reservation, *rule.next_blocks) if block]
    for id_ in sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        yield f"{id_}: is named more than once; each block has a node group of its own"


def _zone_problems(reservation: Reservation, environment: NodeEnvironment) -> Iterator[str]:
    known = environment.subnets or environment.zones
    if reservation.zone not in known:
        yield f"is in {reservation.zone}, where the environment has no subnet; its zones are {', '.join(known)}"


def _block_problems(node: Instance, block: Reservation, environment: NodeEnvironment) -> Iterator[str]:
    if not takes_capacity_block(node.name):
        yield (
            f"Capacity Blocks are not available for {node.name}; use an On-Demand Capacity Reservation: capacity: "
            "odcr"
        )
    if not block.id.startswith("cr-"):
        yield f"must have the ID of a Capacity Block (cr-...), found {block.id!r}"
    if block.ends is None or block.starts is None:
        yield "a Capacity Block has a start and an end; set starts and ends"
        return
    if block.ends <= environment.now:
        yield (
            f"expired at {block.ends:%Y-%m-%d %H:%M} UTC (now {environment.now:%Y-%m-%d %H:%M}); use a current or "
            "future Capacity Block"
        )
    if block.starts >= block.ends:
        yield f"must start before it ends, found {block.starts:%Y-%m-%d %H:%M} to {block.ends:%Y-%m-%d %H:%M}"


def check_order(fleet: Fleet, environment: NodeEnvironment) -> Iterator[Problem]:
    """Warn about models whose preferred group may not be filled first, because another model prefers the opposite.

    The Cluster Autoscaler has one order of groups for all pods. Karpenter treats each pod's first preference as a
    requirement until it cannot be met (kubernetes-sigs/karpenter, pkg/scheduling/requirements.go,
    newPodRequirements), so no order is lost with it.
    """
    if environment.provisioner != Provisioner.MANAGED:
        return
    preferred = [(item, names) for item in fleet.rendered for names in preferences(item.pods, environment.nodes)]
    tied = group_order(names for _, names in preferred).tied
    lost: dict[int, dict[tuple[str, str], None]] = {}
    for item, names in preferred:
        for index, first in enumerate(names):
            for second in names[index + 1 :]:
                if second in tied.get(first, ()):
                    lost.setdefault(id(item), {})[first, second] = None
    models = [item for item in fleet.rendered if id(item) in lost]
    instead = "set provisioner: karpenter" if environment.place.section else "use KarpenterPools"
    for item in models:
        first, second = next(iter(lost[id(item)]))
        cycle = {first, *tied[first]}
        others = [
            other for other in models if other is not item and any(name in cycle for name, _ in lost[id(other)])
        ]
        # A single model conflicts with itself if its pod templates prefer opposite orders.
        against = ", ".join(other.title for other in others) or "its own other pods"
        reason = (
            f"prefers nodes {first} to {second}, and {against} the opposite, directly or by way of other groups; the "
            "Cluster Autoscaler has one order for all pods and adds those that leave the least unused, so that pods "
            f"may start on {second} first; list the flavors in the same order, or {instead}, which follows each "
            "pod's order"
        )
        yield item.source.problem("spec", reason, Severity.WARNING, rule=RuleId.NODES_ORDER_CONFLICT)


def check_drains(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report pods on managed node groups whose grace period is longer than the drain of a node."""
    limit = node_steps().drain
    for item, workload in fleet.workloads:
        grace = max(int(template["spec"].get(_GRACE) or 0) for template in workload.templates)
        if grace <= limit:
            continue
        managed = (group for group in groups if group.longest_update)
        names = [group.name for group in managed if runs_on(workload, group.demand, environment.nodes)]
        if not names or environment.force_update:
            continue
        reason = (
            f"pods of {workload.kind} {workload.name} may take {grace} s to terminate ({_GRACE}), but when EKS "
            f"replaces the nodes of {', '.join(names)}, it fails with PodEvictionFailure if a pod takes longer than "
            f"{limit} s; lower it to {limit}, or terminate nodes anyway with "
            f"{environment.place.path('forceUpdate')}: true"
        )
        yield item.source.problem("", reason, Severity.WARNING, rule=RuleId.UPDATE_DRAIN)


def check_full_reservations(groups: Iterable[NodeGroupPlan], environment: NodeEnvironment) -> Iterator[Problem]:
    """Warn about reservations whose instances all run nodes, because Karpenter launches a replacement first.

    Karpenter drains a drifted node once its replacement is initialized, and a full reservation offers none
    (kubernetes-sigs/karpenter issues 2905 and 2409, aws/karpenter-provider-aws issues 8873 and 8935). Terminating
    first is a proposal (kubernetes-sigs/karpenter pull requests 3203 and 3312). A NodeClaim that is deleted is
    terminated first (Karpenter, "Disruption", manual methods).
    """
    for group in groups:
        free = group.replacement.free
        if group.provisioner != Provisioner.KARPENTER or group.existing or free is None or free > 0:
            continue
        held = sum(reservation.count for reservation in group.held) if len(group.held) == 1 else None
        instances = f"all {held} instances" if held else "all instances"
        reason = (
            f"{instances} of the reservation run nodes of {group.name}, and Karpenter launches the replacement of a "
            "node before it drains it: nodes keep their image, Kubernetes version and settings for good. Reserve one "
            f"instance more, set {environment.place.path('provisioner')}: managed, whose updates terminate a node "
            "first, or replace nodes by hand: kubectl delete nodeclaim, one after another"
        )
        key = ("types", group.node.name, "reservation")
        yield environment.place.problem(key, reason, Severity.WARNING, rule=RuleId.NODES_RESERVATION_FULL)


def check_existing(groups: Iterable[NodeGroupPlan], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report requirements of models that the existing groups of an instance type do not meet."""
    place = environment.place
    for name, rule in environment.nodes.types.items():
        for attribute, key in _FOR_CREATED if rule.existing_groups else ():
            if getattr(rule, attribute):
                reason = f"has no effect on the existing groups {', '.join(rule.existing_groups)}; remove it"
                yield place.problem(("types", name, key), reason)
    for group in groups:
        rule = environment.nodes.of(group.node.name)
        for lacking in _lacking(group, rule, environment) if group.existing else ():
            reason = (
                f"models need nodes {group.name} {lacking}; change the model, use other groups, or remove the "
                "setting to have the nodes created"
            )
            key = "ownedGroups" if environment.owned.get(group.node.name) else "existingGroups"
            path = ("types", group.node.name, key)
            yield place.problem(path, reason, rule=RuleId.NODES_PLACEMENT)


def _lacking(group: NodeGroupPlan, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    names, place = ", ".join(group.existing), environment.place
    described = rule.capacity or environment.nodes.capacity
    if group.demand.capacity != described:
        yield f"with capacity {group.demand.capacity}, but {place.key('capacity')} of {names} is {described}"
    zone = group.demand.zone
    if zone and rule.zones and zone not in rule.zones:
        yield f"in zone {zone}, but {place.key('zones')} of {names} are {', '.join(rule.zones)}"
    missing = [
        f"{key}: {value}"
        for key, value in group.labels.items()
        if key != ACCELERATOR_LABEL and rule.labels.get(key) != value
    ]
    if missing:
        yield f"with {', '.join(missing)}, which labels of {names} do not have"
    if group.interfaces and not rule.efa:
        yield f"with EFA; set {place.key('efa')} if {names} have it"
