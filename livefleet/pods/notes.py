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

_MOST_NOTES = 200
_LOG = logging.getLogger(__name__)


class FleetNotes:
    """The last events, newest last. The log has all of them."""

    def __init__(self) -> None:
        self._notes: deque[FleetNote] = deque(maxlen=_MOST_NOTES)

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


Json = dict[str, Any]
_REMEMBERED = 500
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
        self._gone: OrderedDict[str, Json] = OrderedDict()
        """Recently deleted pods by uid, because the event may arrive after its victim is gone."""

    def pod_changed(self, before: Json | None, after: Json | None) -> None:
        pod = after or before
        if pod and (after is None or is_ending(pod)):
            self._gone[pod["metadata"]["uid"]] = pod
            while len(self._gone) > _REMEMBERED:
                self._gone.popitem(last=False)

    def event_changed(self, before: Json | None, after: Json | None) -> None:
        """Record an event, unless it is known or older than this process."""
        if before is not None or after is None:
            return
        at = moment(after.get("eventTime") or after["metadata"]["creationTimestamp"])
        if at < self._since:
            return
        regarding = after["involvedObject"]
        victim = self._pod(str(regarding.get("uid", "")))
        found = _MESSAGE.search(str(after.get("message") or ""))
        preemptor = self._pod(found["pod"]) if found else None
        key = f"{regarding.get('namespace', '')}/{regarding.get('name', '')}"
        by = key_of(preemptor) if preemptor else ""
        where = f" on node {found['node']}" if found else ""
        text = f"{self._described(key, victim)} made room{where} for {self._described(by, preemptor)}"
        self._notes.add(NoteKind.PREEMPTED, text, at, victim=key, preemptor=by)

    def _pod(self, uid: str) -> Json | None:
        there = (pod for pod in self._cluster.pods.objects.values() if pod["metadata"]["uid"] == uid)
        return self._gone.get(uid) or next(there, None)

    def _described(self, key: str, pod: Json | None) -> str:
        """Describe a pod, with its model and priority if they are known."""
        if pod is None:
            return f"pod {key}" if key else "a pod of a higher priority"
        workload = self._runtime.member_of(pod)
        whose = f" of {workload.title}" if workload else ""
        return f"pod {key}{whose} (priority {pod['spec'].get('priority', 0)})"
