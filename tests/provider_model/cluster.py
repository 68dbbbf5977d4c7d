"""Pods and nodes of one cluster in virtual time.

Deployments, StatefulSets and LeaderWorkerSets replace pods as their controllers do; pods wait for a node with room
that their node selector, affinity and tolerations accept; node groups start and drain nodes. How long a pod takes to
start is given: it is what the plan expects.
"""

import math
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import simpy

Steps = Generator[simpy.Event, Any, None]
ZONE = "topology.kubernetes.io/zone"
_TERMINATES, _PAUSE, _PATIENCE, _AGAIN = 120, 60, 900, 10
"""Seconds until EC2 has terminated an instance; that EKS waits after a drain, and for one; between two attempts."""


class RefusedError(Exception):
    """A cloud gives up."""


@dataclass(frozen=True)
class Start:
    """Seconds from the creation of a pod until it is ready.

    Attributes:
        node: Until a new node is ready.
        fresh: On a node that has not pulled the image.
        warm: On a node that has.
    """

    node: float
    fresh: float
    warm: float


@dataclass(frozen=True)
class Load:
    """A workload.

    Attributes:
        title: ``Kind namespace/name``.
        body: The object.
        replicas: Replicas that it is to have.
        room: What a replica takes of a node.
        grace: Seconds that an old pod takes to terminate.
    """

    title: str
    body: Mapping[str, Any]
    replicas: int
    room: int
    start: Start
    grace: float

    @property
    def template(self) -> Mapping[str, Any]:
        """The pods' template: that of the workers of a LeaderWorkerSet."""
        spec = self.body["spec"]
        groups = spec.get("leaderWorkerTemplate")
        found: Mapping[str, Any] = groups["workerTemplate"] if groups else spec["template"]
        return found

    @property
    def image(self) -> str:
        return " ".join(str(each.get("image")) for each in self.template["spec"]["containers"])

    def is_newer(self, other: "Load") -> bool:
        """Whether its controller replaces the pods of another revision."""
        key = "leaderWorkerTemplate" if "leaderWorkerTemplate" in self.body["spec"] else "template"
        return bool(self.body["spec"][key] != other.body["spec"][key])


@dataclass(frozen=True)
class Budget:
    """A PodDisruptionBudget."""

    namespace: str
    spec: Mapping[str, Any]

    def covers(self, load: Load) -> bool:
        selector = (self.spec.get("selector") or {}).get("matchLabels") or {}
        labels = (load.template.get("metadata") or {}).get("labels") or {}
        return f" {self.namespace}/" in load.title and selector.items() <= labels.items()

    def least(self, replicas: int) -> int:
        """Return how many replicas must be ready."""
        if "minAvailable" in self.spec:
            return _amount(self.spec["minAvailable"], replicas, up=True)
        return replicas - _amount(self.spec["maxUnavailable"], replicas, up=True)


@dataclass
class Group:
    """Nodes of one kind.

    Attributes:
        labels: The values that each label may have.
        taints: Taints as Kubernetes writes them.
        room: What one node has room for.
        most: Nodes at most.
        at_once: Nodes that are replaced at once.
        surges: Whether new nodes start before old ones go.
        is_limited: Whether ``most`` also limits the nodes that start before old ones go: reserved instances.
        is_patient: Whether its deletion waits for disruption budgets: that of a pool of Karpenter.
        leaves: Whether the group takes no more pods.
        is_foreign: Whether the nodes belong to somebody else, who has made them fit.
    """

    name: str
    labels: Mapping[str, frozenset[str]]
    taints: tuple[Mapping[str, str], ...]
    room: int
    most: int
    at_once: int = 1
    surges: bool = True
    is_limited: bool = False
    is_patient: bool = False
    leaves: bool = False
    is_foreign: bool = False
    nodes: list["Node"] = field(default_factory=list)

    def accepts(self, spec: Mapping[str, Any]) -> bool:
        """Whether its nodes accept a pod."""
        if self.is_foreign:
            return True
        tolerated = spec.get("tolerations") or ()
        if any(not _tolerates(tolerated, taint) for taint in self.taints):
            return False
        if any(value not in self.labels.get(key, ()) for key, value in (spec.get("nodeSelector") or {}).items()):
            return False
        affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        return required is None or any(
            all(self._meets(rule) for rule in term.get("matchExpressions") or ())
            for term in required["nodeSelectorTerms"]
        )

    def _meets(self, rule: Mapping[str, Any]) -> bool:
        own, values = self.labels.get(rule["key"], frozenset()), frozenset(rule.get("values") or ())
        return {
            "In": bool(own & values),
            "NotIn": not own or bool(own - values),
            "Exists": bool(own),
            "DoesNotExist": not own,
        }[rule["operator"]]


