"""The process behind the pods, in a thread of the test, and what it follows: nodes, Deployments, requests."""

import asyncio
import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from livefleet.apis.dispatch import answer
from livefleet.control_client import ControlClient
from livefleet.fleet import LiveFleet, ServedEndpoint, ServedGroup, ServedWorkload
from livefleet.folder import LiveFolder
from livefleet.pods.process import PodsProcess
from tests.group_pods import API, KIND
from tests.livefleet.pods_by_hand import workload_by_hand
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube, KubeError, NoSuchKindError

Json = dict[str, Any]
Found = TypeVar("Found")
MANAGER = "test-live"
PORT = 8000
TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"


class Stand:
    """A namespace of a live cluster, and the process that plays it."""

    def __init__(self, kube: Kube, state: Path, live: Path, namespace: str) -> None:
        self.kube, self.namespace = kube, namespace
        # Each process has files of its own; they share the cluster.
        self.folder = LiveFolder(live)
        self.folder.make()
        self.identity = state / "cluster" / "fleet.kubeconfig"
        self._loop: asyncio.AbstractEventLoop | None = None
        self.process: PodsProcess | None = None

    @property
    def control(self) -> ControlClient:
        return ControlClient.of(self.folder)

    @contextmanager
    def playing(self, fleet: LiveFleet, answers: float = 1.0, starts: float = 60.0) -> Iterator[PodsProcess]:
        """Run the process; nodes that it has not seen yet would take pods, whatever their group may have."""
        self.folder.write_fleet(fleet)
        ready, tasks = threading.Event(), []

        async def run() -> None:
            self._loop = asyncio.get_running_loop()
            with Kube.from_kubeconfig(self.identity) as kube:
                self.process = PodsProcess(self.folder, kube, answer, (answers, starts))
                tasks.append(asyncio.ensure_future(self.process.run()))
                ready.set()
                with suppress(asyncio.CancelledError):
                    await tasks[0]

        self.folder.forget_addresses("pods")
        thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        thread.start()
        try:
            assert ready.wait(30)
            eventually(lambda: self.folder.addresses().control, "the control address")
            assert self.process
            eventually(
                lambda: all("new" not in self.stage_of(group) for group in fleet.groups), "a state of each node"
            )
            yield self.process
        finally:
            if self._loop and tasks:
                self._loop.call_soon_threadsafe(tasks[0].cancel)
            thread.join(30)
            # A process that goes on would play the nodes and pods of the tests that follow.
            assert not thread.is_alive(), "the process did not end"

    def ask_process(self, question: Callable[[PodsProcess], Found]) -> Found:
        """Ask the process in its own thread: what it knows changes while another one looks at it."""

        async def asked() -> Found:
            assert self.process
            return question(self.process)

        assert self._loop
        return asyncio.run_coroutine_threadsafe(asked(), self._loop).result(30)

    def backends(self) -> dict[str, str]:
        """The loopback address of each pod that listens."""
        return self.ask_process(lambda process: process.backends())

    def answered(self) -> list[tuple[str, int]]:
        """The workload of each pod that listens, and how many requests it has answered."""
        return self.ask_process(
            lambda process: [
                (each.live.workload.name, each.live.answered) for each in process.runtime.serving.values()
            ]
        )

    def workload(self, name: str = "demo", **rest: Any) -> ServedWorkload:
        fields: Json = {"name": name, "title": name, "selector": {"app": name}, "port": PORT}
        fields["namespace"] = self.namespace
        return workload_by_hand(**(fields | rest))

    def fleet(self, *workloads: ServedWorkload, groups: tuple[ServedGroup, ...] = (), **rest: Any) -> LiveFleet:
        endpoints = tuple(
            ServedEndpoint(each.title, each.models[0], "openai", f"http://{each.name}:{PORT}/v1", {each.key: 1.0})
            for each in workloads
        )
        return LiveFleet("test", workloads, endpoints, groups, **rest)

    def group(self, name: str, *, nodes: int, gpus: int = 1, **rest: Any) -> ServedGroup:
        """Register nodes, and return their group."""
        fields = {"least": 0, "most": nodes, "usd_per_hour": 1.0}
        group = ServedGroup(f"{self.namespace}-{name}", "g6.xlarge", {}, **(fields | rest))
        for index in range(nodes):
            self.kube.apply(node(f"{group.name}-{index}", self.namespace, gpus, "abc"[index % 3]), manager=MANAGER)
        return group

    def deploy(
        self, name: str = "demo", replicas: int = 1, gpus: int = 1, annotations: Mapping[str, str] | None = None
    ) -> None:
        found = deployment(name, self.namespace, replicas, gpus)
        found["spec"]["template"]["metadata"]["annotations"] = dict(annotations or {})
        self.kube.apply(found, manager=MANAGER)

    def scale(self, name: str, replicas: int) -> None:
        path = f"{self.kube.path('apps/v1', 'Deployment', name, self.namespace)}/scale"
        patch = {"spec": {"replicas": replicas}}
        self.kube.request("PATCH", path, body=patch, content_type="application/merge-patch+json")

    def pods(self) -> list[Json]:
        return self.kube.list("v1", "Pod", self.namespace)

    def ready(self) -> int:
        return sum(is_ready(pod) for pod in self.pods() if not pod["metadata"].get("deletionTimestamp"))

    def stage_of(self, group: ServedGroup) -> dict[str, int]:
        """Count the nodes of a group by their state."""
        found: dict[str, int] = {}
        for each in self.kube.list("v1", "Node"):
            if each["metadata"]["name"].startswith(f"{group.name}-"):
                state = each["metadata"]["annotations"].get("workbench/node", "new")
                found[state] = found.get(state, 0) + 1
        return found

    def ask(self, title: str = "demo", tokens: int = 4) -> tuple[int, Json]:
        """Ask an endpoint, on a connection of its own."""
        return asked(self.folder.addresses().endpoints[title], tokens)

    def clean(self) -> None:
        """Delete workloads, pods and nodes, whatever state a failed test left them in."""
        try:
            for version, kind in (("apps/v1", "Deployment"), (API, KIND)):
                with suppress(NoSuchKindError):
                    for each in self.kube.list(version, kind, self.namespace):
                        self.kube.delete(version, kind, each["metadata"]["name"], self.namespace)
            eventually(self._without_pods, "no pods")
        finally:
            for each in self.kube.list("v1", "Node"):
                if each["metadata"]["name"].startswith(f"{self.namespace}-"):
                    self.kube.delete("v1", "Node", each["metadata"]["name"])

    def _without_pods(self) -> bool:
        """Delete the pods that are left, and tell whether there were none.

        Called repeatedly, because a controller may create pods after its workload is deleted, and the garbage
        collector discovers new kinds only every 30 s. Without a grace period, because on a lost node nothing ends it.
        """
        pods = self.pods()
        for pod in pods:
            path = self.kube.path("v1", "Pod", pod["metadata"]["name"], self.namespace)
            with suppress(KubeError):
                self.kube.request("DELETE", path, body={"gracePeriodSeconds": 0})
        return not pods


