"""Pods with a higher priority take the place of others, which wait for room: with the real scheduler."""

from collections import Counter

from livefleet.control_api import FleetNote, NoteKind
from tests.livefleet.pods.stand import MANAGER, Stand, deployment
from tests.monitoring.programs.daemon import eventually

NODES = 6


def test_whoever_preempts_is_placed(stand: Stand) -> None:
    """All of them. With asynchronous preemption one now and then stays Pending (kubernetes/kubernetes#141694)."""
    name = f"{stand.namespace}-high"
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 10,
    }
    stand.kube.apply(priority, manager=MANAGER)
    stand.group("gpu", nodes=NODES)
    with stand.playing(stand.fleet(stand.workload("low"), stand.workload("high"))):
        stand.deploy("low", replicas=NODES)
        eventually(lambda: placed(stand) == {"low": NODES}, "every node in use")
        high = deployment("high", stand.namespace, replicas=NODES, gpus=1)
        high["spec"]["template"]["spec"]["priorityClassName"] = name
        stand.kube.apply(high, manager=MANAGER)
        eventually(lambda: placed(stand) == {"high": NODES}, "those with the higher priority on the nodes")
        eventually(lambda: len(stand.pods()) == 2 * NODES, "the others, which wait")
        noted = eventually(lambda: preempted(stand) if len(preempted(stand)) >= NODES else None, "a note of each")
    for each in noted:
        # kube-scheduler says which pod it ended, and for which.
        assert each.victim.startswith(f"{stand.namespace}/low-")
        assert each.preemptor.startswith(f"{stand.namespace}/high-")
        assert each.text.startswith(f"pod {each.victim} of low (priority 0) made room on node {stand.namespace}-gpu-")
        assert each.text.endswith(f" for pod {each.preemptor} of high (priority 10)")
    assert len({each.victim for each in noted}) == NODES
    stand.kube.delete("scheduling.k8s.io/v1", "PriorityClass", name)


def test_nothing_is_preempted_where_all_have_one_priority(stand: Stand) -> None:
    stand.group("gpu", nodes=1)
    with stand.playing(stand.fleet(stand.workload("low"), stand.workload("high"))):
        stand.deploy("low")
        eventually(lambda: placed(stand) == {"low": 1}, "every node in use")
        stand.deploy("high")
        eventually(lambda: stand.control.state().models[0].pending == 1, "a pod that waits")
        assert placed(stand) == {"low": 1}
        assert not preempted(stand)


def preempted(stand: Stand) -> list[FleetNote]:
    return [note for note in stand.control.state().notes if note.kind is NoteKind.PREEMPTED]


def placed(stand: Stand) -> dict[str, int]:
    pods = [pod for pod in stand.pods() if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]]
    return dict(Counter(pod["metadata"]["labels"]["app"] for pod in pods))
