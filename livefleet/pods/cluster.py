"""The process's view of the cluster, and its changes to it. Its rights are in ``workbench/cluster/access.py``."""

import asyncio
import functools
import http
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from components.fleet.shapes import SHAPES
from toolkit.kube import Kube, KubeError

from ..informer import Informer, key_of
from .groups import set_of
from .kubelet import STRATEGIC, is_warm

Json = dict[str, Any]
_T = TypeVar("_T")
NO_GRACE = 0
"""Grace period of a killed pod, in seconds."""
PREEMPTED = "reason=Preempted"
"""Field selector of the events in which kube-scheduler reports a preemption (kubernetes/kubernetes
pkg/scheduler/framework/preemption); each event regards a victim."""
_RETRY_SECONDS = 30.0
_THREADS = 8
_LOG = logging.getLogger(__name__)


class LiveCluster:
    """Informers of the objects in the cluster, and the changes to them.

    Args:
        kube: A client with the rights of the identity ``fleet``.
    """

    def __init__(self, kube: Kube) -> None:
        kube.retry_seconds = _RETRY_SECONDS
        self.kube = kube
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="kube")
        self.nodes = Informer(kube, "v1", "Node")
        self.pods = Informer(kube, "v1", "Pod")
        self.replica_sets = Informer(kube, "apps/v1", "ReplicaSet")
        self.workloads = {shape.kind: Informer(kube, shape.api_version, shape.kind) for shape in SHAPES}
        """Workloads by kind."""
        built_in = {shape.kind: self.workloads[shape.kind] for shape in SHAPES if not shape.requires}
        self._owners = {"ReplicaSet": self.replica_sets, **built_in}
        """Owners by kind whose age decides whether a pod is warm."""
        self.scalers = Informer(kube, "autoscaling/v2", "HorizontalPodAutoscaler")
        self.preemptions = Informer(kube, "v1", "Event", PREEMPTED)
        self.ending: set[str] = set()
        """Names of nodes that are being deleted; all counts exclude them."""

    async def follow(self) -> None:
        """Start all informers; that of pods last, because its handlers read nodes and ReplicaSets."""
        for informer in (self.nodes, self.replica_sets, *self.workloads.values(), self.scalers, self.preemptions):
            informer.start()
        await asyncio.gather(self.nodes.synced.wait(), self.replica_sets.synced.wait())
        self.pods.start()
        await self.pods.synced.wait()

    async def in_thread(self, function: Callable[..., _T], *arguments: object, **options: object) -> _T:
        """Call a blocking function in a thread, so that it does not delay the engines."""
        call = functools.partial(function, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def owner_of(self, pod: Mapping[str, Any]) -> Json | None:
        """Return the owner of a pod, such as its ReplicaSet; None if the informer does not have it yet."""
        reference = self.reference_of(pod)
        if reference is None:
            return None
        # The workers of a group have a StatefulSet of their own, which is as old as the group; leaders have that of
        # the LeaderWorkerSet, of the same name.
        name = set_of(pod) or reference["name"]
        return self._owners[reference["kind"]].objects.get(f"{pod['metadata']['namespace']}/{name}")

    def reference_of(self, pod: Mapping[str, Any]) -> Json | None:
        """Return the owner reference of a pod; None if it has none of a known kind."""
        owners = pod["metadata"].get("ownerReferences") or ()
        return next((owner for owner in owners if owner["kind"] in self._owners), None)

    def leads(self, leader: Mapping[str, Any], worker: Mapping[str, Any]) -> bool:
        """Whether a worker belongs to this leader, and not to a former one of the same name.

        As ``workerPodBelongsToLeader`` of kubernetes-sigs/lws v0.9.0, pkg/controllers/pod_controller.go.
        """
        reference = self.reference_of(worker)
        if reference is None:
            return False
        workers = self._owners[reference["kind"]].objects.get(key_of(dict(leader)))
        if workers is None or reference["uid"] != workers["metadata"]["uid"]:
            return False
        owners = workers["metadata"].get("ownerReferences") or ()
        return any(owner["uid"] == leader["metadata"]["uid"] for owner in owners)

    def is_warm(self, pod: Mapping[str, Any]) -> bool:
        return is_warm(pod, self.owner_of(pod))

    def active_nodes(self) -> dict[str, Json]:
        """Return the nodes by name, without those that are being deleted."""
        return {name: node for name, node in self.nodes.objects.items() if name not in self.ending}

    def pods_on(self, node: str) -> list[Json]:
        return [pod for pod in self.pods.objects.values() if pod["spec"].get("nodeName") == node]

    async def patch_pod_status(self, pod: Json, patch: Json) -> None:
        path = self.kube.path_of({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}) + "/status"
        try:
            await self.in_thread(self.kube.request, "PATCH", path, body=patch, content_type=STRATEGIC)
        except KubeError as error:  # it may be gone by now
            _LOG.info("patching the status of pod %s: %s", key_of(pod), error)

    async def patch_node(self, name: str, patch: Json) -> None:
        path = self.kube.path("v1", "Node", name)
        await self.in_thread(self.kube.request, "PATCH", path, body=patch, content_type=STRATEGIC)

    async def create_node(self, node: Json) -> None:
        await self.in_thread(self.kube.create, node)

    async def delete_node(self, name: str) -> None:
        """Delete a node, but not its pods."""
        await self.in_thread(self.kube.delete, "v1", "Node", name)

    async def delete_pod(self, pod: Json, grace: int | None = None) -> None:
        """Delete a pod, unless another one has its name by now.

        Args:
            pod: The pod.
            grace: Grace period in seconds; None for the pod's own.
        """
        meta = pod["metadata"]
        body: Json = {"preconditions": {"uid": meta["uid"]}}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        try:
            path = self.kube.path("v1", "Pod", meta["name"], meta["namespace"])
            await self.in_thread(self.kube.request, "DELETE", path, body=body)
        except KubeError as error:
            if error.status not in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.CONFLICT):
                raise