def asked(url: str, tokens: int = 4, model: str = "demo") -> tuple[int, Json]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": tokens,
        "ignore_eos": True,
    }
    try:
        connection.request(
            "POST", f"{parts.path}/chat/completions", json.dumps(body), {"Content-Type": "application/json"}
        )
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def is_ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def node(name: str, pool: str, gpus: int, zone: str) -> Json:
    offered = {"cpu": "8", "memory": "32Gi", "pods": "110", GPU: str(gpus)}
    labels = {TYPE: "g6.xlarge", ZONE: f"{pool}-{zone}", "pool": pool, "kubernetes.io/hostname": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": labels},
        "spec": {"taints": [{"key": GPU, "value": "true", "effect": "NoSchedule"}]},
        "status": {"capacity": offered, "allocatable": offered},
    }


def pod_template(name: str, namespace: str, gpus: int = 1) -> Json:
    probe = {"httpGet": {"path": "/health", "port": PORT}}
    server: Json = {"name": "server", "image": "vllm/vllm-openai:v0.9.0", "readinessProbe": probe}
    server |= {"ports": [{"name": "http", "containerPort": PORT}], "resources": {"limits": {GPU: str(gpus)}}}
    return {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "nodeSelector": {"pool": namespace},
            "tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [server],
        },
    }


def deployment(name: str, namespace: str, replicas: int, gpus: int) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": pod_template(name, namespace, gpus),
        },
    }


def slower(workload: ServedWorkload, **startup: float) -> ServedWorkload:
    """Return the workload with other start-up times."""
    return replace(workload, startup=replace(workload.startup, **startup))
