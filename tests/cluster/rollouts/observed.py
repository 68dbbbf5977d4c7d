"""Changes on the real controllers, with pods that become ready in steps.

All pods that have a node and are not ready become ready at once, when the controllers and the scheduler have nothing
left to do: every start takes the same simulated time, and a step is a wave. A trial that is timed lets them become
ready one by one instead.
"""

import datetime
import time
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from components.plan.rollouts import Rollout
from livefleet.pods.kubelet import STRATEGIC, is_ending, is_ready, is_running, ready_now
from tests.cluster.rollouts.cases import GPU, KINDS, Case, Json
from tests.cluster.waiting import eventually
from toolkit.kube import Kube, KubeError

_MANAGER = "test-rollouts"
_REPLICA_SET = "ReplicaSet"
_QUIET = 2.0
"""Seconds without a change after which nothing is left to do."""
_QUIET_END = 6.0
"""The same at the end, where a controller that takes its time would look like one that has stopped."""
_PAUSE = 0.4
_LONGEST = 180.0
"""Seconds to come to rest: a busy machine lets the controllers of 200 namespaces starve for more than a minute."""
_PLENTY = 100
_WAVES = 40


@dataclass(slots=True)
class Trial:
    """One change in a namespace with a node of its own."""

    kube: Kube
    namespace: str
    case: Case

    def run(self) -> Rollout:
        """Run the change, and return what happened."""
        self.start()
        return self._observe({pod["metadata"]["uid"] for pod in self.replicas()})

    def timed(self, starts: Random, shortest: float, longest: float) -> float:
        """Run the change with pods that take random times to start, and return its duration.

        Args:
            starts: Where the times come from.
            shortest: The shortest time to start, in seconds of simulated time.
            longest: The longest one.
        """
        self.start()
        self.kube.apply(self.case.body(self.namespace, changed=True), manager=_MANAGER)
        now = 0.0
        ready_at: dict[str, float] = {}
        while True:
            starting = _starting(self.settled()) or _starting(self.settled(_QUIET_END))
            if not starting:
                return now
            for pod in starting:
                ready_at.setdefault(pod["metadata"]["uid"], now + starts.uniform(shortest, longest))
            now = min(ready_at[pod["metadata"]["uid"]] for pod in starting)
            self._start([pod for pod in starting if ready_at[pod["metadata"]["uid"]] <= now])

    def start(self) -> None:
        """Start the workload as it is before the change."""
        self._prepare()
        case = self.case
        self.kube.apply(case.body(self.namespace, changed=False), manager=_MANAGER)
        eventually(lambda: self.replicas() or not case.before, f"{case}: the first pod")
        self.ready()
        assert len(self.replicas()) == case.before, case

    def ready(self) -> None:
        """Make all pods ready, step by step."""
        while self._start(self.settled()):
            pass

    def _prepare(self) -> None:
        kube, room = self.kube, self.case.room
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}, manager=_MANAGER)
        amounts = {"cpu": "100", "memory": "100Gi", "pods": "110", GPU: str(_PLENTY if room is None else room)}
        annotations = {"kwok.x-k8s.io/node": "fake", "workbench/node": "there"}
        labels = {"pool": self.namespace, "kubernetes.io/hostname": self.namespace}
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.namespace, "annotations": annotations, "labels": labels},
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        kube.apply(node, manager=_MANAGER)
        eventually(lambda: kube.list("v1", "ServiceAccount", self.namespace), "the service account")

    def _observe(self, first: set[str]) -> Rollout:
        case = self.case
        common, most = min(case.before, case.after), max(case.before, case.after)
        self.kube.apply(case.body(self.namespace, changed=True), manager=_MANAGER)
        short = extra = waves = 0
        while True:
            replicas = self.settled()
            short = max(short, common - sum(map(is_ready, replicas)))
            extra = max(extra, len(replicas) - most)
            if not self._start(replicas) and not self._start(self.settled(_QUIET_END)):
                break
            waves += 1
            assert waves < _WAVES, case
        last = self.replicas()
        gone = len(first - {pod["metadata"]["uid"] for pod in last})
        return Rollout(
            replicas=max(0, gone - max(0, case.before - case.after)),
            short=short,
            extra=extra,
            waves=waves,
            stuck=not self._is_done(last),
            left=max(0, len(last) - case.after),
        )

    def _is_done(self, last: list[Json]) -> bool:
        case = self.case
        updated = sum(case.is_new(pod) for pod in last[: case.after] if is_ready(pod))
        ready = sum(map(is_ready, last[: case.after]))
        return ready == case.after and updated >= case.after - case.kept

    def replicas(self) -> list[Json]:
        """Return the pods that make up replicas, of groups the leaders, in order."""
        return _replicas(self.kube.list("v1", "Pod", self.namespace))

    def _start(self, replicas: list[Json]) -> bool:
        """Make all running pods ready; return whether any was not."""
        starting = _starting(replicas)
        for pod in starting:
            path = self.kube.path("v1", "Pod", pod["metadata"]["name"], self.namespace) + "/status"
            body = ready_now(pod, datetime.datetime.now(datetime.UTC))
            with suppress(KubeError):
                self.kube.request("PATCH", path, body=body, content_type=STRATEGIC)
        return bool(starting)

    def settled(self, quiet: float = _QUIET) -> list[Json]:
        """Return the replicas when nothing changes any more."""
        deadline = time.monotonic() + _LONGEST
        last: object = None
        since = time.monotonic()
        while time.monotonic() < deadline:
            pods = self.kube.list("v1", "Pod", self.namespace)
            owners = self._owners()
            seen = sorted((*map(_seen, pods), *map(_seen, owners)), key=str)
            if seen != last or self._is_busy(pods, owners):
                last, since = seen, time.monotonic()
            elif time.monotonic() - since >= quiet:
                return _replicas(pods)
            time.sleep(_PAUSE)
        raise AssertionError(f"{self.case}: it never came to rest")

    def _owners(self) -> list[Json]:
        """Return the workload, its ReplicaSets, and the StatefulSet of its leaders, which comes last."""
        body = self.case.body(self.namespace, changed=False)
        found = [self.kube.get(body["apiVersion"], body["kind"], "x", self.namespace)]
        if body["kind"] == KINDS[0]:
            # The items of a list have no kind.
            listed = self.kube.list("apps/v1", _REPLICA_SET, self.namespace)
            found += [{**replica_set, "kind": _REPLICA_SET} for replica_set in listed]
        if body["kind"] == KINDS[-1]:
            with suppress(KubeError):
                found.append(self.kube.get("apps/v1", "StatefulSet", "x", self.namespace))
        return found

    def _is_busy(self, pods: list[Json], owners: list[Json]) -> bool:
        """Whether the scheduler, the kubelet or a controller still has something to do."""
        replicas = _replicas(pods)
        counts = [len(replicas), sum(map(is_ready, replicas))]
        for owner in owners:
            status = owner.get("status") or {}
            if status.get("observedGeneration", 0) < owner["metadata"]["generation"]:
                return True
            # A controller goes on when pods have been ready for minReadySeconds.
            ready = status.get("readyReplicas", 0)
            if owner["spec"].get("minReadySeconds") and status.get("availableReplicas", 0) != ready:
                return True
            if owner["kind"] == _REPLICA_SET:
                if status.get("replicas", 0) != owner["spec"]["replicas"]:
                    return True
            # A controller that has not counted the pods yet may still change them.
            elif [status.get("replicas", 0), ready] != counts:
                return True
        if any(is_ending(pod) for pod in pods):
            return True
        if any(pod["spec"].get("nodeName") and not is_running(pod) for pod in pods):
            return True
        if self.case.kind == KINDS[-1] and len(replicas) != owners[-1]["spec"]["replicas"]:
            return True
        bound = sum(bool(pod["spec"].get("nodeName")) for pod in replicas)
        free = (_PLENTY if self.case.room is None else self.case.room) - bound
        # The scheduler tries a pod again up to ten seconds after another one has ended.
        return bool(free > 0 and bound < len(replicas))

    def clean(self) -> None:
        """Delete everything."""
        body = self.case.body(self.namespace, changed=False)
        self.kube.delete(body["apiVersion"], body["kind"], "x", self.namespace)
        self.kube.delete("v1", "Namespace", self.namespace)
        self.kube.delete("v1", "Node", self.namespace)


def _replicas(pods: list[Json]) -> list[Json]:
    """Return the pods that make up replicas, of groups the leaders, in order."""
    alive = [pod for pod in pods if not _is_worker(pod) and not is_ending(pod)]
    return sorted(alive, key=lambda pod: str(pod["metadata"]["name"]))


def _starting(replicas: list[Json]) -> list[Json]:
    return [pod for pod in replicas if is_running(pod) and not is_ready(pod)]


def _seen(body: Json) -> tuple[str, str]:
    return body["metadata"]["uid"], body["metadata"]["resourceVersion"]


def _is_worker(pod: Json) -> bool:
    index = (pod["metadata"].get("labels") or {}).get("leaderworkerset.sigs.k8s.io/worker-index", "0")
    return bool(index != "0")
