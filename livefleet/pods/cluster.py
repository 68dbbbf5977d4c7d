"""The cluster, as the process sees it and changes it. What it may do there is in ``cluster/access.py``."""

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
from .groups.pods import KIND as GROUP_KIND
from .kubelet import STRATEGIC, is_first

Json = dict[str, Any]
_T = TypeVar("_T")
AT_ONCE = 0
"""The grace of a pod that is killed."""
PREEMPTED = "reason=Preempted"
"""Field selector of the events in which kube-scheduler reports a preemption (kubernetes/kubernetes
pkg/scheduler/framework/preemption); each is about a victim."""
_PATIENCE = 30.0
_THREADS = 8
_LOG = logging.getLogger(__name__)


class LiveCluster:
    """Objects that are followed, and what is done to them.

    Args:
        kube: A client with the rights of the identity ``fleet``.
    """

    def __init__(self, kube: Kube) -> None:
        kube.retry_seconds = _PATIENCE
        self.kube = kube
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="kube")
        self.nodes = Informer(kube, "v1", "Node")
        self.pods = Informer(kube, "v1", "Pod")
        self.replica_sets = Informer(kube, "apps/v1", "ReplicaSet")
        self.workloads = {shape.kind: Informer(kube, shape.api_version, shape.kind) for shape in SHAPES}
        """What makes pods, by kind."""
        self.groups = self.workloads[GROUP_KIND]
        built_in = {shape.kind: self.workloads[shape.kind] for shape in SHAPES if not shape.requires}
        self._owners = {"ReplicaSet": self.replica_sets, **built_in}
        """What a pod may be one of the first of, by kind; that of groups says so in the pods themselves."""
        self.scalers = Informer(kube, "autoscaling/v2", "HorizontalPodAutoscaler")
        self.preemptions = Informer(kube, "v1", "Event", PREEMPTED)
        self.ending: set[str] = set()
        """Nodes that are excluded from all counts while they are being deleted."""

    async def follow(self) -> None:
        """Begin to follow everything, the pods when what tells of them is known."""
        rest = (*self.workloads.values(), self.scalers, self.preemptions)
        for followed in (self.nodes, self.replica_sets, *rest):
            followed.start()
        await asyncio.gather(self.nodes.synced.wait(), self.replica_sets.synced.wait())
        self.pods.start()
        await self.pods.synced.wait()

    async def in_thread(self, function: Callable[..., _T], *arguments: object, **options: object) -> _T:
        """Call something that asks the API server, without holding up the engines."""
        call = functools.partial(function, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def owner_of(self, pod: Mapping[str, Any]) -> Json | None:
        """Return the object that a controller made a pod for, such as its ReplicaSet, if it is known already."""
        owner = self.reference_of(pod)
        namespace = pod["metadata"]["namespace"]
        return self._owners[owner["kind"]].objects.get(f"{namespace}/{owner['name']}") if owner else None

    def reference_of(self, pod: Mapping[str, Any]) -> Json | None:
        """Return how a pod refers to the object that a controller made it for; None if it does not."""
        owners = pod["metadata"].get("ownerReferences") or ()
        return next((each for each in owners if each["kind"] in self._owners), None)

    def is_first(self, pod: Mapping[str, Any]) -> bool:
        """Tell whether a pod is one of the first of its owner."""
        return is_first(pod, self.owner_of(pod))

    def nodes_there(self) -> dict[str, Json]:
        """Return the nodes, except those that are being deleted."""
        return {name: node for name, node in self.nodes.objects.items() if name not in self.ending}

    def pods_on(self, node: str) -> list[Json]:
        """Return the pods that are bound to a node."""
        return [pod for pod in self.pods.objects.values() if pod["spec"].get("nodeName") == node]

    async def patch_pod_status(self, pod: Json, patch: Json) -> None:
        """Change the status of a pod."""
        path = self.kube.path_of({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}) + "/status"
        try:
            await self.in_thread(self.kube.request, "PATCH", path, body=patch, content_type=STRATEGIC)
        except KubeError as error:  # it may be gone by now
            _LOG.info("the status of pod %s: %s", key_of(pod), error)

    async def patch_node(self, name: str, patch: Json) -> None:
        """Change a node."""
        path = self.kube.path("v1", "Node", name)
        await self.in_thread(self.kube.request, "PATCH", path, body=patch, content_type=STRATEGIC)

    async def create_node(self, node: Json) -> None:
        """Make a node."""
        await self.in_thread(self.kube.create, node)

    async def delete_node(self, name: str) -> None:
        """Delete a node; its pods are another matter."""
        await self.in_thread(self.kube.delete, "v1", "Node", name)

    async def delete_pod(self, pod: Json, grace: int | None = None) -> None:
        """Delete a pod, unless it is another one of that name by now.

        Args:
            pod: The pod.
            grace: Seconds to end in; 0 is at once, None what the pod asks for.
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