def _tolerates(tolerations: Iterable[Mapping[str, Any]], taint: Mapping[str, str]) -> bool:
    return any(
        each.get("key") in (None, taint["key"])
        and each.get("effect") in (None, taint["effect"])
        and (each.get("operator") == "Exists" or each.get("value", "") == taint.get("value", ""))
        for each in tolerations
    )


@dataclass(eq=False)
class Node:
    """One node. ``cordoned`` nodes take no more pods."""

    group: Group
    free: int
    images: set[str] = field(default_factory=set)
    cordoned: bool = False


class Replica:
    """One replica of a workload."""

    def __init__(self, cluster: "Cluster", load: Load) -> None:
        self.cluster, self.load = cluster, load
        self.nodes: list[Node] = []
        self.ready = False
        self.stopped = False
        cluster.env.process(self._run())

    def _run(self) -> Steps:
        """Wait for room, then start."""
        load, cluster = self.load, self.cluster
        while not self.stopped and not cluster.place(self):
            yield cluster.changed
        if self.stopped:
            return
        for node in self.nodes:
            if load.image not in node.images:
                yield cluster.env.timeout(load.start.fresh)
                break
        else:
            yield cluster.env.timeout(load.start.warm)
        for node in self.nodes:
            node.images.add(load.image)
        if not self.stopped:
            self.ready = True
            cluster.note(load.title)

    def stop(self) -> simpy.Event:
        """End the replica; the event comes when its room is free."""
        self.stopped, self.ready = True, False
        self.cluster.note(self.load.title)
        return self.cluster.env.process(self._end())

    def _end(self) -> Steps:
        yield self.cluster.env.timeout(self.load.grace if self.nodes else 0)
        for node in self.nodes:
            node.free += self.cluster.share(self.load, node.group)
        self.nodes = []
        self.cluster.wake()


@dataclass
class Short:
    """What a workload lacked during an update."""

    most: int = 0
    seconds: float = 0


