"""The rules of a cluster autoscaler, as functions of the nodes and pods.

Labels, taints and resources are checked as by ``NodeAffinity``, ``TaintToleration`` and ``NodeResourcesFit`` of
kube-scheduler, so that no node is started in vain. Spread constraints, affinity between pods and volumes are ignored:
whether a pod is bound to the node that was started for it is up to the scheduler.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from components.contract.quantity import parse_quantity
from components.fleet.demand import ZONE_LABEL
from components.fleet.placement import requests_of, tolerates

from ...fleet import ServedGroup
from ..kubelet import is_ending, unschedulable
from ..label_selectors import is_met
from .node_state import NodeStage, group_of, is_replacement, stage_of

Json = dict[str, Any]
_ONE = Decimal(1)
CORDON = "node.kubernetes.io/unschedulable"
_TEMPORARY_TAINTS = (CORDON, "node.kubernetes.io/not-ready")
"""Taints that the node controller sets temporarily."""
_ENDED = ("Succeeded", "Failed")
_DAEMONS = "DaemonSet"
_AVAILABLE = (NodeStage.IN_USE, NodeStage.STARTING)


class NodeRoom:
    """The free resources of a node."""

    def __init__(self, node: Json, pods: Iterable[Json] = ()) -> None:
        self.node = node
        offered = node.get("status", {}).get("allocatable") or {}
        self._free = {key: parse_quantity(amount) for key, amount in offered.items()}
        for pod in pods:
            self.take(pod)

    def take(self, pod: Json) -> None:
        for key, amount in _needs(pod).items():
            self._free[key] = self._free.get(key, Decimal(0)) - amount

    def fits(self, pod: Json) -> bool:
        """Tell whether a pod may run on the node and fits."""
        return is_allowed(pod, self.node) and all(
            amount <= self._free.get(key, Decimal(0)) for key, amount in _needs(pod).items() if amount
        )


def is_allowed(pod: Json, node: Json) -> bool:
    """Tell whether a pod may run on a node, regardless of free resources."""
    spec, labels = pod["spec"], node["metadata"].get("labels") or {}
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    terms = (_affinity(pod).get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms")
    if terms is not None and not any(_matches(term, node) for term in terms):
        return False
    taints = (node.get("spec") or {}).get("taints") or ()
    return all(
        any(tolerates(toleration, taint) for toleration in spec.get("tolerations") or ())
        for taint in taints
        if taint["effect"] != "PreferNoSchedule" and taint["key"] not in _TEMPORARY_TAINTS
    )


def preference(pod: Json, node: Json) -> int:
    """Return the sum of the weights of the preferred node affinities that a node matches."""
    preferred = _affinity(pod).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return sum(term["weight"] for term in preferred if _matches(term["preference"], node))


def _affinity(pod: Json) -> Json:
    return (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def _matches(term: Json, node: Json) -> bool:
    """Tell whether a node matches a term; an empty term matches nothing."""
    labels, name = node["metadata"].get("labels") or {}, {"metadata.name": node["metadata"]["name"]}
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return bool(expressions or fields) and (
        all(is_met(expression, labels) for expression in expressions) and all(is_met(field, name) for field in fields)
    )


def _needs(pod: Json) -> dict[str, Decimal]:
    return {**requests_of(dict(pod["spec"])), "pods": _ONE}


@dataclass(frozen=True, slots=True)
class NodeStart:
    """A node to start for a pod."""

    node: Json
    pod: Json


@dataclass(frozen=True, slots=True)
class EarlyBinding:
    """A node in reserve to which the scheduler bound pods before it saw the cordon.

    Attributes:
        moved: Pods to delete, because the group has its maximum of nodes; if empty, the node is put in use.
    """

    node: Json
    moved: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """A pod for which no node can be started."""

    pod: Json
    reason: str


class NodeView:
    """The nodes by group, with their pods."""

    def __init__(self, groups: Sequence[ServedGroup], nodes: Mapping[str, Json], pods: Iterable[Json]) -> None:
        self.groups = {group.name: group for group in groups}
        self.nodes = nodes
        self.pods: dict[str, list[Json]] = {name: [] for name in nodes}
        self.pending: list[Json] = []
        for pod in pods:
            node = pod["spec"].get("nodeName")
            if not node:
                self.pending += [pod] if unschedulable(pod) and not is_ending(pod) else []
            elif pod.get("status", {}).get("phase") not in _ENDED:
                self.pods.setdefault(node, []).append(pod)

    def group(self, node: Json) -> ServedGroup | None:
        return group_of(node["metadata"]["name"], self.groups)

    def has_pods(self, node: str) -> bool:
        """Tell whether a node has pods, other than those of DaemonSets."""
        return any(_owner(pod) != _DAEMONS for pod in self.pods.get(node, ()))

    def count(self, group: ServedGroup, *stages: NodeStage) -> int:
        """Count the nodes of a group in the given states."""
        return sum(
            stage_of(node) in stages for name, node in self.nodes.items() if group_of(name, self.groups) is group
        )

    def in_order(self) -> Iterator[Json]:
        """Yield the nodes of each group by index."""
        # By length first: names end with an index without leading zeros.
        for name in sorted(self.nodes, key=lambda name: (name.rpartition("-")[0], len(name), name)):
            yield self.nodes[name]


def initial_stages(view: NodeView) -> dict[str, NodeStage]:
    """Return the state of each new node: the minimum of each group is put in use, as are nodes with pods."""
    stages: dict[str, NodeStage] = {}
    counts = _counts(view)
    new_nodes = [node for node in view.in_order() if stage_of(node) is None]
    for node in sorted(new_nodes, key=lambda node: not view.has_pods(node["metadata"]["name"])):
        name, group = node["metadata"]["name"], view.group(node)
        if group is None or counts[group.name] < (group.most if view.has_pods(name) else group.least):
            stages[name] = NodeStage.IN_USE
            if group:
                counts[group.name] += 1
        else:
            stages[name] = NodeStage.RESERVE
    return stages


def early_bindings(view: NodeView) -> Iterator[EarlyBinding]:
    """Yield the nodes in reserve that have pods; pods are moved only beyond the maximum of a group."""
    counts = _counts(view)
    for node in view.in_order():
        name, group = node["metadata"]["name"], view.group(node)
        pods = tuple(pod for pod in view.pods.get(name, ()) if _owner(pod) != _DAEMONS and not is_ending(pod))
        if stage_of(node) is not NodeStage.RESERVE or not pods:
            continue
        # Nothing would recreate a pod without a controller.
        if group is None or counts[group.name] < group.most or not all(map(_owner, pods)):
            yield EarlyBinding(node)
            if group:
                counts[group.name] += 1
        else:
            yield EarlyBinding(node, pods)


def _counts(view: NodeView) -> dict[str, int]:
    """Count the nodes of each group that are in use, start or leave."""
    return {name: view.count(group, *_AVAILABLE, NodeStage.LEAVING) for name, group in view.groups.items()}


def _owner(pod: Json) -> str:
    """Return the kind of a pod's controller; empty if it has none."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((str(owner["kind"]) for owner in owners if owner.get("controller")), "")


