"""The models in a live cluster with a gateway, and changes that end pods."""

import http
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from components.fleet.workloads import Workload
from components.plan.plan import Plan
from components.resources.serving.simulated_nodes import node_object, simulated_count
from livefleet.control_client import ControlClient
from livefleet.door.part import DoorPart
from livefleet.folder import LiveFolder
from livefleet.option_values import LiveFault
from livefleet.pods.kubelet import is_ending, is_ready
from livefleet.pods.part import PodsPart
from tests.livefleet.door.changing.models import NAMESPACE, REPLICAS, Json, live_fleet, planned_models
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube, KubeError

STARTS = 200.0
"""How much faster than real time nodes and pods start."""
_MANAGER = "test-changing"
_SECONDS = 120.0
_MERGE = "application/merge-patch+json"
_KINDS = (
    "PriorityClass",
    "Deployment",
    "LeaderWorkerSet",
    "Service",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
)
"""Kinds of the plan that the simulated cluster runs."""


class Change(StrEnum):
    """A change that ends pods of every model."""

    ROLLOUT = "rollout"
    DRAIN = "drain"
    SPOT_RECLAIM = "spot reclaim"
    SCALE_DOWN = "scale-down"


@dataclass(slots=True)
class Stage:
    """The models in a live cluster."""

    kube: Kube
    folder: LiveFolder
    plan: Plan
    speed: float
    revision: int = 1

    @property
    def url(self) -> str:
        """Base URL of the API behind the gateway."""
        return self.folder.addresses().door_api

    @property
    def workloads(self) -> Mapping[str, Workload]:
        """The workload of each model."""
        return {workload.name: workload for _, workload in self.plan.fleet.workloads}

    def make(self, change: Change) -> None:
        """Make a change for all models; return when it is under way."""
        match change:
            case Change.ROLLOUT:
                self.revision += 1
                self._apply(planned_models(self.revision))
            case Change.SCALE_DOWN:
                self._scale(REPLICAS - 1)
            case Change.DRAIN:
                for node in self._nodes():
                    self._drain(node)
            case Change.SPOT_RECLAIM:
                for node in self._nodes():
                    ControlClient.of(self.folder).fault(LiveFault.SPOT, node)

    def has_no_replica_during(self, change: Change, model: str) -> bool:
        """Tell whether all replicas of a model end before new ones start, as the plan says of its rollouts."""
        strategy = self.workloads[model].body["spec"].get("strategy") or {}
        return change is Change.ROLLOUT and strategy.get("type") == "Recreate"

    def served_name(self, model: str) -> str:
        """Return the name of a model for clients."""
        (endpoint,) = [endpoint for item, endpoint in self.plan.fleet.endpoints if item.name == model]
        return endpoint.model

    def rest(self, *, drains: bool = True) -> None:
        """Return to the replicas of the beginning, and wait for them.

        Args:
            drains: Whether pods finish their requests.
        """
        self._play(drains=drains)
        self._scale(REPLICAS)
        eventually(
            lambda: all(len(self._leaders(name)) == REPLICAS for name in self.workloads),
            "the replicas of each model",
            _SECONDS,
        )

    def _scale(self, replicas: int) -> None:
        """Scale all workloads, as their autoscalers do."""
        for workload in self.workloads.values():
            path = self.kube.path(workload.shape.api_version, workload.kind, workload.name, workload.namespace)
            body = {"spec": {"replicas": replicas}}
            self.kube.request("PATCH", f"{path}/scale", body=body, content_type=_MERGE)

    def _leaders(self, name: str) -> list[Json]:
        """Return the pods of a model that take requests, if they are ready and of the last revision."""
        selector = self.workloads[name].own_pods.front
        labels = ",".join(f"{key}={value}" for key, value in selector.items())
        pods = self.kube.list("v1", "Pod", NAMESPACE, labels=labels)
        return [pod for pod in pods if is_ready(pod) and not is_ending(pod) and _revision(pod) == str(self.revision)]

    def _nodes(self) -> list[str]:
        """Return a node of each model: that of the pod that takes requests of one replica."""
        return [self._leaders(name)[0]["spec"]["nodeName"] for name in self.workloads]

    def _drain(self, node: str) -> None:
        """Cordon a node, and evict its pods, as ``kubectl drain`` and autoscalers do."""
        cordoned = {"spec": {"unschedulable": True}}
        self.kube.request("PATCH", self.kube.path("v1", "Node", node), body=cordoned, content_type=_MERGE)
        for pod in self.kube.list("v1", "Pod", NAMESPACE):
            if pod["spec"].get("nodeName") == node:
                name = pod["metadata"]["name"]
                eventually(partial(self._evicts, name), f"the eviction of {name}", _SECONDS)

    def _evicts(self, pod: str) -> bool:
        """Evict a pod; return whether it ends, which its disruption budget may forbid for a while."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": NAMESPACE},
        }
        try:
            self.kube.request("POST", self.kube.path("v1", "Pod", pod, NAMESPACE) + "/eviction", body=body)
        except KubeError as error:
            # The other pods of a group are deleted with one of them.
            if error.status not in (http.HTTPStatus.TOO_MANY_REQUESTS, http.HTTPStatus.NOT_FOUND):
                raise
            return error.status == http.HTTPStatus.NOT_FOUND
        return True

    def _apply(self, plan: Plan) -> None:
        """Deploy a plan."""
        self.plan = plan
        for body in plan.objects:
            if body["kind"] in _KINDS:
                self.kube.apply(body, manager=_MANAGER)

    def _play(self, *, drains: bool) -> None:
        """Start the process behind the pods, or give it another fleet."""
        fleet = live_fleet(self.plan, drains=drains)
        self.folder.write_fleet(fleet)
        PodsPart(answers=self.speed, starts=STARTS).start(self.folder, fleet, lambda _: None)

    def start(self) -> None:
        """Deploy the models, and start their gateway."""
        self.folder.make()
        self.kube.apply(_namespace(), manager=_MANAGER)
        eventually(lambda: self.kube.list("v1", "ServiceAccount", NAMESPACE), "the service account", _SECONDS)
        self._play(drains=True)
        for group in self.plan.groups:
            for index in range(simulated_count(group)):
                self.kube.apply(node_object(group, index), manager=_MANAGER)
        self._apply(self.plan)
        fleet = self.folder.read_fleet()
        assert fleet
        DoorPart().prepare(fleet, lambda _: None)
        DoorPart().start(self.folder, fleet, lambda _: None)

    def stop(self) -> None:
        """Delete everything."""
        DoorPart().stop(self.folder)
        for workload in self.workloads.values():
            self.kube.delete(workload.shape.api_version, workload.kind, workload.name, workload.namespace)
        try:
            eventually(lambda: not self.kube.list("v1", "Pod", NAMESPACE), "no pods", _SECONDS)
        finally:
            PodsPart().stop(self.folder)
            for group in self.plan.groups:
                for index in range(simulated_count(group)):
                    with suppress(KubeError):
                        self.kube.delete("v1", "Node", f"{group.name}-{index}")
            self.kube.delete("v1", "Namespace", NAMESPACE)


@contextmanager
def staged(kube: Kube, folder: LiveFolder, speed: float) -> Iterator[Stage]:
    """Deploy the models for the length of the context.

    Args:
        kube: A client of the live cluster, with every right.
        folder: The folder of the live fleet beside the files of the cluster.
        speed: How much faster than real time answers are.
    """
    stage = Stage(kube, folder, planned_models(1), speed)
    try:
        stage.start()
        yield stage
    finally:
        stage.stop()


def _namespace() -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}


def _revision(pod: Json) -> str:
    (container,) = pod["spec"]["containers"]
    return next(str(variable["value"]) for variable in container["env"] if variable["name"] == "REVISION")
