"""What is wrong with what an environment says about instance types (aws-gpu spec 18)."""

from collections.abc import Iterator

from ....contract.problems import Problem
from ....fleet.instances import Instance, instance, instances
from ....fleet.nodes.fit import nearest_types
from ....fleet.nodes.policy import RESERVED, Capacity, Reservation, TypePolicy
from ..facts.eks import limits, takes_capacity_block
from ..facts.regions import is_withheld, regions_of
from ..words import Provisioner
from .plan import NodeEnvironment, image_of


def not_offered(instance_type: str, region: str, type_name: str = "type") -> str:
    """Say where a type is offered instead."""
    offered = regions_of(instance_type)
    if not offered:
        return f"is no longer offered in any region; choose another {type_name}"
    return f"is not offered in {region}, only in {', '.join(sorted(offered))}"


def check_types(environment: NodeEnvironment) -> Iterator[Problem]:
    """Report what is wrong with the settings of instance types."""
    for name, rule in environment.nodes.types.items():
        node = instance(name)
        if node is None:
            reason = f"unknown instance type {name!r}{nearest_types(name)}"
            yield environment.place.problem(("types", name), reason)
            continue
        for key, reason in _of_type(node, rule, environment):
            yield environment.place.problem(("types", name, key), reason)


def _of_type(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[tuple[str, str]]:
    yield from (("efa", reason) for reason in _efa(node, rule, environment))
    yield from (("spotTypes", reason) for reason in _alternatives(node, rule, environment))
    yield from (("zones", reason) for reason in _zones(rule, environment))
    yield from (("reservation", reason) for reason in _reservation(node, rule, environment))
    yield from (("nextBlocks", reason) for reason in _next_blocks(node, rule, environment))
    yield from (("placementGroup", reason) for reason in _placement_group(rule))
    yield from _sizes_of_block(rule, environment)
    if rule.min_nodes is not None and rule.max_nodes is not None and rule.min_nodes > rule.max_nodes:
        yield (
            "minNodes",
            f"must not be above {environment.place.key('maxNodes')} ({rule.max_nodes}), found {rule.min_nodes}",
        )


def _placement_group(rule: TypePolicy) -> Iterator[str]:
    """A Capacity Block has its instances close together (EC2 user guide, Capacity Blocks for ML).

    A placement group beside it is an error in AWS's own tool (aws/aws-parallelcluster,
    ``PlacementGroupCapacityTypeValidator``); launches fail for lack of capacity (terraform-aws-modules/
    terraform-aws-eks, pull request 3730).
    """
    if rule.placement_group and rule.capacity == Capacity.CAPACITY_BLOCK:
        yield "is not possible with a Capacity Block, whose instances are placed close together already; remove it"


def _sizes_of_block(rule: TypePolicy, environment: NodeEnvironment) -> Iterator[tuple[str, str]]:
    """A group of a Capacity Block has what was bought, as long as it is there."""
    if rule.capacity != Capacity.CAPACITY_BLOCK or environment.provisioner == Provisioner.KARPENTER:
        return
    for key, value in (("minNodes", rule.min_nodes), ("maxNodes", rule.max_nodes)):
        if value is not None:
            path = environment.place.key("reservation")
            yield key, f"all nodes of a Capacity Block run from its start to its end ({path}: count); remove it"


def _efa(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    if rule.efa and not node.fabric_interfaces:
        with_efa = sorted(n.name for n in instances().values() if n.family == node.family and n.fabric_interfaces)
        hint = f"in its family, {', '.join(with_efa)} have EFA" if with_efa else "no type of its family has EFA"
        yield f"{node.name} has no EFA; {hint}"
    close = rule.efa or rule.placement_group
    zones = rule.zones or ((rule.reservation.zone,) if rule.reservation else environment.zones)
    if close and len(zones) > 1:
        yield (
            f"nodes with EFA or in a placement group must be in one zone, found {', '.join(zones)}; set zones: "
            f"[{zones[0]}]"
        )


def _alternatives(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    for name in rule.alternatives:
        other = instance(name)
        if other is None:
            yield f"unknown instance type {name!r}{nearest_types(name)}"
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


def _zones(rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    known = environment.subnets or environment.zones
    unknown = [zone for zone in rule.zones if zone not in known]
    if unknown:
        yield f"must be zones of the environment ({', '.join(known)}), found {', '.join(unknown)}"


def _reservation(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
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
    yield from _zone_of(reservation, environment)
    if rule.zones and rule.zones != (reservation.zone,):
        yield f"is in {reservation.zone}, but zones is {', '.join(rule.zones)}; make them match"
    if environment.provisioner == Provisioner.KARPENTER and not reservation.id.startswith("cr-"):
        yield f"must have the ID of a reservation (cr-...) with Karpenter, found {reservation.id!r}"
    if rule.capacity == Capacity.CAPACITY_BLOCK:
        yield from _block(node, reservation, environment)


def _next_blocks(node: Instance, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    if rule.next_blocks and (rule.capacity != Capacity.CAPACITY_BLOCK or rule.reservation is None):
        place = environment.place
        yield (
            "are the Capacity Blocks after that of "
            f"{place.key('reservation')}; set capacity: capacity-block and {place.key('reservation')}, or remove it"
        )
        return
    for block in rule.next_blocks:
        yield from (f"{block.id}: {reason}" for reason in _zone_of(block, environment))
        yield from (f"{block.id}: {reason}" for reason in _block(node, block, environment))
    ids = [block.id for block in (rule.reservation, *rule.next_blocks) if block]
    for twice in sorted({each for each in ids if ids.count(each) > 1}):
        yield f"{twice}: is named more than once; each block has a node group of its own"


def _zone_of(reservation: Reservation, environment: NodeEnvironment) -> Iterator[str]:
    known = environment.subnets or environment.zones
    if reservation.zone not in known:
        yield f"is in {reservation.zone}, where the environment has no subnet; its zones are {', '.join(known)}"


def _block(node: Instance, block: Reservation, environment: NodeEnvironment) -> Iterator[str]:
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
