"""A small fleet in a real control plane, played by the real process: four nodes with room for one pod each."""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from livefleet.control_api import ModelState, PodState
from livefleet.control_client import ControlClient
from livefleet.fleet import (
    LiveFleet,
    PaceSource,
    ServedEndpoint,
    ServedGroup,
    ServedWorkload,
    Speaks,
    Startup,
    TokenPace,
)
from livefleet.folder import LiveFolder
from livefleet.pods.kubelet import WARM
from livefleet.pods.part import PodsPart
from tests.commands.support import workbench
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube

Json = dict[str, Any]
NAMESPACE, MODEL, ZONES = "faults", "chat", ("a", "b")
GPU = "nvidia.com/gpu"
LABELS = {"app": MODEL}
INSTANCE_TYPE = "g6.xlarge"
REPLICAS, NODES = 3, 4
STARTS = 20.0
"""Times as fast as in life: a pod takes three seconds, so that who looks every second sees it missing."""
KEY = f"{NAMESPACE}/{MODEL}"
PACE = TokenPace(alpha=0.01, beta=0.0005, prefill=0.0001, batch=64, source=PaceSource.PROFILE)
WORKLOAD = ServedWorkload(
    namespace=NAMESPACE,
    kind="Deployment",
    name=MODEL,
    title=MODEL,
    selector=LABELS,
    container="engine",
    engine="vllm",
    version="0.8.5",
    speaks=Speaks.OPENAI,
    port=8000,
    models=("qwen",),
    loaded="qwen",
    paces={"": PACE},
    startup=Startup(pod=60.0, node=120.0),
)


@dataclass(frozen=True, slots=True)
class Faulty:
    """The project of a fleet that runs."""

    cwd: Path
    control: ControlClient

    def run(self, *arguments: str) -> Json:
        """Run a command on it that writes JSON."""
        ran = workbench(*arguments, "--cwd", self.cwd, "--output", "json")
        assert ran.returncode == 0, ran.stderr
        found: Json = json.loads(ran.stdout)
        return found

    def pods(self) -> dict[str, PodState]:
        return {pod.name: pod for pod in self.control.state().pods}

    def model(self) -> ModelState:
        (found,) = self.control.state().models
        return found

    def is_whole(self) -> bool:
        """Whether all replicas are Ready, and none is on its way."""
        found = self.model()
        return (found.ready, found.starting, found.pending) == (REPLICAS, 0, 0)

    def wait_until_replaced(self, pods: Collection[str]) -> None:
        """Wait until pods are gone, and all replicas are Ready."""
        eventually(lambda: self.pods().keys().isdisjoint(pods) and self.is_whole(), "a whole fleet again", pause=0.5)


def fleet() -> LiveFleet:
    return LiveFleet(
        "local",
        (WORKLOAD,),
        (ServedEndpoint(MODEL, "qwen", "openai", f"http://{MODEL}.{NAMESPACE}/v1", {KEY: 1.0}),),
        (ServedGroup("chat-nodes", INSTANCE_TYPE, _labels(0), REPLICAS, NODES, 1.0),),
    )


def _labels(index: int) -> dict[str, str]:
    return {
        "node.kubernetes.io/instance-type": INSTANCE_TYPE,
        "eks.amazonaws.com/capacityType": "SPOT",
        "topology.kubernetes.io/zone": ZONES[index % len(ZONES)],
        "tests/faults": "true",
    }


def _node(index: int) -> Json:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "10", GPU: "1"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"chat-nodes-{index}",
            "labels": _labels(index),
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _deployment() -> Json:
    container = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.8.5",
        "ports": [{"containerPort": 8000}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}},
        "resources": {"limits": {GPU: "1"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": MODEL, "namespace": NAMESPACE},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": LABELS},
            "template": {
                # Its first pods take their time to start, as later ones do.
                "metadata": {"labels": LABELS, "annotations": {WARM: "false"}},
                "spec": {"nodeSelector": {"tests/faults": "true"}, "containers": [container]},
            },
        },
    }


@contextmanager
def faulty(folder: Path, kube: Kube, state_dir: Path) -> Iterator[Faulty]:
    """Play the fleet until a test has ended, and take everything away again."""
    (folder / ".workbench").symlink_to(state_dir)
    live, part = LiveFolder(state_dir), PodsPart(answers=1.0, starts=STARTS)
    live.make()
    live.write_fleet(fleet())
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager="tests")
    eventually(lambda: kube.list("v1", "ServiceAccount", NAMESPACE), "a service account")
    for index in range(NODES):
        kube.apply(_node(index), manager="tests")
    part.start(live, fleet(), lambda _: None)
    found = Faulty(folder, ControlClient.of(live))
    try:
        kube.apply(_deployment(), manager="tests")
        eventually(found.is_whole, "the fleet is whole", pause=0.5)
        yield found
    finally:
        kube.delete("apps/v1", "Deployment", MODEL, NAMESPACE)
        eventually(lambda: not kube.list("v1", "Pod", NAMESPACE), "the pods are gone")
        for index in range(NODES):
            kube.delete("v1", "Node", f"chat-nodes-{index}")
        part.stop(live)
