"""What a fleet costs and which pods there are, worked out by hand: replicas of one pod, and of several."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from livefleet.control_api import ModelState
from livefleet.fleet import LiveFleet, ServedGroup, ServedWorkload
from livefleet.pods.control.states import ClusterView, model_states, pod_states
from livefleet.pods.runtime import PodRuntime
from tests.group_pods import KIND, LABEL
from tests.livefleet.pods_by_hand import workload_by_hand

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
USD = 2.24208
"""An hour of a g6e.2xlarge with its one L40S (components/plan/costs, us-east-1, on demand)."""
GROUP = ServedGroup("g6e-2xlarge", "g6e.2xlarge", {}, 0, 8, usd_per_hour=USD)


@dataclass
class Pods:
    objects: dict[str, Json]


@dataclass
class Cluster:
    """As much of a cluster as the stage reads."""

    pods: Pods
    ending: set[str] = field(default_factory=set)


@dataclass
class Live:
    workload: ServedWorkload
    node: str = ""
    answered: int = 0
    refused: int = 0
    tokens: int = 0

    class replica:  # noqa: N801
        waiting, running, cached = 1, 2, 0

    class pace:  # noqa: N801
        cache_tokens, source = None, "estimate"


@dataclass
class Serving:
    live: Live
    terminating: bool = False
    ended: bool = False


def pod(name: str, node: str, labels: Json, gpus: int = 1, *, ready: bool = True) -> Json:
    return {
        "metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {"nodeName": node, "containers": [{"resources": {"limits": {GPU: str(gpus)}}}]},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def node(name: str, gpus: int = 1) -> Json:
    return {"metadata": {"name": name, "labels": {}}, "status": {"allocatable": {GPU: str(gpus)}}}


def member(group: int, worker: int, where: str = "there", **given: Any) -> Json:
    """A pod of a LeaderWorkerSet of four, on a node of its own unless it is Pending."""
    name = f"big-{group}" + (f"-{worker}" if worker else "")
    place = f"g6e-2xlarge-{4 * group + worker}" if where else ""
    labels = {
        f"{LABEL}/name": "big",
        f"{LABEL}/group-index": str(group),
        f"{LABEL}/worker-index": str(worker),
    }
    return pod(name, place, labels, **given)


BIG = workload_by_hand(
    name="big",
    title="big",
    kind=KIND,
    selector={f"{LABEL}/name": "big", f"{LABEL}/worker-index": "0"},
    group={f"{LABEL}/name": "big"},
)


def stage(workload: ServedWorkload, pods: list[Json], *serving: str, ending: tuple[str, ...] = ()) -> PodRuntime:
    cluster = Cluster(Pods({f"default/{each['metadata']['name']}": each for each in pods}), set(ending))
    found = PodRuntime(None, None, (None, None), cluster)  # type: ignore[arg-type]
    found.fleet = LiveFleet("local", (workload,), groups=(GROUP,))
    found.serving = {f"uid-{name}": Serving(Live(workload)) for name in serving}  # type: ignore[misc]
    return found


def model(found: PodRuntime, replicas: int = 1) -> ModelState:
    (state,) = model_states(found, view(found, replicas))
    return state


def view(found: PodRuntime, replicas: int = 1) -> ClusterView:
    (workload,) = found.fleet.workloads
    owner = {workload.kind: {workload.key: {"spec": {"replicas": replicas}}}}
    return ClusterView({f"g6e-2xlarge-{place}": node(f"g6e-2xlarge-{place}") for place in range(8)}, owner, {})


def test_all_nodes_of_a_replica_are_paid_for() -> None:
    """Four nodes of one L40S each: 8.97 dollars an hour, not 2.24."""
    found = stage(BIG, [member(0, worker) for worker in range(4)], "big-0")
    state = model(found)
    assert state.usd_per_hour == pytest.approx(8.96832)
    assert (state.replicas, state.ready, state.starting, state.pending) == (1, 1, 0, 0)
    assert (state.waiting, state.running) == (1, 2)


def test_every_pod_of_a_replica_is_listed() -> None:
    found = stage(BIG, [member(0, worker, ready=worker != 3) for worker in range(4)], "big-0")
    pods = pod_states(found, view(found))
    assert [each.name for each in pods] == ["default/big-0", "default/big-0-1", "default/big-0-2", "default/big-0-3"]
    assert [each.node for each in pods] == [f"g6e-2xlarge-{place}" for place in range(4)]
    assert [each.ready for each in pods] == [True, True, True, False]
    assert {each.title for each in pods} == {"big"}
    # Requests are with the leader alone.
    assert [each.running for each in pods] == [2, 0, 0, 0]


def test_replicas_are_counted_not_pods() -> None:
    pods = [
        *(member(0, worker) for worker in range(4)),
        *(member(1, worker, "" if worker == 2 else "there") for worker in range(4)),
    ]
    state = model(stage(BIG, pods, "big-0"), replicas=2)
    # Three of the second one's four pods hold a node; the last has no room.
    assert (state.replicas, state.ready, state.starting, state.pending) == (2, 1, 0, 1)
    assert state.usd_per_hour == pytest.approx(7 * USD)
    state = model(stage(BIG, [member(0, worker) for worker in range(4)]), replicas=1)
    assert (state.ready, state.starting, state.pending) == (0, 1, 0)


def test_replicas_of_one_pod_are_what_they_were() -> None:
    one = workload_by_hand(name="one", title="one", selector={"app": "one"})
    pods = [pod(f"one-{place}", f"g6e-2xlarge-{place}" if place < 2 else "", {"app": "one"}) for place in range(3)]
    state = model(stage(one, pods, "one-0"), replicas=3)
    assert (state.replicas, state.ready, state.starting, state.pending) == (3, 1, 1, 1)
    assert state.usd_per_hour == pytest.approx(2 * USD)


def test_pods_of_nodes_that_are_gone_are_gone() -> None:
    """Also while the API server still has them: deleting many takes seconds."""
    found = stage(BIG, [member(0, worker) for worker in range(4)], ending=("g6e-2xlarge-0", "g6e-2xlarge-2"))
    assert [each.name for each in pod_states(found, view(found))] == ["default/big-0-1", "default/big-0-3"]


@pytest.mark.parametrize("labels", [{"app": "other"}, {f"{LABEL}/name": "bigger", f"{LABEL}/worker-index": "1"}])
def test_others_are_no_workers(labels: Json) -> None:
    found = stage(BIG, [pod("x", "g6e-2xlarge-0", labels)])
    assert pod_states(found, view(found)) == ()
    assert model(found).usd_per_hour is None
