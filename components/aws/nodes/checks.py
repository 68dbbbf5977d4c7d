"""What is wrong with the nodes that a fleet needs, before any is paid for (aws-gpu spec 18)."""

from collections.abc import Iterator
from decimal import Decimal

from ...api.problems import Problem, Severity, did_you_mean
from ...fleet.rendered import Fleet
from ...nodes.fit import nearest_types
from ...nodes.instances import Instance, instance, instances
from ...nodes.policy import CAPACITIES, CAPACITY_BLOCK, RESERVED, SPOT, Reservation, TypePolicy
from ...nodes.wishes import Wish, wishes
from ..facts.eks import is_fractional, limits, no_image, quota_of, takes_capacity_block
from ..facts.regions import regions_of
from .labels import cloud_labels, impossible
from .pending import pending
from .plan import NodeEnvironment, NodeGroupPlan, image_of

_POOLS_WANTED = 3
"""Spot types from which on an interruption of one pool leaves others."""


def check_nodes(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> tuple[Problem, ...]:
    """Return every problem of the nodes: of flavors at their manifests, of settings at their keys."""
    found = [
        *(wish.problem(reason) for wish in wishes(fleet) for reason in _of_wish(wish, environment)),
        *(_setting(environment, f"types.{name}.{key}", reason) for name, key, reason in _of_types(environment)),
        *_of_groups(groups, environment),
        *_of_quotas(groups, environment),
        *pending(fleet, groups, environment),
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda p: p.place))


def _setting(environment: NodeEnvironment, key: str, reason: str, severity: Severity = Severity.ERROR) -> Problem:
    return Problem(environment.settings_file, 0, "", "", f"gpuNodes.{key}", reason, severity)


def _of_wish(wish: Wish, environment: NodeEnvironment) -> Iterator[str]:
    """What a flavor asks for and this environment cannot give."""
    node = instance(wish.choice.instance_type or "")
    if node is None:
        return
    offered = regions_of(node.name)
    if offered is not None and environment.region not in offered:
        yield f"{node.name} {_not_offered(offered, environment.region, wish.type_name)}"
    rule = environment.nodes.of(node.name)
    if image_of(node, environment.image) is None and rule.ami_id is None:
        yield (
            f"AWS has no EKS image ({environment.image}) for {node.name}: {no_image(node)}; choose another "
            f"{wish.type_name}, or name an image of your own under gpuNodes.types.{node.name}.amiId"
        )
    if environment.provisioner == "karpenter" and is_fractional(node.name):
        yield f"Karpenter does not place pods on {node.name}, which offers a part of a GPU; use managed node groups"
    zone = wish.choice.zone
    if zone and zone not in environment.zones:
        yield f"asks for zone {zone}, and the nodes of this environment are in {', '.join(environment.zones)}"
    capacity = environment.nodes.capacity_of(wish.choice)
    known = cloud_labels(node, capacity, zone, environment.region, environment.provisioner)
    yield from impossible(wish.choice.labels, known, environment.provisioner)
    yield from _of_capacity(wish, rule, environment)


def _not_offered(offered: frozenset[str], region: str, type_name: str = "type") -> str:
    if not offered:
        return f"is offered in no region any more; choose another {type_name}"
    return f"is not offered in {region}; it is in {', '.join(sorted(offered))}"


