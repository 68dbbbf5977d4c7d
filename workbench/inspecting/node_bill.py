"""What the nodes of a cluster cost, and how much of it is for models, for other pods, and idle.

A pod has the share of its node that it requests of the node's scarcest resource: the one of which all pods of the
node together request the largest part. So the shares of a node never exceed it, and what is left is idle.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from components.fleet.instances import instance
from components.fleet.nodes.groups import allocatable
from components.fleet.placement import requests_of
from components.fleet.prices import Buying
from components.plan.costs.bill import HOURS_PER_MONTH, UnitPrice, cents
from components.plan.costs.prices import Prices

from .environment import ClusterNode
from .recognition import Serving
from .snapshot import ClusterSnapshot, Identity, identity_of

_OVER = ("Succeeded", "Failed")
"""Phases of pods that hold nothing any more."""
_COUNTED = ("cpu", "memory")
"""What is shared besides accelerators; the number of pods and ephemeral storage cost nothing by themselves."""


@dataclass(frozen=True)
class NodeBill:
    """The nodes with a known price, and their shares, in US dollars per hour.

    Attributes:
        nodes: The prices of the nodes, by name.
        pods: What each pod uses, by its identity.
        models: What the pods of each model use, by its identity.
        unpriced: Why a node has no price, by its name.
    """

    nodes: Mapping[str, UnitPrice] = field(default_factory=dict)
    pods: Mapping[Identity, Decimal] = field(default_factory=dict)
    models: Mapping[Identity, Decimal] = field(default_factory=dict)
    unpriced: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def months(self) -> Mapping[Identity, Decimal]:
        """What each model uses per month, in whole cents that add up: each is rounded with all before it."""
        months: dict[Identity, Decimal] = {}
        exact = rounded = Decimal(0)
        for identity, usd in sorted(self.models.items()):
            exact += usd * HOURS_PER_MONTH
            months[identity] = cents(exact) - rounded
            rounded += months[identity]
        return months

    @property
    def total(self) -> Decimal:
        """The nodes together, per month in whole cents."""
        return cents(sum((price.usd for price in self.nodes.values()), Decimal(0)) * HOURS_PER_MONTH)

    @property
    def in_models(self) -> Decimal:
        """What all models use, per month."""
        return sum(self.months.values(), Decimal(0))

    @property
    def in_others(self) -> Decimal:
        """What other pods use, per month."""
        return cents(sum(self.pods.values(), Decimal(0)) * HOURS_PER_MONTH) - self.in_models

    @property
    def idle(self) -> Decimal:
        """The idle part per month: the rest, so that the lines add up to the nodes."""
        return self.total - self.in_models - self.in_others


def node_bill(snapshot: ClusterSnapshot, nodes: Mapping[str, ClusterNode], served: Iterable[Serving]) -> NodeBill:
    """Return the bill of the nodes that models run on, and of all others with accelerators; empty without pods.

    Args:
        snapshot: All objects.
        nodes: The nodes by name.
        served: The models.
    """
    if not snapshot.of_kind("", "Pod"):
        return NodeBill()
    served = [*served]
    by_node: dict[str, list[tuple[Identity, Mapping[str, Decimal]]]] = {}
    for pod in snapshot.of_kind("", "Pod"):
        spec = pod.get("spec") or {}
        if spec.get("nodeName") in nodes and (pod.get("status") or {}).get("phase") not in _OVER:
            by_node.setdefault(spec["nodeName"], []).append((identity_of(pod), requests_of(spec)))
    used = {str((pod.get("spec") or {}).get("nodeName") or "") for serving in served for pod in serving.pods}
    prices: dict[str, UnitPrice] = {}
    unpriced: dict[str, str] = {}
    shares: dict[Identity, Decimal] = {}
    for name, node in nodes.items():
        if name not in used and not node.accelerators:
            continue
        price = _price(node)
        if isinstance(price, str):
            unpriced[name] = price
            continue
        prices[name] = price
        for identity, share in _shares(_offered(node), by_node.get(name, ())).items():
            shares[identity] = price.usd * share
    models = {
        serving.identity: sum((shares.get(identity_of(pod), Decimal(0)) for pod in serving.pods), Decimal(0))
        for serving in served
        if any(identity_of(pod) in shares for pod in serving.pods)
    }
    return NodeBill(prices, shares, models, unpriced)


def _price(node: ClusterNode) -> UnitPrice | str:
    if not node.instance_type:
        return "the instance type of its nodes is unknown"
    if instance(node.instance_type) is None or not node.region:
        return f"the instance type of its nodes is unknown: {node.instance_type} is not in the price list"
    return Prices(node.region).node([node.instance_type], node.capacity or Buying.ON_DEMAND)


def _offered(node: ClusterNode) -> Mapping[str, Decimal]:
    """Return what a node offers; what it does not report, as in a file, is that of its instance type."""
    known = instance(node.instance_type)
    return {**(allocatable(known) if known else {}), **node.offered}


def _shares(
    offered: Mapping[str, Decimal], pods: Iterable[tuple[Identity, Mapping[str, Decimal]]]
) -> dict[Identity, Decimal]:
    """Return the share of a node that each pod uses."""
    pods = [*pods]
    counted = [key for key, amount in offered.items() if amount and (key in _COUNTED or "/" in key)]
    asked = {key: sum((own.get(key, Decimal(0)) for _, own in pods), Decimal(0)) / offered[key] for key in counted}
    scarcest = max(counted, key=lambda key: asked[key], default="")
    if not scarcest or not asked[scarcest]:
        return {identity: Decimal(0) for identity, _ in pods}
    # More than all of it can be requested where a node was changed under its pods.
    whole = max(asked[scarcest], Decimal(1)) * offered[scarcest]
    return {identity: own.get(scarcest, Decimal(0)) / whole for identity, own in pods}
