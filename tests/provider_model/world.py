"""An AWS account and the cluster in it: what exists, how long operations take, what AWS refuses."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import simpy

from components.plan.review.snapshot import Snapshot, WorkloadState
from components.plan.starts.estimate import grace_seconds, start_estimate
from components.plan.starts.reading import shape_facts
from tests.provider_model import refusals
from tests.provider_model.cluster import ZONE, Budget, Cluster, Group, Load, Short, Start, Steps
from tests.provider_model.diff import Path, is_at, placeholders
from tests.provider_model.facts import facts_of
from tests.provider_model.program import Declared, Program

CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
SUBNET = "aws:ec2/subnet:Subnet"
NAT = "aws:ec2/natGateway:NatGateway"
NODE_CLASS, NODE_POOL = "EC2NodeClass", "NodePool"
WORKLOADS = ("Deployment", "StatefulSet", "LeaderWorkerSet")
_MANY = 10_000
_OTHERS = "nodes of others"
_NODE = 417.0
"""Seconds until a new node is usable, where no workload says: ``node`` of the plan's terms of cold starts."""
_ROLLS = ("version", "releaseVersion", "launchTemplate.version")
"""Updates that replace the nodes of a managed group (EKS user guide, "Update a managed node group")."""
_AGAIN = 15.0
"""Seconds between two attempts of the provider."""

Thing = tuple[str, int]
"""A resource by its URN and how often it was replaced."""


@dataclass
class Live:
    """A resource that exists.

    Attributes:
        declared: As it was registered last.
        inputs: As its provider has applied them.
        turn: How often it was replaced.
        uses: The resources that it really uses, by field; some fields of AWS never change after the creation.
    """

    declared: Declared
    inputs: Mapping[str, Any]
    turn: int = 0
    uses: Mapping[str, frozenset[Thing]] = field(default_factory=dict)

    @property
    def thing(self) -> Thing:
        return self.declared.urn, self.turn


