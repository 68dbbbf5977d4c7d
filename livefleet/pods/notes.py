"""Recent events of the fleet, such as preemptions: pods that the scheduler evicts for a pending pod."""

import logging
import re
import time
from collections import OrderedDict, deque
from typing import Any

from ..control_api import FleetNote, NoteKind
from ..informer import key_of
from .cluster import LiveCluster
from .kubelet import is_ending, moment
from .runtime import PodRuntime

Json = dict[str, Any]
_MAX_NOTES = 200
_MAX_DELETED = 500
_LOG = logging.getLogger(__name__)


class FleetNotes:
    """The last events, newest last. The log has all of them."""

    def __init__(self) -> None:
        self._notes: deque[FleetNote] = deque(maxlen=_MAX_NOTES)

    def add(
        self, kind: NoteKind, text: str, at: float | None = None, *, victim: str = "", preemptor: str = ""
    ) -> None:
        """Record an event.

        Args:
            kind: Kind of event.
            text: Message.
            at: Seconds since the epoch; now by default.
            victim: The evicted pod of a preemption.
            preemptor: The pod that it was evicted for.
        """
        _LOG.info("%s: %s", kind.value, text)
        self._notes.append(FleetNote(time.time() if at is None else at, kind, text, victim, preemptor))

    def all(self) -> tuple[FleetNote, ...]:
        return tuple(self._notes)


_MESSAGE = re.compile(r"^Preempted by pod (?P<pod>\S+) on node (?P<node>\S+)$")
"""The scheduler's message, with the uid of the preemptor (kubernetes/kubernetes v1.36
pkg/scheduler/framework/preemption); the event's ``related`` stays empty."""


class PreemptionNotes:
    """Records each preemption, with victim and preemptor.

    Args:
        cluster: Source of the scheduler's events.
        runtime: The serving pods.
        notes: Where preemptions are recorded.
    """

    def __init__(self, cluster: LiveCluster, runtime: PodRuntime, notes: FleetNotes) -> None:
        self._cluster, self._runtime, self._notes = cluster, runtime, notes
        self._since = time.time()
        self._deleted: OrderedDict[str, Json] = OrderedDict()
        """Recently deleted pods by uid, because the event may arrive after the deletion of its victim."""

    def pod_changed(self, before: Json | None, after: Json | None) -> None:
        pod = after or before
        if pod and (after is None or is_ending(pod)):
            self._deleted[pod["metadata"]["uid"]] = pod
            while len(self._deleted) > _MAX_DELETED:
                self._deleted.popitem(last=False)

    def event_changed(self, before: Json | None, after: Json | None) -> None:
        """Record an event, unless it is known or older than this process."""
        if before is not None or after is None:
            return
        at = moment(after.get("eventTime") or after["metadata"]["creationTimestamp"])
        if at < self._since:
            return
        regarding = after["involvedObject"]
        victim = self._pod(str(regarding.get("uid", "")))
        match = _MESSAGE.search(str(after.get("message") or ""))
        preemptor = self._pod(match["pod"]) if match else None
        victim_key = f"{regarding.get('namespace', '')}/{regarding.get('name', '')}"
        preemptor_key = key_of(preemptor) if preemptor else ""
        location = f" on node {match['node']}" if match else ""
        text = f"{self._label(victim_key, victim)} made room{location} for {self._label(preemptor_key, preemptor)}"
        self._notes.add(NoteKind.PREEMPTED, text, at, victim=victim_key, preemptor=preemptor_key)

    def _pod(self, uid: str) -> Json | None:
        if uid in self._deleted:
            return self._deleted[uid]
        return next((pod for pod in self._cluster.pods.objects.values() if pod["metadata"]["uid"] == uid), None)

    def _label(self, key: str, pod: Json | None) -> str:
        """Return the name of a pod, with its model and priority if they are known."""
        if pod is None:
            return f"pod {key}" if key else "a pod of a higher priority"
        workload = self._runtime.member_of(pod)
        model = f" of {workload.title}" if workload else ""
        return f"pod {key}{model} (priority {pod['spec'].get('priority', 0)})"
