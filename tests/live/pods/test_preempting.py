"""Pods with a higher priority take the place of others, which wait for room: with the real scheduler."""

from collections import Counter

from tests.live.pods.stand import MANAGER, Stand, deployment
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
        assert len(stand.pods()) == 2 * NODES  # the others wait
    stand.kube.delete("scheduling.k8s.io/v1", "PriorityClass", name)


def placed(stand: Stand) -> dict[str, int]:
    pods = [pod for pod in stand.pods() if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]]
    return dict(Counter(pod["metadata"]["labels"]["app"] for pod in pods))