class World:
    """What exists, through all updates of one stack."""

    def __init__(self, *, slow: bool = False) -> None:
        """Begin with an empty account.

        Args:
            slow: Whether starts take as long as the plan expects at most.
        """
        self.env = simpy.Environment()
        self.live: dict[str, Live] = {}
        self.cluster = Cluster(self.env)
        self.slow = slow
        self._program = Program(Snapshot(""))
        self._loads: dict[str, Load] = {}
        self._served: dict[str, str] = {}
        self._lost: list[str] = []
        self.leaving: list[Live] = []
        """Replaced resources that are not deleted yet."""
        self.had_gateways = False
        """Whether nodes reached the internet through NAT gateways before the update."""
        self.released: list[Live] = []
        """What exists and is no longer the stack's."""

    # An update

    def begin(self, program: Program) -> None:
        """Take note of what the plan expects."""
        self._program = program
        self._lost = []
        self.had_gateways = any(live.declared.type == NAT for live in self.live.values())
        snapshot = program.snapshot
        self._loads = {state.title: self._load(state, snapshot) for state in snapshot.workloads}
        self._served = {state.title: state.served for state in snapshot.workloads}
        self.cluster.begin()
        for live in self.live.values():
            if _key(live) in self.cluster.groups:
                group = self.cluster.groups[_key(live)]
                group.most = group.most if group.is_limited else self._size(live)[1]
        self.cluster.budgets = [
            Budget(str(resource.inputs["metadata"].get("namespace")), resource.inputs["spec"])
            for resource in program.resources
            if resource.kind == "PodDisruptionBudget"
        ]
        if not any(resource.type == NODE_GROUP or resource.kind == NODE_POOL for resource in program.resources):
            self.cluster.groups.setdefault(_OTHERS, Group(_OTHERS, {}, (), _MANY, _MANY, is_foreign=True))
        registered = {resource.title for resource in program.resources}
        for title, load in self._loads.items():
            if title not in registered:  # its operator creates it
                before = self.cluster.loads.get(title)
                if before is None or before.body != load.body or before.replicas != load.replicas:
                    self.env.process(self.cluster.apply(load))
        for title in self.cluster.loads.keys() - self._loads.keys():
            if title not in {live.declared.title for live in self.live.values()}:
                self.env.process(self.cluster.delete(title))

    def effects(self) -> tuple[dict[str, int], dict[str, Short]]:
        """Return the replicas that restarted, and what was short."""
        for title in self.cluster.loads:
            self.cluster.note(title)
        return dict(self.cluster.restarted), dict(self.cluster.short)

    def lost(self) -> list[str]:
        """Return what is gone although something needs it."""
        gone = [*refusals.needed_gone(self), *refusals.objects_gone(self)]
        return [*self._lost, *gone, *(refusals.cut_off(self) if self.cluster.has_nodes else ())]

    def _load(self, state: WorkloadState, snapshot: Snapshot) -> Load:
        weights, layers = next(
            (
                shape_facts(verdict.asked.shape)
                for model in snapshot.models
                for title, verdict in model.verdicts.items()
                if title == state.title and verdict.asked
            ),
            (None, None),
        )

        def seconds(*, node: bool, image: bool) -> float:
            body = dict(state.body)
            found = start_estimate(
                body, weights, new_node=node, new_image=image, devices=state.accelerators, layers=layers
            ).seconds
            return float(found) if found is not None else 30.0 + _NODE * node

        fresh = seconds(node=False, image=True)
        node = seconds(node=True, image=True) - fresh
        if self.slow and state.start and state.start.total.high:
            node = next((float(step.high or node) for step in state.start.steps if step.name == "node"), node)
            fresh = state.start.total.high - node
        start = Start(node or _NODE, fresh, seconds(node=False, image=False))
        room = state.accelerators or state.pods
        return Load(state.title, state.body, state.replicas[0], room, start, grace_seconds(dict(state.body)))

    # Resources

    def find(self, new: Declared) -> Live | None:
        return next((self.live[urn] for urn in (new.urn, *new.former) if urn in self.live), None)

    def keep(self, old: Live, new: Declared) -> None:
        """Take over a resource that did not change."""
        del self.live[old.declared.urn]
        self.live[new.urn] = Live(new, old.inputs, old.turn, old.uses)

    def applied(self, operation: str, new: Declared, old: Live | None, paths: tuple[Path, ...]) -> Live:
        """Return a resource as it is after an operation."""
        inputs = dict(new.inputs)
        uses = {name: frozenset(self.used(value)) for name, value in inputs.items()}
        if old is not None and operation == "update":
            for path in new.ignored:
                _put(inputs, path, old.inputs)
            facts = facts_of(new.type)
            kept = [*facts.sticky, *facts.born_with]
            uses |= {name: old.uses.get(name, frozenset()) for name in kept if old.uses.get(name)}
        if new.type.startswith("kubernetes:"):
            provider = self.live.get(new.provider)
            if provider is not None:
                uses[""] = frozenset(thing for used in provider.uses.values() for thing in used)
        turn = 0 if old is None else old.turn + (operation == "create")
        if old is not None and self.live.get(old.declared.urn) is old:
            del self.live[old.declared.urn]
        self.live[new.urn] = live = Live(new, inputs, turn, uses)
        return live

    def used(self, value: Any) -> Iterator[Thing]:
        """Yield the resources that a value comes from, as they are by now."""
        for name in placeholders(value):
            for source in self._program.sources.get(name, ()):
                if source.urn in self.live:
                    yield self.live[source.urn].thing

    def gone(self, old: Live) -> None:
        if self.live.get(old.declared.urn) is old:
            del self.live[old.declared.urn]
        if old in self.leaving:
            self.leaving.remove(old)

    def release(self, old: Live) -> None:
        self.gone(old)
        self.released.append(old)

    @property
    def existing(self) -> tuple[Live, ...]:
        """Everything that exists."""
        return *self.live.values(), *self.leaving, *self.released

    def refusal(self, operation: str, new: Declared, old: Live | None, paths: tuple[Path, ...]) -> str:
        """Return why AWS refuses an operation at once; empty if it does not."""
        return refusals.refusal(self, operation, new, old, paths)

    # How long operations take

    def work(self, operation: str, live: Live, old: Live | None, paths: tuple[Path, ...]) -> Steps:
        declared = live.declared
        takes = facts_of(declared.type, declared.inputs).takes(operation)
        if declared.type == NODE_GROUP:
            yield from self._node_group(operation, live, paths, takes)
        elif declared.kind == NODE_POOL and declared.is_object:
            yield self.env.timeout(takes)
            if operation == "create":
                self._add_pool(live)
            elif self._pool_drifts(live, paths):
                self._drift(live.declared.urn)
        elif declared.kind == NODE_CLASS and declared.is_object:
            yield self.env.timeout(takes)
            # Nodes in subnets that the class still has do not drift.
            before = old.uses.get("spec", frozenset()) if old else frozenset()
            fields = [path for path in paths if path[:2] != ("spec", "subnetSelectorTerms")]
            if operation == "update" and (fields or before - live.uses["spec"]):
                self._drift_of_class(live)
        elif declared.type == CLUSTER:
            yield self.env.timeout(takes)
            if operation == "update" and ("version",) in paths:
                # The alias of an image names the newest one for the version of the cluster.
                for other in list(self.live.values()):
                    if other.declared.kind == NODE_CLASS and _has_alias(other.inputs):
                        self._drift_of_class(other)
        elif declared.kind in WORKLOADS and declared.title in self._loads:
            load = self._loads[declared.title]
            apply = self.env.process(self.cluster.apply(load))
            if not _skips(declared) and (declared.kind != "LeaderWorkerSet" or _waits(declared)):
                yield apply
            else:
                yield self.env.timeout(takes)
        elif declared.kind == "Service" and declared.is_object:
            yield self.env.timeout(takes)
            if not _skips(declared):
                yield from self._endpoints(declared)
        else:
            yield self.env.timeout(takes)

    def deletion(self, old: Live) -> Steps:
        """Delete a resource; the provider tries again while something uses it."""
        declared = old.declared
        while refusals.users(self, old):
            yield self.env.timeout(_AGAIN)
        facts = facts_of(declared.type, declared.inputs)
        key = _key(old)
        if key in self.cluster.groups:
            yield from self.cluster.drain(key)
        elif declared.kind in WORKLOADS and declared.is_object and declared.title in self.cluster.loads:
            yield from self.cluster.delete(declared.title)
        elif declared.kind == "PersistentVolumeClaim":
            while self._mounts(declared):  # the finalizer pvc-protection
                yield self.cluster.changed
        yield self.env.timeout(facts.takes("delete"))
        self._lost += refusals.lost_with(self, old)

    def _mounts(self, claim: Declared) -> bool:
        name = claim.inputs["metadata"]["name"]
        for title, replicas in self.cluster.replicas.items():
            if f" {claim.inputs['metadata'].get('namespace')}/" not in title:
                continue
            for replica in replicas:
                volumes = replica.load.template["spec"].get("volumes") or ()
                if replica.nodes and any(
                    (v.get("persistentVolumeClaim") or {}).get("claimName") == name for v in volumes
                ):
                    return True
        return False

    def _endpoints(self, service: Declared) -> Steps:
        """Wait until each pod of a Service that has an address is ready (await/service.go of pulumi-kubernetes)."""
        spec = service.inputs["spec"]
        selector = spec.get("selector")
        if not selector or spec.get("clusterIP") == "None" or spec.get("type") == "ExternalName":
            return
        namespace = service.inputs["metadata"].get("namespace")
        for load in list(self._loads.values()):
            labels = (load.template.get("metadata") or {}).get("labels") or {}
            if f" {namespace}/" in load.title and selector.items() <= labels.items() and load.replicas:
                while load.title not in self.cluster.loads:
                    yield self.cluster.changed
                yield from self.cluster.until_served(load.title)

    # Nodes

    def _node_group(self, operation: str, live: Live, paths: tuple[Path, ...], takes: float) -> Steps:
        yield self.env.timeout(takes)
        if operation == "create":
            self.cluster.groups[_key(live)] = self._managed(live)
            self.cluster.wake()
            return
        group = self.cluster.groups[_key(live)]
        changed = self._managed(live)
        group.labels, group.taints = changed.labels, changed.taints
        group.at_once, group.surges, group.most = changed.at_once, changed.surges, changed.most
        if any(is_at(path, _ROLLS) for path in paths):
            # EKS goes on although nobody waits any more.
            forced = bool(live.inputs.get("forceUpdateVersion"))
            yield self.env.process(self.cluster.update(_key(live), self._node_seconds, forced=forced))

    @property
    def _node_seconds(self) -> float:
        return max((load.start.node for load in self._loads.values()), default=_NODE)

    def _managed(self, live: Live) -> Group:
        inputs = live.inputs
        templates = [self.live[urn].inputs for urn, _ in live.uses.get("launchTemplate", ()) if urn in self.live]
        types = inputs.get("instanceTypes") or [each["instanceType"] for each in templates if "instanceType" in each]
        zones = {
            str(subnet.inputs["availabilityZone"])
            for urn, _ in live.uses.get("subnetIds", ())
            if (subnet := self.live.get(urn)) and subnet.declared.type == SUBNET
        }
        labels = {
            **{key: frozenset([value]) for key, value in (inputs.get("labels") or {}).items()},
            "node.kubernetes.io/instance-type": frozenset(types),
            "eks.amazonaws.com/capacityType": frozenset([inputs.get("capacityType", "ON_DEMAND")]),
            "kubernetes.io/os": frozenset(["linux"]),
            "kubernetes.io/arch": frozenset(["arm64" if "ARM" in str(inputs.get("amiType")) else "amd64"]),
            ZONE: frozenset(zones),
        }
        effects = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
        taints = tuple(
            {**taint, "effect": effects[taint["effect"]]}
            for taint in inputs.get("taints") or ()
            if taint["effect"] != "PREFER_NO_SCHEDULE"
        )
        update = inputs.get("updateConfig") or {}
        room, most = self._size(live)
        percentage = int(update.get("maxUnavailablePercentage") or 0)
        nodes = len(self.cluster.groups[_key(live)].nodes) if _key(live) in self.cluster.groups else 0
        at_once = max(1, int(update.get("maxUnavailable") or math.ceil(nodes * percentage / 100)))
        return Group(_key(live), labels, taints, room, most, at_once, update.get("updateStrategy") != "MINIMAL")

    def _size(self, live: Live) -> tuple[int, int]:
        """Return what a node has room for, and how many there may be."""
        name = live.declared.name if live.declared.type == NODE_GROUP else str(live.inputs["metadata"]["name"])
        for state in self._program.snapshot.groups:
            if name == state.name or name.endswith(f"-{state.name}"):
                pods = sum(w.replicas[0] * w.pods for w in self._program.snapshot.workloads if w.group == state.name)
                return state.accelerators or max(1, math.ceil(pods / max(1, state.nodes))), state.max_nodes
        return _MANY, _MANY

    def _add_pool(self, live: Live) -> None:
        spec = live.inputs["spec"]
        template = spec["template"]
        labels = {key: frozenset([value]) for key, value in (template["metadata"].get("labels") or {}).items()}
        for rule in template["spec"]["requirements"]:
            if rule["operator"] == "In":
                labels[rule["key"]] = frozenset(rule["values"])
        labels["karpenter.sh/nodepool"] = frozenset([live.inputs["metadata"]["name"]])
        taints = tuple(t for t in template["spec"].get("taints") or () if t["effect"] != "PreferNoSchedule")
        room, most = self._size(live)
        reserved = self._reserved(template["spec"]["nodeClassRef"]["name"])
        budgets = (spec.get("disruption") or {}).get("budgets") or [{"nodes": "10%"}]
        counts = [int(str(each["nodes"])) for each in budgets if str(each["nodes"]).isdigit()]
        at_once = max(1, min(counts, default=1))
        self.cluster.groups[_key(live)] = Group(
            *(_key(live), labels, taints, room, reserved or most),
            at_once=at_once,
            is_limited=bool(reserved),
            is_patient=True,
        )
        self.cluster.wake()

    def _reserved(self, name: str) -> int:
        """Return the reserved instances of an EC2NodeClass; 0 without a reservation."""
        classes = [
            live.inputs["spec"]
            for live in self.live.values()
            if live.declared.kind == NODE_CLASS and live.inputs["metadata"]["name"] == name
        ]
        terms = [term for spec in classes for term in spec.get("capacityReservationSelectorTerms") or ()]
        return sum(self._program.reserved.get(term.get("id"), 0) for term in terms)

    def _pool_drifts(self, live: Live, paths: tuple[Path, ...]) -> bool:
        """Whether the nodes of a pool drift: other requirements leave those alone that still meet them."""
        before = self.cluster.groups[_key(live)]
        self._add_pool(live)
        after = self.cluster.groups[_key(live)]
        after.nodes = before.nodes
        for node in after.nodes:
            node.group = after
        narrower = any(before.labels.get(name, values) - values for name, values in after.labels.items())
        rules = ("spec", "template", "spec", "requirements")
        return narrower or any(path[:2] == rules[:2] and path[:4] != rules for path in paths)

    def _drift(self, urn: str) -> None:
        """Karpenter replaces nodes that differ from their pool; the update does not wait for it."""
        key = _key(self.live[urn])
        if key in self.cluster.groups:
            self.env.process(self.cluster.drift(key, self._node_seconds))

    def _drift_of_class(self, live: Live) -> None:
        name = live.inputs["metadata"]["name"]
        for urn, other in list(self.live.items()):
            if other.declared.kind == NODE_POOL and other.declared.is_object:
                reference = other.inputs["spec"]["template"]["spec"]["nodeClassRef"]
                if reference["name"] == name:
                    self._drift(urn)


def _key(live: Live) -> str:
    return f"{live.declared.urn}#{live.turn}"


def _skips(declared: Declared) -> bool:
    annotations = declared.inputs["metadata"].get("annotations") or {}
    return annotations.get("pulumi.com/skipAwait") == "true"


def _waits(declared: Declared) -> bool:
    annotations = declared.inputs["metadata"].get("annotations") or {}
    return annotations.get("pulumi.com/waitFor") == "condition=Available"


def _has_alias(inputs: Mapping[str, Any]) -> bool:
    return any("alias" in term for term in inputs["spec"].get("amiSelectorTerms") or ())


def _put(inputs: dict[str, Any], path: str, old: Mapping[str, Any]) -> None:
    """Give a field the value that it had."""
    first, _, rest = path.partition(".")
    if not rest:
        if first in old:
            inputs[first] = old[first]
        else:
            inputs.pop(first, None)
    elif isinstance(inputs.get(first), Mapping):
        inputs[first] = dict(inputs[first])
        _put(inputs[first], rest, old.get(first) or {})
