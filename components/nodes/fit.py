"""Does every pod fit a node of the types that it may run on?"""

import difflib
from collections.abc import Iterable, Iterator
from decimal import Decimal

from ..api.problems import Problem
from ..aws.names import EFA_RESOURCE
from ..fleet.demand import PodDemand
from ..fleet.rendered import Fleet
from .groups import allocatable
from .instances import Instance, instance, instances
from .wishes import Wish, wishes

_GIB = Decimal(2**30)


def fit(fleet: Fleet) -> tuple[Problem, ...]:
    """Return which pods of a fleet request more than a node has, or nodes that do not exist."""
    return misfits(wishes(fleet))


def misfits(wished: Iterable[Wish]) -> tuple[Problem, ...]:
    """Return what requests more than a node has, or nodes that do not exist.

    A pod must fit each of its flavors' instance types, and what the environment takes instead of them: the
    scheduler may choose any of them.
    """
    found = (wish.problem(reason) for wish in wished for reason in _misfits(wish))
    return tuple(sorted(dict.fromkeys(found), key=lambda p: p.place))


def _misfits(wish: Wish) -> Iterator[str]:
    choice = wish.choice
    if choice.instance_type is None:
        return
    if instance(choice.instance_type) is None:
        hint = nearest_types(choice.instance_type)
        yield f"{wish.type_name} {choice.instance_type!r} is not a known instance type{hint}"
        return
    for name in (choice.instance_type, *choice.alternatives):
        node = instance(name)
        if node:
            yield from _misfit(wish, node)


def nearest_types(name: str) -> str:
    """Return a hint with the closest instance types to an unknown one, or nothing."""
    close = difflib.get_close_matches(name, instances(), n=3)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _misfit(wish: Wish, node: Instance) -> Iterator[str]:
    demand = wish.demand
    offered = allocatable(node, efa=True)
    for key, wanted in sorted(demand.requests.items()):
        if "/" in key and wanted > offered.get(key, 0):
            yield _too_many(key, wanted, node, wish)
        elif key in ("cpu", "memory") and wanted > offered[key]:
            yield (
                f"each pod requests {amount_of(key, wanted)}, but {node.name} has only "
                f"{amount_of(key, offered[key])} allocatable; request less, or use {_larger(demand, node)}"
            )


def _too_many(key: str, wanted: Decimal, node: Instance, wish: Wish) -> str:
    if key == EFA_RESOURCE:
        return f"each pod requests {wanted} {key}, but {node.name} has {_efa(node)}; {_with_efa(wanted)}"
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


def _efa(node: Instance) -> str:
    return f"{node.efa_interfaces} EFA interfaces" if node.efa_interfaces else "no EFA"


def _with_efa(wanted: Decimal) -> str:
    most = max(node.efa_interfaces for node in instances().values())
    if wanted > most:
        return f"no instance type has more than {most}; request fewer"
    fitting = [node for node in instances().values() if node.efa_interfaces >= wanted]
    cheapest = min(fitting, key=lambda n: (n.usd_per_hour is None, n.usd_per_hour or 0, n.name))
    return f"the cheapest type with that many is {cheapest.name}"


def _larger(demand: PodDemand, node: Instance) -> str:
    """Name the cheapest type of the same accelerator on which the pod fits."""
    fitting = [
        other
        for other in instances().values()
        if (other.accelerator, other.arch) == (node.accelerator, node.arch)
        and all(amount <= allocatable(other, efa=True).get(key, 0) for key, amount in demand.requests.items())
    ]
    if not fitting:
        return "another instance type"
    return min(fitting, key=lambda i: (i.usd_per_hour is None, i.usd_per_hour or 0, i.vcpu, i.name)).name


def amount_of(key: str, amount: Decimal) -> str:
    """Write how much of a resource there is."""
    if key == "memory":
        return f"{amount / _GIB:.1f}Gi memory"
    return f"{amount:.2f} cpu" if key == "cpu" else f"{amount.normalize():f} {key}"
