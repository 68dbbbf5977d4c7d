"""Check that every pod fits the instance types that it may run on."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity, nearest_names
from ...contract.quantity import GIB
from ..demand import INSTANCE_TYPE_LABEL, NodeChoice, PodDemand
from ..instances import Instance, accelerated_instances, fabrics, instance, instances
from ..origins import Origin, Reporter
from ..rendered import Fleet
from .groups import allocatable, takes, wants_efa

DESCRIBED_TYPES = "instanceTypes describes types that the tables do not have yet"
_FORM = r"(?:[-_ ](?:sxm\d?|pcie|nvl|hbm\d?e?))?"
_ACCELERATOR = re.compile(
    rf"(?:\d{{1,2}}\s*x\s*)?(?P<name>[a-z0-9 _-]*?[a-z0-9]){_FORM}(?:[-_ ](?P<size>\d{{2,3}})[-_ ]?g(?:i?b)?)?{_FORM}"
)
"""Names of accelerators as vendors and schedulers write them, such as ``A100-80GB``, ``h100-sxm5`` or ``4x L40S``."""
_IGNORED = str.maketrans("", "", "-_ ")
_LONGEST_NAME = 60
_TENTH, _HUNDREDTH = Decimal("0.1"), Decimal("0.01")


class NodeRequest(NamedTuple):
    """One kind of node that one kind of pod may run on.

    Attributes:
        source: Where to report problems if no manifest field made the choice.
    """

    source: Reporter
    demand: PodDemand
    choice: NodeChoice

    @property
    def type_name(self) -> str:
        """The manifest's word for the instance type, for messages."""
        return self.choice.chosen_by.type_name if self.choice.chosen_by else INSTANCE_TYPE_LABEL

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Return a problem at the field that made the choice."""
        source = self.choice.chosen_by.origin if self.choice.chosen_by else self.source
        return source.problem(reason, severity, rule)


def node_requests(fleet: Fleet) -> Iterator[NodeRequest]:
    """Yield every node choice of every pod, in the order of the fleet."""
    for item in fleet.rendered:
        source = Origin(item.source, "spec")
        for demand in item.pods:
            for choice in demand.choices:
                yield NodeRequest(source, demand, choice)


def flavor_requests(flavors: Sequence[PodDemand]) -> Iterator[NodeRequest]:
    """Yield the node choices of flavors that no model claims yet."""
    for flavor in flavors:
        for choice in flavor.choices:
            if choice.chosen_by:
                yield NodeRequest(choice.chosen_by.origin, flavor, choice)


def fit(fleet: Fleet, efa_types: Collection[str] = ()) -> tuple[Problem, ...]:
    """Report pods of a fleet that request more than a node offers, or an unknown instance type."""
    return misfits(node_requests(fleet), efa_types)


def misfits(requests: Iterable[NodeRequest], efa_types: Collection[str] = ()) -> tuple[Problem, ...]:
    """Report requests that exceed what a node offers, or that name an unknown instance type.

    A pod must fit every instance type of its flavors, and every alternative that the environment allows: the
    scheduler may choose any of them.

    Args:
        requests: The node choices to check.
        efa_types: Instance types whose nodes have EFA even if no pod requests it.
    """
    problems = (
        request.problem(reason, rule=rule) for request in requests for rule, reason in _misfits(request, efa_types)
    )
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: p.sort_key))


def _misfits(request: NodeRequest, efa_types: Collection[str]) -> Iterator[tuple[RuleId, str]]:
    choice, demand = request.choice, request.demand
    if choice.instance_type is None:
        return
    if instance(choice.instance_type) is None:
        hint = nearest_types(choice.instance_type)
        reason = (
            f"{request.type_name} {choice.instance_type!r} is not a known instance type{hint or '; check its name'}; "
            f"{DESCRIBED_TYPES}"
        )
        yield RuleId.NODES_TYPE_UNKNOWN, reason
        return
    efa = choice.instance_type in efa_types or wants_efa(demand)
    for name in (choice.instance_type, *choice.alternatives):
        node = instance(name)
        if node is None:
            continue  # the checks of the cloud's settings report unknown alternatives
        offered = allocatable(node, efa=efa)
        for key, amount in sorted(demand.requests.items()):
            if "/" in key and amount > offered.get(key, 0):
                yield RuleId.NODES_TOO_SMALL, _too_many_devices(key, amount, node, request)
            elif key in ("cpu", "memory") and amount > offered[key]:
                beside = ""
                if efa and node.fabric_memory and key == "memory":
                    beside = f" beside the huge pages that {fabrics()[node.fabric_resource]} sets aside"
                larger = _larger_type(demand, node)
                reason = (
                    f"each pod requests {amount_needed(key, amount)}, but {node.name} has only "
                    f"{amount_of(key, offered[key])} allocatable{beside}; request less"
                    f"{f', or use {larger}' if larger else ''}"
                )
                yield RuleId.NODES_TOO_SMALL, reason


def nearest_types(name: str) -> str:
    """Return a hint with the instance types that have an accelerator of this name, or else with the closest names."""
    accelerator = _types_with(name)
    if accelerator:
        return accelerator
    close = nearest_names(name, instances(), 3)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _types_with(name: str) -> str:
    """Return the instance types with an accelerator that was named in place of one; empty for any other name."""
    match = _ACCELERATOR.fullmatch(name[:_LONGEST_NAME].lower())
    if match is None:
        return ""
    wanted, size = _plain(match["name"]), Decimal(match["size"] or 0)
    by_name: dict[str, list[Instance]] = {}
    for node in accelerated_instances():
        by_name.setdefault(_plain(node.accelerator), []).append(node)
    if wanted not in by_name:
        # A10 stands for A10G, but not for A100.
        longer = [key for key in by_name if len(wanted) > 1 and key.startswith(wanted) and key[len(wanted)].isalpha()]
        wanted = min(longer, default="", key=lambda key: (len(key), key))
    nodes = by_name.get(wanted, [])
    most = max((node.accelerator_memory_gib or Decimal(0) for node in nodes), default=Decimal(0))
    # Clouds report the memory in other units than vendors: an A10G with 24 GB has 22.35 GiB. Half of the memory and
    # less is a part of an accelerator.
    nodes = [
        node
        for node in nodes
        if (memory := node.accelerator_memory_gib or Decimal(0)) >= most / 2
        and (not size or abs(memory - size) <= size / 8)
    ]
    nodes.sort(key=lambda node: (node.usd_per_hour is None, node.usd_per_hour or 0, node.name))
    if not nodes:
        return ""
    types = ", ".join(
        f"{node.name} ({node.accelerators} x {node.accelerator_memory_gib:.0f} GiB)" for node in nodes[:3]
    )
    return f", but an accelerator; use an instance type that has it, such as {types}"


def _plain(name: str) -> str:
    return name.lower().translate(_IGNORED).removeprefix("nvidia").removeprefix("tesla").removeprefix("geforce")


def _too_many_devices(key: str, amount: Decimal, node: Instance, request: NodeRequest) -> str:
    requested = f"each pod requests {amount} {key}, but {node.name} has"
    type_name = request.type_name
    if fabric := fabrics().get(key):
        offered = f"{node.fabric_interfaces} {fabric} interfaces" if node.fabric_resource == key else f"no {fabric}"
        return f"{requested} {offered}; {_type_with_interfaces(key, amount, request.demand)}"
    if key != node.accelerator_resource:
        offered = (
            f"{node.accelerators} {node.accelerator_resource}" if node.accelerator_resource else "no accelerators"
        )
        return f"{requested} {offered}; {_other_device(key, type_name, request.demand, node)}"
    field = request.choice.chosen_by
    alternative = (field.alternative if field else "request at most {count}").format(key=key, count=node.accelerators)
    if not _some_type_has(key, request.demand):
        return f"{requested} only {node.accelerators}, and no instance type has what the pod requests; {alternative}"
    article = "an" if type_name[0] in "AEIOU" else "a"
    return f"{requested} only {node.accelerators}; choose {article} {type_name} with more, or {alternative}"


def _other_device(key: str, type_name: str, demand: PodDemand, node: Instance) -> str:
    """Return what to do about devices of a kind that a type does not have."""
    if _some_type_has(key, demand):
        return f"choose another {type_name}"
    instead = f"request {node.accelerator_resource}" if node.accelerator_resource else "request none"
    if any(each.accelerator_resource == key for each in accelerated_instances()):
        return f"no instance type has what the pod requests; {instead}, or request less"
    return f"no instance type has {key}; {instead}"


def _some_type_has(key: str, demand: PodDemand) -> bool:
    """Return whether a pod fits a type with accelerators of a kind."""
    return any(node.accelerator_resource == key and takes(node, demand.requests) for node in accelerated_instances())


def _type_with_interfaces(resource: str, amount: Decimal, demand: PodDemand) -> str:
    candidates = [node for node in instances().values() if node.fabric_resource == resource]
    most = max((node.fabric_interfaces for node in candidates), default=0)
    if amount > most:
        return f"no instance type has more than {most}; request fewer"
    fitting = [node for node in candidates if takes(node, demand.requests)]
    if not fitting:
        return "no instance type has that many with what else the pod requests; request fewer"
    cheapest = min(fitting, key=lambda n: (n.usd_per_hour is None, n.usd_per_hour or 0, n.name))
    return f"the cheapest type with that many is {cheapest.name}"


def _larger_type(demand: PodDemand, node: Instance) -> str:
    """Name the cheapest type with the same accelerator that the pod fits; empty if there is none."""
    fitting = [
        other
        for other in instances().values()
        if (other.accelerator, other.arch) == (node.accelerator, node.arch)
        and (other.is_suggested or other.family == node.family)
        # Not a part of an accelerator in place of a whole one.
        and (other.accelerator_memory_gib or 0) >= (node.accelerator_memory_gib or 0)
        and takes(other, demand.requests)
    ]
    if not fitting:
        return ""
    return min(fitting, key=lambda i: (i.usd_per_hour is None, i.usd_per_hour or 0, i.vcpu, i.name)).name


def amount_of(key: str, amount: Decimal) -> str:
    """Format an available amount, rounded down so that a request for the printed amount fits."""
    return _formatted(key, amount, ROUND_FLOOR)


def amount_needed(key: str, amount: Decimal) -> str:
    """Format a requested amount, rounded up."""
    return _formatted(key, amount, ROUND_CEILING)


def _formatted(key: str, amount: Decimal, rounding: str) -> str:
    if key == "memory":
        return f"{(amount / GIB).quantize(_TENTH, rounding)}Gi memory"
    return f"{amount.quantize(_HUNDREDTH, rounding)} cpu" if key == "cpu" else f"{amount.normalize():f} {key}"
