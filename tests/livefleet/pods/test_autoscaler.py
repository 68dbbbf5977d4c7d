"""Which node is started for a pod, without a cluster: labels, taints, room, bounds, preference, price."""

from typing import Any

import pytest

from livefleet.fleet import ServedGroup
from livefleet.pods.nodes.autoscaler import (
    NodeRoom,
    NodeStart,
    NodeView,
    Unschedulable,
    early_bindings,
    idle,
    initial_stages,
    scale_up,
)
from livefleet.pods.nodes.node_state import NodeStage

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
IN = {"key": "pool", "operator": "In", "values": ["a", "b"]}


def node(name: str, stage: NodeStage | None = NodeStage.RESERVE, gpus: int = 1, **more: Any) -> Json:
    annotations = {"workbench/node": stage.value} if stage else {}
    labels = {"pool": name.rpartition("-")[0], "size": "4", **more.get("labels", {})}
    offered = {"cpu": "4", "memory": "16Gi", "pods": "2", GPU: str(gpus)}
    return {
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"taints": more.get("taints", [])},
        "status": {"allocatable": offered},
    }


def pod(name: str = "p", on: str = "", gpus: int = 1, created: str = "2026-01-01T00:00:00Z", **spec: Any) -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/0 nodes"}
    return {
        "metadata": {"name": name, "namespace": "d", "uid": name, "creationTimestamp": created},
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": {GPU: str(gpus), "cpu": "500m"}}}],
            **({"nodeName": on} if on else {}),
            **spec,
        },
        "status": {} if on else {"conditions": [condition]},
    }


def group(name: str, least: int = 0, most: int = 8, usd: float | None = 1.0) -> ServedGroup:
    return ServedGroup(name, "t", {}, least, most, usd)


def view(groups: list[ServedGroup], nodes: list[Json], *pods: Json) -> NodeView:
    return NodeView(groups, {each["metadata"]["name"]: each for each in nodes}, pods)


def affinity(*terms: Json, preferred: tuple[tuple[int, Json], ...] = ()) -> Json:
    chosen = [{"weight": weight, "preference": {"matchExpressions": [each]}} for weight, each in preferred]
    required = {"nodeSelectorTerms": [{"matchExpressions": [each]} for each in terms]} if terms else None
    found: Json = {"preferredDuringSchedulingIgnoredDuringExecution": chosen}
    if required:
        found["requiredDuringSchedulingIgnoredDuringExecution"] = required
    return {"affinity": {"nodeAffinity": found}}


def expression(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


NO_SCHEDULE = {"key": "x", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(("spec", "more", "fits"), [
    ({}, {}, True),
    ({"nodeSelector": {"pool": "a"}}, {}, True),
    ({"nodeSelector": {"pool": "b"}}, {}, False),
    (affinity(expression("pool", "In", "b"), expression("pool", "In", "a")), {}, True),
    (affinity(expression("pool", "NotIn", "a")), {}, False),
    (affinity(expression("pool", "Exists")), {}, True),
    (affinity(expression("pool", "DoesNotExist")), {}, False),
    (affinity(expression("size", "Gt", "3")), {}, True),
    (affinity(expression("size", "Lt", "4")), {}, False),
    ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}}},
     {}, False),
    ({}, {"taints": [NO_SCHEDULE]}, False),
    ({}, {"taints": [{**NO_SCHEDULE, "effect": "PreferNoSchedule"}]}, True),
    ({}, {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}, True),
    ({"tolerations": [{"key": "x", "operator": "Exists"}]}, {"taints": [NO_SCHEDULE]}, True),
    ({"tolerations": [{"key": "x", "value": "w"}]}, {"taints": [NO_SCHEDULE]}, False),
    ({}, {"gpus": 0}, False),
    ({"containers": [{"name": "c", "resources": {"requests": {"cpu": "4001m"}}}]}, {}, False),
])  # fmt: skip
def test_a_pod_fits(spec: Json, more: Json, fits: bool) -> None:
    assert NodeRoom(node("a-0", **more)).fits(pod(**spec)) is fits


def test_a_node_has_room_for_so_many_pods() -> None:
    room = NodeRoom(node("a-0", gpus=8), [pod("x", on="a-0")])
    assert room.fits(pod())
    room.take(pod("y"))
    assert not room.fits(pod())  # two pods at most


def starts(found: NodeView) -> list[str]:
    return [each.node["metadata"]["name"] for each in scale_up(found) if isinstance(each, NodeStart)]


def stuck(found: NodeView) -> list[str]:
    return [each.reason for each in scale_up(found) if isinstance(each, Unschedulable)]


def test_as_many_nodes_as_pods_need_and_no_more_than_the_group_may_have() -> None:
    nodes = [node("a-0", NodeStage.IN_USE), *(node(f"a-{index}") for index in range(1, 5))]
    busy = pod("busy", on="a-0")
    found = view([group("a", most=3)], nodes, busy, *(pod(f"p{index}") for index in range(4)))
    assert starts(found) == ["a-1", "a-2"]
    assert stuck(found) == ["group a has its maximum of 3 nodes"] * 2


@pytest.mark.parametrize("stage", [NodeStage.IN_USE, NodeStage.STARTING], ids=str)
def test_what_is_there_or_on_its_way_is_used_first(stage: NodeStage) -> None:
    assert starts(view([group("a")], [node("a-0", stage), node("a-1")], pod())) == []


def test_a_node_that_leaves_takes_no_pods_and_counts() -> None:
    nodes = [node("a-0", NodeStage.LEAVING), node("a-1")]
    assert starts(view([group("a", most=2)], nodes, pod())) == ["a-1"]
    assert starts(view([group("a", most=1)], nodes, pod())) == []