def _of_capacity(wish: Wish, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    instance_type = wish.choice.instance_type
    capacity = environment.nodes.capacity_of(wish.choice)
    if capacity not in CAPACITIES:
        yield f"asks for capacity {capacity!r}; known are {', '.join(CAPACITIES)}"
    if capacity in RESERVED and rule.reservation is None:
        yield (
            f"asks for reserved {instance_type}, and no reservation is named; "
            f"write gpuNodes.types.{instance_type}.reservation: {{id: cr-..., zone: ..., count: ...}}"
        )
    if capacity in RESERVED and rule.reservation and wish.choice.zone not in (None, rule.reservation.zone):
        yield f"asks for zone {wish.choice.zone}, and its reservation is in {rule.reservation.zone}"


def _of_types(environment: NodeEnvironment) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the settings of instance types: the type, the key and the reason."""
    for name, rule in environment.nodes.types.items():
        node = instance(name)
        if node is None:
            yield name, "", f"unknown instance type {name!r}{nearest_types(name)}"
            continue
        yield from ((name, "efa", reason) for reason in _efa(node, rule, environment))
        yield from ((name, "spotTypes", reason) for reason in _alternatives(node, rule, environment))
        yield from ((name, "zones", reason) for reason in _zones(rule, environment))
        yield from ((name, "reservation", reason) for reason in _reservation(node, rule, environment))
        if rule.placement_group and environment.provisioner == "karpenter":
            yield name, "placementGroup", "Karpenter's pools here use none; use managed node groups, or leave it out"
        if rule.min_nodes is not None and rule.max_nodes is not None and rule.min_nodes > rule.max_nodes:
            yield name, "minNodes", f"{rule.min_nodes} is more than maxNodes, {rule.max_nodes}"


def _efa(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    if rule.efa and not node.efa_interfaces:
        with_efa = sorted(n.name for n in instances().values() if n.family == node.family and n.efa_interfaces)
        hint = f"of its family, {', '.join(with_efa)} have it" if with_efa else "no type of its family has"
        yield f"{node.name} has no EFA; {hint}"
    close = rule.efa or rule.placement_group
    zones = rule.zones or ((rule.reservation.zone,) if rule.reservation else environment.zones)
    if close and len(zones) > 1:
        yield (
            f"nodes with EFA or in a placement group are in one zone; choose one: zones: [{zones[0]}] "
            f"(now {', '.join(zones)})"
        )


def _alternatives(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    for name in rule.alternatives:
        other = instance(name)
        if other is None:
            yield f"unknown instance type {name!r}{nearest_types(name)}"
        elif other.arch != node.arch:
            yield f"mixed architectures in one group: {node.name} is {node.arch}, {other.name} is {other.arch}"
        elif image_of(other, environment.image) != image_of(node, environment.image):
            yield f"{other.name} needs another image than {node.name}; a group has one"
        elif other.accelerator_resource != node.accelerator_resource:
            yield f"pods ask {node.name} for {node.accelerator_resource}, and {other.name} has none"
        elif environment.region not in (regions_of(name) or {environment.region}):
            yield f"{name} {_not_offered(regions_of(name) or frozenset(), environment.region)}"
    most = limits().instance_types_per_group - 1
    if len(rule.alternatives) > most:
        yield f"{len(rule.alternatives)} types; EKS takes {most} beside the first"
    if rule.alternatives and rule.capacity in RESERVED:
        yield f"a reservation holds one type, {node.name}; remove spotTypes"


def _zones(rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    unknown = [zone for zone in rule.zones if zone not in environment.zones]
    if unknown:
        yield f"{', '.join(unknown)}: nodes can be in {', '.join(environment.zones)}"


def _reservation(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    reservation = rule.reservation
    if reservation is None:
        if rule.capacity in RESERVED:
            yield f"capacity {rule.capacity} needs one: {{id: cr-..., zone: {environment.zones[0]}, count: 1}}"
        return
    if rule.capacity not in RESERVED:
        yield f"is set, and capacity is not; write capacity: {' or '.join(RESERVED)}"
    if reservation.zone not in environment.zones:
        yield f"is in {reservation.zone}, where the environment has no subnet ({', '.join(environment.zones)})"
    if rule.zones and rule.zones != (reservation.zone,):
        yield f"is in one zone, {reservation.zone}, and zones says {', '.join(rule.zones)}"
    if environment.provisioner == "karpenter" and not reservation.id.startswith("cr-"):
        yield f"Karpenter names reservations by id, cr-..., found {reservation.id!r}"
    if rule.capacity == CAPACITY_BLOCK:
        yield from _block(node, reservation, environment)


def _block(node: Instance, block: Reservation, environment: NodeEnvironment) -> Iterator[str]:
    if not takes_capacity_block(node.name):
        yield f"Capacity Blocks are not sold for {node.name}; use an On-Demand reservation: capacity: odcr"
    if not block.id.startswith("cr-"):
        yield f"a Capacity Block is named by its id, cr-..., found {block.id!r}"
    if block.ends is None or block.starts is None:
        yield "a Capacity Block has a start and an end; write starts and ends"
        return
    if block.ends <= environment.now:
        yield f"ended {block.ends:%Y-%m-%d %H:%M} UTC, and it is {environment.now:%Y-%m-%d %H:%M}; name one to come"
    if block.starts >= block.ends:
        yield f"starts {block.starts:%Y-%m-%d %H:%M}, after it ends"


def _of_groups(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    most = limits().node_groups
    if environment.provisioner == "managed" and len(groups) > most:
        names = ", ".join(group.name for group in groups)
        reason = (
            f"{len(groups)} node groups, and EKS allows {most} in a cluster: {names}; "
            "use fewer instance types and labels, or provisioner: karpenter"
        )
        yield _setting(environment, "provisioner", reason)
    for group in groups:
        yield from _of_group(group, environment)


def _of_group(group: NodeGroupPlan, environment: NodeEnvironment) -> Iterator[Problem]:
    name = group.node.name
    if group.interfaces and len(group.zones) > 1 and not environment.nodes.of(name).efa:
        reason = f"pods ask for EFA, whose nodes are in one zone; write zones: [{group.zones[0]}]"
        yield _setting(environment, f"types.{name}.zones", reason)
    if group.demand.capacity == SPOT and len(group.instance_types) < _POOLS_WANTED:
        others = ", ".join(similar(group.node)[:_POOLS_WANTED])
        reason = f"spot capacity of {len(group.instance_types)} type is lost at once; let pods use others too" + (
            f", such as {others}" if others else ""
        )
        yield _setting(environment, f"types.{name}.spotTypes", reason, Severity.WARNING)
    if group.maximum == limits().nodes_per_group:
        price = group.node.usd_per_hour
        cost = f", {price * group.maximum:,.0f} USD an hour" if price else ""
        reason = (
            f"group {group.name} may grow to {group.maximum} nodes{cost}; set maxNodes, or maxReplicas of its models"
        )
        yield _setting(environment, f"types.{name}.maxNodes", reason, Severity.WARNING)


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


def _of_quotas(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Hold what the groups may grow to against the account's vCPUs: the failure would come last otherwise."""
    for code in environment.quotas:
        if code not in _codes():
            yield _setting(environment, "quotas", f"unknown quota code {code!r}{did_you_mean(code, _codes())}")
    for code, needed in sorted(vcpus(groups).items()):
        allowed = environment.quotas.get(code)
        if allowed is not None and needed > allowed:
            reason = f"the groups may grow to {needed} vCPUs of quota {code}, and the account has {allowed}"
            yield _setting(
                environment, f"quotas.{code}", f"{reason}; ask AWS for more or set maxNodes", Severity.WARNING
            )


def _codes() -> set[str]:
    quotas = {quota_of(node) for node in instances().values()} - {None}
    return {code for quota in quotas if quota for code in (quota.on_demand, quota.spot) if code}


def vcpus(groups: tuple[NodeGroupPlan, ...]) -> dict[str, int]:
    """Return, by quota code, the vCPUs of all groups at their largest (aws-gpu spec 14)."""
    total: dict[str, Decimal] = {}
    for group in groups:
        quota = quota_of(group.node)
        code = quota and (quota.spot if group.demand.capacity == SPOT else quota.on_demand)
        # Whether Capacity Blocks count against the quota is not documented, so they are left out.
        if code and group.demand.capacity != CAPACITY_BLOCK:
            total[code] = total.get(code, Decimal(0)) + group.maximum * group.node.vcpu
    return {code: int(amount) for code, amount in total.items()}
