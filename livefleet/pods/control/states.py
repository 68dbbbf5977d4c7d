"""Snapshots of the fleet from the objects in the cluster and the state of the engines."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.fleet.cloud_facts import capacity_in
from components.fleet.demand import ZONE_LABEL, PodDemand
from components.fleet.instances import instance
from components.fleet.placement import requests_of
from components.performance.simulation.prices import node_share

from ...control_api import GroupState, ModelState, PodState, ScalerState
from ...fleet import LiveFleet, PaceSource, ServedWorkload
from ..groups import replica_of
from ..kubelet import is_ready
from ..nodes.node_state import group_of, is_in_use, is_starting
from ..runtime import PodRuntime
from ..serving import ServingPod

Json = Mapping[str, Any]
_SPOT = "spot"


@dataclass(frozen=True, slots=True)
class ClusterView:
    """Objects of the cluster by ``namespace/name``.

    Attributes:
        workloads: Workloads by kind.
    """

    nodes: Mapping[str, Json]
    workloads: Mapping[str, Mapping[str, Json]]
    scalers: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class _Member:
    """A pod of a replica.

    Attributes:
        serving: Its engine; None until it listens, and for workers.
        leads: Whether it is the pod of its replica that takes requests.
    """

    pod: Json
    workload: ServedWorkload
    serving: ServingPod | None
    leads: bool

    @property
    def ready(self) -> bool:
        return bool(self.serving and not self.serving.terminating) if self.leads else is_ready(self.pod)

    @property
    def bound(self) -> bool:
        return bool(self.pod["spec"].get("nodeName"))


def pod_states(runtime: PodRuntime, view: ClusterView) -> tuple[PodState, ...]:
    """Return the state of each pod that serves or will serve, and of its workers."""
    states = []
    for member in _members(runtime):
        meta, node = member.pod["metadata"], member.pod["spec"].get("nodeName", "")
        labels = view.nodes.get(node, {}).get("metadata", {}).get("labels") or {}
        live = member.serving.live if member.serving else None
        states.append(
            PodState(
                name=f"{meta['namespace']}/{meta['name']}",
                title=member.workload.title,
                node=node,
                zone=labels.get(ZONE_LABEL, ""),
                spot=capacity_in(labels) == _SPOT,
                ready=member.ready,
                waiting=live.replica.waiting if live else 0,
                running=live.replica.running if live else 0,
            )
        )
    return tuple(states)


def model_states(runtime: PodRuntime, view: ClusterView) -> tuple[ModelState, ...]:
    members: dict[str, list[_Member]] = {}
    workloads: dict[str, list[ServedWorkload]] = {}
    for workload in runtime.fleet.workloads:
        workloads.setdefault(workload.title, []).append(workload)
    for member in _members(runtime):
        members.setdefault(member.workload.title, []).append(member)
    return tuple(
        _model_state(title, workloads[title], members.get(title, []), runtime, view) for title in sorted(workloads)
    )


def _members(runtime: PodRuntime) -> Iterator[_Member]:
    for pod, workload in runtime.members():
        leads = runtime.workload_of(pod) is workload
        yield _Member(pod, workload, runtime.serving.get(pod["metadata"]["uid"]), leads)


def _model_state(
    title: str, workloads: list[ServedWorkload], members: list[_Member], runtime: PodRuntime, view: ClusterView
) -> ModelState:
    replicas: dict[tuple[str, str], list[_Member]] = {}
    for member in members:
        replicas.setdefault((member.workload.key, replica_of(member.pod)), []).append(member)
    ready = {key for key, pods in replicas.items() if any(pod.leads and pod.ready for pod in pods)}
    pending = {key for key, pods in replicas.items() if key not in ready and not all(pod.bound for pod in pods)}
    objects = [view.workloads.get(workload.kind, {}).get(workload.key) for workload in workloads]
    live = [member.serving.live for member in members if member.serving]
    # Counters include terminating and ended pods, so that they never decrease.
    past = runtime.past.get(title, (0, 0, 0))
    counted = [pod.live for pod in runtime.serving.values() if pod.live.workload.title == title]
    sources = [pod.pace.source for pod in live] or [pace.source for pace in workloads[0].paces.values()]
    return ModelState(
        title=title,
        model=workloads[0].models[0] if workloads[0].models else "",
        replicas=sum(int(obj["spec"].get("replicas", 1)) for obj in objects if obj),
        ready=len(ready),
        starting=len(replicas.keys() - ready - pending),
        pending=len(pending),
        waiting=sum(pod.replica.waiting for pod in live),
        running=sum(pod.replica.running for pod in live),
        cache=max((pod.replica.cached / pod.pace.cache_tokens for pod in live if pod.pace.cache_tokens), default=0.0),
        answered=past[0] + sum(pod.answered for pod in counted),
        refused=past[1] + sum(pod.refused for pod in counted),
        tokens=past[2] + sum(pod.tokens for pod in counted),
        usd_per_hour=_hourly_cost(members, runtime.fleet),
        pace=sources[0] if sources else PaceSource.ASSUMED,
        scalers=tuple(_scaler_states(workloads, view)),
    )


def _hourly_cost(members: Iterable[_Member], fleet: LiveFleet) -> float | None:
    """Return the price of the node shares that pods occupy, computed as in the plan's bill."""
    groups = {group.name: group for group in fleet.groups}
    prices = []
    for member in members:
        group = group_of(member.pod["spec"].get("nodeName", ""), groups)
        node = instance(group.instance_type) if group else None
        if group and node and group.usd_per_hour is not None:
            share = node_share(PodDemand(1, requests_of(member.pod["spec"]), ()), node)
            prices.append(group.usd_per_hour * float(share))
    return sum(prices) if prices else None


def _scaler_states(workloads: Iterable[ServedWorkload], view: ClusterView) -> Iterator[ScalerState]:
    targets = {(workload.kind, workload.namespace, workload.name) for workload in workloads}
    for _, hpa in sorted(view.scalers.items()):
        spec, status, meta = hpa["spec"], hpa.get("status") or {}, hpa["metadata"]
        target = spec["scaleTargetRef"]
        if (target["kind"], meta["namespace"], target["name"]) in targets:
            current = int(status.get("currentReplicas", 0))
            yield ScalerState(
                f"{meta['namespace']}/{meta['name']}",
                current,
                int(status.get("desiredReplicas", current)),
                int(spec.get("minReplicas", 1)),
                int(spec["maxReplicas"]),
            )


def group_states(fleet: LiveFleet, nodes: Mapping[str, Json]) -> tuple[GroupState, ...]:
    groups = {group.name: group for group in fleet.groups}
    in_use, starting = dict.fromkeys(groups, 0), dict.fromkeys(groups, 0)
    for name, node in nodes.items():
        group = group_of(name, groups)
        if group:
            in_use[group.name] += is_in_use(node)
            starting[group.name] += is_starting(node)
    return tuple(
        GroupState(
            name=group.name,
            instance_type=group.instance_type,
            nodes=in_use[group.name],
            starting=starting[group.name],
            least=group.least,
            most=group.most,
            usd_per_hour=None if group.usd_per_hour is None else group.usd_per_hour * in_use[group.name],
        )
        for group in fleet.groups
    )