def test_the_cheaper_group_unless_the_pod_prefers_another() -> None:
    groups = [group("a", usd=2.0), group("b", usd=1.0), group("c", usd=None)]
    nodes = [node("a-0"), node("b-0"), node("c-0")]
    assert starts(view(groups, nodes, pod())) == ["b-0"]
    prefers = affinity(preferred=((5, expression("pool", "In", "a")), (1, expression("pool", "In", "b"))))
    assert starts(view(groups, nodes, pod(**prefers))) == ["a-0"]


def test_zones_are_filled_evenly() -> None:
    def placed(index: int, zone: str, stage: NodeStage = NodeStage.RESERVE) -> Json:
        return node(f"a-{index}", stage, labels={"topology.kubernetes.io/zone": zone})

    nodes = [placed(0, "x", NodeStage.IN_USE), placed(1, "x"), placed(2, "y")]
    assert starts(view([group("a")], nodes, pod("busy", on="a-0"), pod())) == ["a-2"]


def test_a_pod_that_nobody_takes_hears_the_scheduler() -> None:
    found = view([group("a")], [node("a-0")], pod(nodeSelector={"pool": "nowhere"}))
    assert (starts(found), stuck(found)) == ([], ["0/0 nodes"])
    found = view([group("a")], [node("a-0")], pod(gpus=2))
    assert (starts(found), stuck(found)) == ([], ["no node of a is left that has room for it"])


def test_the_oldest_pod_first() -> None:
    pods = [pod("new", created="2026-01-02T00:00:00Z"), pod("old")]
    found = list(scale_up(view([group("a", most=1)], [node("a-0"), node("a-1")], *pods)))
    assert [(type(each).__name__, each.pod["metadata"]["name"]) for each in found] == [
        ("NodeStart", "old"),
        ("Unschedulable", "new"),
    ]


def test_nodes_that_are_new_and_in_use_are_there_beyond_the_least() -> None:
    nodes = [node(f"a-{index}", None) for index in range(4)] + [node("other", None), node("a-x", None)]
    found = initial_stages(view([group("a", least=1)], nodes, pod("x", on="a-2"), pod("y", on="a-3")))
    assert found == {
        "a-0": NodeStage.RESERVE,
        "a-1": NodeStage.RESERVE,
        "a-2": NodeStage.IN_USE,
        "a-3": NodeStage.IN_USE,
        "other": NodeStage.IN_USE,
        "a-x": NodeStage.IN_USE,
    }
    assert initial_stages(view([group("a", least=1)], nodes[:2]))["a-0"] is NodeStage.IN_USE
    found = initial_stages(view([group("a", most=1)], nodes[:4], pod("x", on="a-2"), pod("y", on="a-3")))
    assert [name for name, stage in found.items() if stage is NodeStage.IN_USE] == ["a-2"]


def owned(name: str, on: str, kind: str = "ReplicaSet") -> Json:
    found = pod(name, on=on)
    found["metadata"]["ownerReferences"] = [{"kind": kind, "name": "owner", "controller": True}]
    return found


def moves(found: NodeView) -> dict[str, list[str]]:
    return {
        each.node["metadata"]["name"]: [moved["metadata"]["name"] for moved in each.moved]
        for each in early_bindings(found)
    }


def test_pods_that_came_before_the_cordon_stay_within_the_most_of_the_group() -> None:
    nodes = [node("a-0", NodeStage.IN_USE), *(node(f"a-{index}") for index in range(1, 5)), node("b-0")]
    pods = [owned("x", "a-1"), owned("y", "a-2"), owned("z", "a-2"), owned("v", "b-0")]
    assert moves(view([group("a", most=2)], nodes, *pods)) == {"a-1": [], "a-2": ["y", "z"], "b-0": []}
    assert moves(view([group("a", most=3)], nodes, *pods)) == {"a-1": [], "a-2": [], "b-0": []}


def test_nobody_would_make_a_pod_without_an_owner_anew() -> None:
    nodes = [node("a-0", NodeStage.IN_USE), node("a-1")]
    assert moves(view([group("a", most=1)], nodes, owned("x", "a-1"), pod("y", on="a-1"))) == {"a-1": []}


def test_pods_that_end_and_those_of_daemon_sets_change_nothing() -> None:
    ending = owned("x", "a-1")
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    nodes = [node("a-0", NodeStage.IN_USE), node("a-1")]
    assert moves(view([group("a")], nodes, ending, owned("y", "a-1", "DaemonSet"))) == {}
    found = view([group("a")], nodes, owned("z", "a-0", "DaemonSet"))
    assert [each["metadata"]["name"] for each in idle(found)] == ["a-0"]
    assert initial_stages(view([group("a")], [node("a-0", None)], owned("z", "a-0", "DaemonSet"))) == {
        "a-0": NodeStage.RESERVE
    }


def test_idle_nodes_beyond_the_least_may_go_the_last_first() -> None:
    nodes = [node(f"a-{index}", NodeStage.IN_USE) for index in range(4)] + [node("a-4")]
    found = view([group("a", least=2)], nodes, pod("x", on="a-3"))
    assert [each["metadata"]["name"] for each in idle(found)] == ["a-2", "a-1"]
    ended = pod("done", on="a-3") | {"status": {"phase": "Succeeded"}}
    found = view([group("a", least=2)], nodes, ended)
    assert [each["metadata"]["name"] for each in idle(found)] == ["a-3", "a-2"]