def scale_up(view: NodeView) -> Iterator[NodeStart | Unschedulable]:
    """Yield the nodes to start for pending pods, oldest pod first, and the pods without one."""
    rooms = [
        NodeRoom(node, view.pods.get(node["metadata"]["name"], ()))
        for node in view.in_order()
        if stage_of(node) in _AVAILABLE
    ]
    counts = _counts(view)
    started: set[str] = set()
    for pod in sorted(view.pending, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"])):
        room = next((room for room in rooms if room.fits(pod)), None)
        if room:
            room.take(pod)
            continue
        node = _best_node(view, pod, counts, started)
        if node is None:
            yield Unschedulable(pod, _pending_reason(view, pod, counts))
            continue
        name = node["metadata"]["name"]
        started.add(name)
        counts[name.rpartition("-")[0]] += 1
        rooms.append(NodeRoom(node, [pod]))
        yield NodeStart(node, pod)


def _best_node(view: NodeView, pod: Json, counts: Mapping[str, int], started: set[str]) -> Json | None:
    """Choose a node of the reserve: by the pod's preference, the cheaper group, the zone with the fewest nodes."""
    order = list(view.groups)
    zones: dict[tuple[str, str], int] = {}
    for name, node in view.nodes.items():
        if stage_of(node) in _AVAILABLE or name in started:
            key = name.rpartition("-")[0], _zone(node)
            zones[key] = zones.get(key, 0) + 1

    def rank(node: Json) -> tuple[int, float, int, int]:
        name = node["metadata"]["name"].rpartition("-")[0]
        usd = view.groups[name].usd_per_hour
        price = float("inf") if usd is None else usd
        return -preference(pod, node), price, order.index(name), zones.get((name, _zone(node)), 0)

    fitting = [
        node
        for node in view.in_order()
        if stage_of(node) is NodeStage.RESERVE
        and node["metadata"]["name"] not in started
        and (group := view.group(node))
        and counts[group.name] < group.most
        and NodeRoom(node).fits(pod)
    ]
    return min(fitting, key=rank, default=None)


def _zone(node: Json) -> str:
    return str((node["metadata"].get("labels") or {}).get(ZONE_LABEL, ""))


def _pending_reason(view: NodeView, pod: Json, counts: Mapping[str, int]) -> str:
    allowed = {group.name: group for node in view.in_order() if (group := view.group(node)) and is_allowed(pod, node)}
    full = [group for group in allowed.values() if counts[group.name] >= group.most]
    if full:
        return " and ".join(f"group {group.name} has its maximum of {group.most} nodes" for group in full)
    if allowed:
        return f"no node of {', '.join(allowed)} is left that has room for it"
    return unschedulable(pod)


def idle(view: NodeView) -> Iterator[Json]:
    """Yield the nodes without pods, as many as each group has above its minimum."""
    spare = {name: view.count(group, *_AVAILABLE) - group.least for name, group in view.groups.items()}
    for node in reversed(list(view.in_order())):
        group = view.group(node)
        empty = not view.has_pods(node["metadata"]["name"]) and stage_of(node) is NodeStage.IN_USE
        if group and empty and spare[group.name] > 0:
            spare[group.name] -= 1
            yield node


def orphaned_replacements(view: NodeView) -> Iterator[str]:
    """Yield the unused replacement nodes whose group is no longer in the fleet: no stack would delete them."""
    for name, node in view.nodes.items():
        if is_replacement(node) and view.group(node) is None and not view.has_pods(name):
            yield name
