"""Does every pod fit a node of the types that it may run on?"""

import difflib
from collections.abc import Collection, Iterable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ..demand import PodDemand
from ..instances import Instance, fabrics, instance, instances
from ..rendered import Fleet
from .groups import allocatable, takes, wants_efa
from .wishes import Wish, wishes

_GIB = Decimal(2**30)
_TENTH, _HUNDREDTH = Decimal("0.1"), Decimal("0.01")


def fit(fleet: Fleet, efa_types: Collection[str] = ()) -> tuple[Problem, ...]:
    """Return which pods of a fleet request more than a node has, or nodes that do not exist."""
    return misfits(wishes(fleet), efa_types)


def misfits(wished: Iterable[Wish], efa_types: Collection[str] = ()) -> tuple[Problem, ...]:
    """Return what requests more than a node has, or nodes that do not exist.

    A pod must fit each of its flavors' instance types, and what the environment takes instead of them: the
    scheduler may choose any of them.

    Args:
        wished: What pods ask for, and where.
        efa_types: Instance types whose nodes have EFA even where no pod asks for it.
    """
    found = (wish.problem(reason, rule=rule) for wish in wished for rule, reason in _misfits(wish, efa_types))
    return tuple(sorted(dict.fromkeys(found), key=lambda p: p.place))


def _misfits(wish: Wish, efa_types: Collection[str]) -> Iterator[tuple[RuleId, str]]:
    choice = wish.choice
    if choice.instance_type is None:
        return
    if instance(choice.instance_type) is None:
        hint = nearest_types(choice.instance_type)
        reason = f"{wish.type_name} {choice.instance_type!r} is not a known instance type{hint}"
        yield RuleId.NODES_TYPE_UNKNOWN, reason
        return
    for name in (choice.instance_type, *choice.alternatives):
        node = instance(name)
        if node:
            has_efa = choice.instance_type in efa_types or wants_efa(wish.demand)
            yield from ((RuleId.NODES_TOO_SMALL, reason) for reason in _misfit(wish, node, efa=has_efa))


def nearest_types(name: str) -> str:
    """Return a hint with the closest instance types to an unknown one, or nothing."""
    close = difflib.get_close_matches(name, instances(), n=3)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _misfit(wish: Wish, node: Instance, *, efa: bool) -> Iterator[str]:
    demand = wish.demand
    offered = allocatable(node, efa=efa)
    for key, wanted in sorted(demand.requests.items()):
        if "/" in key and wanted > offered.get(key, 0):
            yield _too_many(key, wanted, node, wish)
        elif key in ("cpu", "memory") and wanted > offered[key]:
            yield (
                f"each pod requests {amount_needed(key, wanted)}, but {node.name} has only "
                f"{amount_of(key, offered[key])} allocatable{_beside(node, key, efa=efa)}; request less, or use "
                f"{_larger(demand, node)}"
            )


def _beside(node: Instance, key: str, *, efa: bool) -> str:
    if not (efa and node.fabric_memory and key == "memory"):
        return ""
    return f" beside the huge pages that {fabrics()[node.fabric_resource]} sets aside"


def _too_many(key: str, wanted: Decimal, node: Instance, wish: Wish) -> str:
    fabric = fabrics().get(key)
    if fabric:
        has = f"{node.fabric_interfaces} {fabric} interfaces" if node.fabric_resource == key else f"no {fabric}"
        return f"each pod requests {wanted} {key}, but {node.name} has {has}; {_with_interfaces(key, wanted)}"
    if key != node.accelerator_resource:
        has = f"{node.accelerators} {node.accelerator_resource}" if node.accelerator_resource else "no accelerators"
        return f"each pod requests {wanted} {key}, but {node.name} has {has}; choose another {wish.type_name}"
    instead = wish.instead(key, node.accelerators)
    return (
        f"each pod requests {wanted} {key}, but {node.name} has only {node.accelerators}; choose "
        f"{_a(wish.type_name)} with more, or {instead}"
    )


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "AEIOU" else f"a {word}"


def _with_interfaces(resource: str, wanted: Decimal) -> str:
    having = [node for node in instances().values() if node.fabric_resource == resource]
    most = max((node.fabric_interfaces for node in having), default=0)
    if wanted > most:
        return f"no instance type has more than {most}; request fewer"
    fitting = [node for node in having if node.fabric_interfaces >= wanted]
    cheapest = min(fitting, key=lambda n: (n.usd_per_hour is None, n.usd_per_hour or 0, n.name))
    return f"the cheapest type with that many is {cheapest.name}"


def _larger(demand: PodDemand, node: Instance) -> str:
    """Name the cheapest type of the same accelerator on which the pod fits."""
    fitting = [
        other
        for other in instances().values()
        if (other.accelerator, other.arch) == (node.accelerator, node.arch) and takes(other, demand.requests)
    ]
    if not fitting:
        return "another instance type"
    return min(fitting, key=lambda i: (i.usd_per_hour is None, i.usd_per_hour or 0, i.vcpu, i.name)).name


def amount_of(key: str, amount: Decimal) -> str:
    """Write how much of a resource there is. It is rounded down, so that a request of what is written fits."""
    return _written(key, amount, ROUND_FLOOR)


def amount_needed(key: str, amount: Decimal) -> str:
    """Write how much of a resource is asked for, rounded up."""
    return _written(key, amount, ROUND_CEILING)


def _written(key: str, amount: Decimal, rounding: str) -> str:
    if key == "memory":
        return f"{(amount / _GIB).quantize(_TENTH, rounding)}Gi memory"
    return f"{amount.quantize(_HUNDREDTH, rounding)} cpu" if key == "cpu" else f"{amount.normalize():f} {key}"
