"""Does every pod fit a node of the types that it may run on?"""

import difflib
from collections.abc import Iterator
from decimal import Decimal

from ..api.problems import Problem
from ..catalog.instances import Instance, instance, instances
from ..render.nodes import allocatable
from ..render.types import Fleet, NodeChoice, PodDemand, Rendered

_GIB = Decimal(2**30)


def fit(fleet: Fleet) -> tuple[Problem, ...]:
    """Return what asks for more than a node has, or for nodes that do not exist.

    A pod must fit each of its flavors' instance types: the scheduler may choose any of them.
    """
    found = (problem for item in fleet.rendered for problem in _of(item))
    return tuple(sorted(dict.fromkeys(found), key=lambda p: p.place))


def _of(item: Rendered) -> Iterator[Problem]:
    path = _flavor_path(item)
    for demand in item.pods:
        for choice in demand.choices:
            for reason in _misfits(demand, choice):
                yield item.source.problem(path, f"flavor {choice.flavor!r} of OpenModel {item.model!r}: {reason}")


def _flavor_path(item: Rendered) -> str:
    spec = getattr(item.source.resource, "spec", None)
    single = getattr(spec, "model_claim", None)
    base = "spec.modelClaim" if single else "spec.modelClaims"
    claim = single or getattr(spec, "model_claims", None)
    if getattr(claim, "inference_flavors", None):
        return f"{base}.inferenceFlavors"
    return f"{base}.modelName" if single else f"{base}.models"


def _misfits(demand: PodDemand, choice: NodeChoice) -> Iterator[str]:
    if choice.instance_type is None:
        return
    node = instance(choice.instance_type)
    if node is None:
        close = difflib.get_close_matches(choice.instance_type, instances(), n=3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        yield f"INSTANCE-TYPE {choice.instance_type!r} is not a known instance type{hint}"
        return
    offered = allocatable(node)
    for key, wanted in sorted(demand.requests.items()):
        if "/" in key and wanted > offered.get(key, 0):
            yield _too_many(key, wanted, node)
        elif key in ("cpu", "memory") and wanted > offered[key]:
            yield (
                f"a pod asks for {_amount(key, wanted)}, and {node.name} offers {_amount(key, offered[key])} after "
                f"what kubelet and system keep; ask for less or take {_larger(demand, node)}"
            )


def _too_many(key: str, wanted: Decimal, node: Instance) -> str:
    if key != node.accelerator_resource:
        has = f"{node.accelerators} {node.accelerator_resource}" if node.accelerator_resource else "no accelerators"
        return f"a pod asks for {wanted} {key}, and {node.name} has {has}; choose another INSTANCE-TYPE"
    return (
        f"a pod asks for {wanted} {key}, and {node.name} has {node.accelerators}; choose an INSTANCE-TYPE with more, "
        f"or spread a replica over nodes: limits {key}: {node.accelerators} with params TP and PP"
    )


def _larger(demand: PodDemand, node: Instance) -> str:
    """Name the cheapest type of the same accelerator on which the pod fits."""
    fitting = [
        other
        for other in instances().values()
        if (other.accelerator, other.arch) == (node.accelerator, node.arch)
        and all(amount <= allocatable(other).get(key, 0) for key, amount in demand.requests.items())
    ]
    if not fitting:
        return "another type"
    return min(fitting, key=lambda i: (i.usd_per_hour is None, i.usd_per_hour or 0, i.vcpu, i.name)).name


def _amount(key: str, amount: Decimal) -> str:
    return f"{amount / _GIB:.1f}Gi memory" if key == "memory" else f"{amount:.2f} cpu"