class Cluster:
    """The pods and nodes of one cluster."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env
        self.groups: dict[str, Group] = {}
        self.budgets: list[Budget] = []
        self.loads: dict[str, Load] = {}
        self.replicas: dict[str, list[Replica]] = {}
        self.restarted: Counter[str] = Counter()
        self.short: dict[str, Short] = {}
        self._since: dict[str, tuple[float, int]] = {}
        self.changed = env.event()

    # Room

    def wake(self) -> None:
        """Tell waiting pods that something changed."""
        event, self.changed = self.changed, self.env.event()
        event.succeed()

    def share(self, load: Load, group: Group) -> int:
        """Return what a replica takes of one node of a group: at most all of it."""
        return min(load.room, group.room)

    def place(self, replica: Replica) -> bool:
        """Bind a replica to nodes with room; start nodes where there are none."""
        load = replica.load
        for group in self.groups.values():
            if group.leaves or not group.accepts(load.template["spec"]):
                continue
            needed = math.ceil(load.room / group.room)
            share = self.share(load, group)
            found = [node for node in group.nodes if not node.cordoned and node.free >= share][:needed]
            if len(found) == needed:
                for node in found:
                    node.free -= share
                replica.nodes = found
                return True
        for group in self.groups.values():
            if not group.leaves and group.accepts(load.template["spec"]):
                self._start_nodes(group, load.start.node)
        return False

    def _start_nodes(self, group: Group, seconds: float) -> None:
        """Start the nodes that the pending replicas of a group need, as far as its maximum allows."""
        pending = [
            replica.load
            for replicas in self.replicas.values()
            for replica in replicas
            if not replica.stopped and not replica.nodes and group.accepts(replica.load.template["spec"])
        ]
        slots = sum(math.ceil(load.room / group.room) * self.share(load, group) for load in pending)
        there = [node for node in group.nodes if not node.cordoned]
        starting = self._starting.get(group.name, 0)
        missing = math.ceil(slots / group.room) - starting - sum(node.free == group.room for node in there)
        for _ in range(min(missing, group.most - len(there) - starting)):
            self._starting[group.name] = self._starting.get(group.name, 0) + 1
            self.env.process(self._boot(group, seconds))

    @property
    def _starting(self) -> dict[str, int]:
        return self.__dict__.setdefault("_starting_nodes", {})  # type: ignore[no-any-return]

    def _boot(self, group: Group, seconds: float) -> Steps:
        yield self.env.timeout(seconds)
        self._starting[group.name] -= 1
        if not group.leaves:
            group.nodes.append(Node(group, group.room))
        self.wake()

    # Controllers

    def apply(self, load: Load) -> Steps:
        """Create or update a workload; ends when all its replicas are new and ready."""
        before = self.loads.get(load.title)
        self.loads[load.title] = load
        replicas = self.replicas.setdefault(load.title, [])
        self.note(load.title)
        old = [each for each in replicas if before and load.is_newer(before)]
        if not old:
            yield from self._scale(load)
        elif load.body["kind"] == "Deployment":
            yield from self._roll_deployment(load, old)
        else:
            yield from self._roll_in_order(load, old)
        yield from self.until_ready(load.title)

    def until_ready(self, title: str) -> Steps:
        """Wait until a workload has all its replicas."""
        while title in self.loads and self._ready(title) < self.loads[title].replicas:
            yield self.changed

    def until_served(self, title: str) -> Steps:
        """Wait until some replicas are ready, and all that run on a node."""
        while title in self.loads:
            running = [each for each in self.replicas[title] if each.nodes]
            if running and all(each.ready for each in running):
                return
            yield self.changed

    def _scale(self, load: Load) -> Steps:
        replicas = self.replicas[load.title]
        ordered = load.body["kind"] == "StatefulSet" and load.body["spec"].get("podManagementPolicy") != "Parallel"
        while len(replicas) < load.replicas:
            self._add(load)
            while ordered and not all(each.ready for each in replicas):
                yield self.changed
        for replica in replicas[load.replicas :]:
            self._remove(replica)

    def _roll_deployment(self, load: Load, old: list[Replica]) -> Steps:
        strategy = load.body["spec"].get("strategy") or {}
        if strategy.get("type") == "Recreate":
            ends = [self._retire(each) for each in old]
            yield simpy.AllOf(self.env, ends)
            yield from self._scale(load)
            return
        bounds = {"maxSurge": "25%", "maxUnavailable": "25%", **(strategy.get("rollingUpdate") or {})}
        surge = _amount(bounds["maxSurge"], load.replicas, up=True)
        missing = _amount(bounds["maxUnavailable"], load.replicas, up=False)
        if not surge and not missing:
            missing = 1
        replicas = self.replicas[load.title]
        while old or len(replicas) < load.replicas:
            while (
                len(replicas) < load.replicas + surge and len([e for e in replicas if e not in old]) < load.replicas
            ):
                self._add(load)
            spare = self._ready(load.title) - (load.replicas - missing)
            waiting = [each for each in old if not each.ready]
            for each in (*waiting, *[each for each in old if each.ready][: max(0, spare)]):
                old.remove(each)
                self._retire(each)
            if old or len(replicas) < load.replicas:
                yield self.changed

    def _roll_in_order(self, load: Load, old: list[Replica]) -> Steps:
        """Replace pods of a StatefulSet or groups of a LeaderWorkerSet: each new one follows an old one."""
        spec = load.body["spec"]
        rollout = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or (
            spec.get("updateStrategy") or {}
        ).get("rollingUpdate")
        bounds = {"maxUnavailable": 1, "maxSurge": 0, "partition": 0, **(rollout or {})}
        if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
            return
        at_once = max(1, _amount(bounds["maxUnavailable"], load.replicas, up=True))
        surge = _amount(bounds["maxSurge"], load.replicas, up=True)
        moving = old[int(bounds["partition"]) :]
        for _ in range(min(surge, load.replicas)):
            self._add(load)
        while surge and not all(each.ready for each in self.replicas[load.title]):
            yield self.changed
        while moving:
            batch, moving = moving[: at_once + surge], moving[at_once + surge :]
            yield simpy.AllOf(self.env, [self._retire(each) for each in batch])
            while len(self.replicas[load.title]) < load.replicas:
                self._add(load)
            while moving and self._ready(load.title) < load.replicas:
                yield self.changed
        for replica in self.replicas[load.title][load.replicas :]:
            self._remove(replica)

    def delete(self, title: str) -> Steps:
        """Delete a workload; ends when its pods are gone."""
        self.loads.pop(title, None)
        self._since.pop(title, None)
        ends = [replica.stop() for replica in self.replicas.pop(title, [])]
        yield simpy.AllOf(self.env, ends)

    def _add(self, load: Load) -> None:
        self.replicas[load.title].append(Replica(self, load))

    def _retire(self, replica: Replica) -> simpy.Event:
        """End a replica that another one follows."""
        self.restarted[replica.load.title] += 1
        return self._remove(replica)

    def _remove(self, replica: Replica) -> simpy.Event:
        self.replicas[replica.load.title].remove(replica)
        return replica.stop()

    def _evict(self, node: Node) -> list[simpy.Event]:
        """End the pods of a node; their controllers create others."""
        ends = []
        for title, replicas in list(self.replicas.items()):
            for replica in [each for each in replicas if node in each.nodes]:
                ends.append(self._retire(replica))
                self._add(self.loads[title])
        return ends

    # Node groups

    def drain(self, name: str) -> Steps:
        """Take a group away: all its nodes are drained at once.

        Karpenter waits for disruption budgets as long as it takes; EKS terminates the nodes all the same.
        """
        group = self.groups[name]
        group.leaves = True
        if group.is_patient:
            yield from self._drain(list(group.nodes), patience=None)
        else:
            yield simpy.AllOf(self.env, [end for node in group.nodes for end in self._evict(node)])
        yield self.env.timeout(_TERMINATES if group.nodes else 0)
        del self.groups[name]
        self.wake()

    def update(self, name: str, seconds: float, *, forced: bool) -> Steps:
        """Update a managed group (EKS user guide, "Understand each phase of node updates").

        By default, new nodes come first: two per zone, or as many as are updated at once. Then old ones are drained
        and terminated, and the Auto Scaling group starts others for them. Nobody waits until pods serve again, except
        through a disruption budget, for 15 minutes.

        Raises:
            RefusedError: a drain took too long.
        """
        group = self.groups[name]
        old = list(group.nodes)
        if group.surges and old:
            yield self.env.timeout(seconds)
            more = max(2 * max(1, len(group.labels.get(ZONE, ()))), group.at_once)
            group.nodes += [Node(group, group.room) for _ in range(more)]
            for node in old:
                node.cordoned = True
            self.wake()
        while old:
            batch, old = old[: group.at_once], old[group.at_once :]
            yield from self._drain(batch, patience=None if forced else _PATIENCE)
            yield self.env.timeout(_PAUSE)
            group.nodes = [node for node in group.nodes if node not in batch]
            launched = self.env.process(self._launch(group, len(batch), seconds))
            if not group.surges:
                yield launched

    def drift(self, name: str, seconds: float) -> Steps:
        """Replace the nodes of a pool as Karpenter does ("Disruption"): each new node first."""
        group = self.groups[name]
        old = list(group.nodes)
        while old and not (group.is_limited and len(group.nodes) >= group.most):
            batch, old = old[: group.at_once], old[group.at_once :]
            yield self.env.process(self._launch(group, len(batch), seconds))
            for node in batch:
                node.cordoned = True
            yield from self._drain(batch, patience=None)
            group.nodes = [node for node in group.nodes if node not in batch]

    def _launch(self, group: Group, number: int, seconds: float) -> Steps:
        yield self.env.timeout(seconds)
        group.nodes += [Node(group, group.room) for _ in range(number)]
        self.wake()

    def _drain(self, nodes: list[Node], patience: float | None) -> Steps:
        """End the pods of some nodes as far as disruption budgets allow; the controllers create others."""
        began = self.env.now
        ends = []
        for node in nodes:
            node.cordoned = True
            for title, replicas in list(self.replicas.items()):
                for replica in [each for each in replicas if node in each.nodes]:
                    while not self._may_be_evicted(title):
                        if patience is not None and self.env.now - began >= patience:
                            raise RefusedError(f"PodEvictionFailure: {title} has a disruption budget")
                        yield self.changed | self.env.timeout(_AGAIN)
                    ends.append(self._retire(replica))
                    self._add(self.loads[title])
        yield simpy.AllOf(self.env, ends)

    def _may_be_evicted(self, title: str) -> bool:
        load, ready = self.loads[title], self._ready(title)
        return all(ready - 1 >= budget.least(load.replicas) for budget in self.budgets if budget.covers(load))

    # What is short

    def _ready(self, title: str) -> int:
        return sum(each.ready for each in self.replicas.get(title, ()))

    @property
    def has_nodes(self) -> bool:
        """Whether there are nodes of the stack's own."""
        return any(group.nodes and not group.is_foreign for group in self.groups.values())

    def short_of(self) -> list[str]:
        """Return the workloads that lack replicas."""
        return [title for title, load in self.loads.items() if self._ready(title) < load.replicas]

    def note(self, title: str) -> None:
        """Keep how many replicas a workload lacks from now on."""
        self._count(title)
        load = self.loads.get(title)
        if load is not None:
            self._since[title] = self.env.now, max(0, load.replicas - self._ready(title))
        self.wake()

    def _count(self, title: str) -> None:
        since, missing = self._since.get(title, (self.env.now, 0))
        if missing and self.env.now > since:
            short = self.short.setdefault(title, Short())
            short.most = max(short.most, missing)
            short.seconds += self.env.now - since

    def begin(self) -> None:
        """Begin to count."""
        self.restarted.clear()
        self.short.clear()
        self._since = {
            title: (self.env.now, load.replicas - self._ready(title)) for title, load in self.loads.items()
        }


def _amount(value: int | str, of: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    share = of * int(value.removesuffix("%")) / 100
    return math.ceil(share) if up else math.floor(share)
