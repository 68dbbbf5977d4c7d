"""A stand-in for the controller of LeaderWorkerSets.

Behavior of v0.10.0: a group is Ready when all its pods are; conditions and their texts, ``updateConditions`` and
``makeCondition`` of ``pkg/controllers/leaderworkerset_controller.go``; a pod that ends takes its group along unless
the restart policy is ``None`` (``handleRestartPolicy`` of ``pod_controller.go``); with the startup policy
``LeaderReady``, workers wait for their leader. A changed template is rolled out from the highest index down, to at
most ``maxUnavailable`` groups at a time and none below ``partition``; groups that are not Ready do not count.

Not implemented: ``maxSurge`` (treated as 0), a Service for each replica, sets with subgroups or exclusive topologies,
volume claims.
"""

import asyncio
import datetime
import hashlib
import http
import json
import logging
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.kube import Kube, KubeError

from ...informer import key_of
from ..kubelet import WARM, WARM_SECONDS, is_ending, is_ready, moment
from .pods import API, KIND, LABEL, Object, pods_of, service_of

REVISION = f"{LABEL}/template-revision-hash"
GROUP = "workbench/group"
"""Annotation with a random id, which all pods have that were created together as one group."""
Json = dict[str, Any]
Reconcile = Callable[[Json, Collection[str]], Awaitable[None]]
_MANAGER = "workbench-lws"
_PAUSE, _RETRY_PAUSE = 0.05, 1.0
_LOG = logging.getLogger(__name__)
_AVAILABLE, _PROGRESSING, _UPDATING = "Available", "Progressing", "UpdateInProgress"
_CONDITION_TEXTS = {
    _AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    _PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
    _UPDATING: ("GroupsUpdating", "Rolling Upgrade is in progress"),
}
_MUTUALLY_EXCLUSIVE = ({_AVAILABLE, _PROGRESSING}, {_AVAILABLE, _UPDATING})


@dataclass(frozen=True, slots=True)
class LeaderGroup:
    """The pods of a leader and its workers."""

    index: int
    pods: Mapping[str, Object]
    size: int
    revision: str

    @property
    def leader(self) -> Object | None:
        """The leader, unless it is terminating."""
        leaders = (pod for pod in self.pods.values() if pod["metadata"]["labels"][f"{LABEL}/worker-index"] == "0")
        return next((pod for pod in leaders if not is_ending(pod)), None)

    @property
    def ready(self) -> bool:
        return len(self.pods) == self.size and all(is_ready(pod) and not is_ending(pod) for pod in self.pods.values())

    @property
    def updated(self) -> bool:
        """Whether its pods have the current template."""
        return all(pod["metadata"]["labels"].get(REVISION) == self.revision for pod in self.pods.values())


def reconcile(kube: Kube, group_set: Mapping[str, Any], ended: Collection[str] = ()) -> None:
    """Reconcile the Service, the pods and the status of a set. Each change of its pods triggers the next call.

    Args:
        kube: A client.
        group_set: Name and namespace of the set.
        ended: Group ids (``GROUP``) of pods that have ended.
    """
    name, namespace = group_set["metadata"]["name"], group_set["metadata"]["namespace"]
    try:
        stored = kube.get(API, KIND, name, namespace)
    except KubeError as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            return
        raise
    if stored["metadata"].get("deletionTimestamp"):
        return
    _create(kube, service_of(stored))
    replicas, template, revision = _replicas(stored), stored["spec"]["leaderWorkerTemplate"], revision_of(stored)
    pods: dict[int, dict[str, Object]] = {index: {} for index in range(replicas)}
    for pod in kube.list("v1", "Pod", namespace, labels=f"{LABEL}/name={name}"):
        pods.setdefault(_index(pod), {})[pod["metadata"]["name"]] = pod
    groups = {
        index: LeaderGroup(index, dict(sorted(pods_of_group.items())), template.get("size", 1), revision)
        for index, pods_of_group in pods.items()
    }
    outdated = set(_groups_to_update(stored, groups))
    outgoing = set()
    for index, group in groups.items():
        for pod in group.pods.values():
            has_ended = (pod["metadata"].get("annotations") or {}).get(GROUP) in ended
            restarts = has_ended and template.get("restartPolicy") != "None"
            if index >= replicas or index in outdated or group.leader is None or restarts:
                outgoing.add(index)
                if not is_ending(pod):
                    kube.delete("v1", "Pod", pod["metadata"]["name"], namespace, uid=pod["metadata"]["uid"])
    for pod in _missing_pods(stored, groups, outgoing):
        _create(kube, pod)
    status = next_status(stored, groups.values())
    if status != {key: value for key, value in (stored.get("status") or {}).items() if key in status}:
        body = {"apiVersion": API, "kind": KIND, "metadata": {"name": name, "namespace": namespace}, "status": status}
        kube.apply(body, manager=_MANAGER, subresource="status")


def _create(kube: Kube, obj: Object) -> None:
    """Create an object, unless its name is taken, perhaps by a terminating one: the next call tries again."""
    try:
        kube.create(obj)
    except KubeError as error:
        if error.status != http.HTTPStatus.CONFLICT:
            raise


def revision_of(group_set: Mapping[str, Any]) -> str:
    """Return the hash of a set's template."""
    spec = group_set["spec"]
    parts = [spec["leaderWorkerTemplate"], spec.get("networkConfig")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]


def _replicas(stored: Object) -> int:
    return int(stored["spec"].get("replicas", 1))


def _groups_to_update(stored: Object, groups: Mapping[int, LeaderGroup]) -> Iterator[int]:
    """Yield the indices of the groups to recreate now from the current template."""
    replicas = _replicas(stored)
    rolling = (stored["spec"].get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    unavailable = rolling.get("maxUnavailable", 1)
    if not isinstance(unavailable, int):  # percentages round down, as in the controller
        unavailable = math.floor(int(unavailable.rstrip("%")) * replicas / 100)
    current = [group for index, group in groups.items() if index < replicas]
    budget = max(1, unavailable) - sum(not group.ready for group in current)
    outdated = [group for group in current if not group.updated and group.index >= rolling.get("partition", 0)]
    for group in sorted(outdated, key=lambda group: -group.index):
        if not group.ready:
            yield group.index
        elif budget > 0:
            budget -= 1
            yield group.index


def _index(pod: Object) -> int:
    return int(pod["metadata"]["labels"][f"{LABEL}/group-index"])


def _missing_pods(stored: Object, groups: Mapping[int, LeaderGroup], outgoing: Collection[int]) -> Iterator[Object]:
    """Yield the missing pods. A group is recreated as a whole, after its old pods are deleted."""
    waits = stored["spec"].get("startupPolicy") == "LeaderReady"
    conditions = (stored.get("status") or {}).get("conditions") or ()
    updating = any(condition["type"] == _UPDATING and condition["status"] == "True" for condition in conditions)
    # The first pods of a set, or of its new version, are warm.
    warm = updating or time.time() - moment(stored["metadata"]["creationTimestamp"]) < WARM_SECONDS
    group_ids: dict[int, str] = {}
    for pod in pods_of(stored):
        labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        group = groups[_index(pod)]
        leader, is_leader = group.leader, labels[f"{LABEL}/worker-index"] == "0"
        if pod["metadata"]["name"] in group.pods or group.index in outgoing or not group.updated:
            continue
        if not is_leader and waits and not (leader and is_ready(leader)):
            continue
        group_id = (leader["metadata"].get("annotations") or {}).get(GROUP) if leader else None
        annotations[GROUP] = group_id or group_ids.setdefault(group.index, uuid.uuid4().hex[:8])
        annotations[WARM] = str(warm).lower()
        labels[REVISION] = group.revision
        yield pod


def next_status(stored: Object, groups: Iterable[LeaderGroup]) -> Object:
    replicas = _replicas(stored)
    rolling = (stored["spec"].get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    existing = [group for group in groups if group.leader is not None]
    in_rollout = [group for group in existing if rolling.get("partition", 0) <= group.index < replicas]
    ready = sum(group.ready for group in existing if group.index < replicas)
    if not all(group.updated for group in in_rollout):
        kinds = [_UPDATING, _PROGRESSING]
    elif ready == replicas and all(group.ready for group in in_rollout):
        kinds = [_AVAILABLE]
    else:
        kinds = [_PROGRESSING]
    name = stored["metadata"]["name"]
    return {
        "observedGeneration": stored["metadata"]["generation"],
        "replicas": len(existing),
        "readyReplicas": sum(group.ready for group in existing),
        "updatedReplicas": sum(group.updated for group in existing),
        # Leaders alone: an autoscaler counts groups.
        "hpaPodSelector": f"{LABEL}/name={name},{LABEL}/worker-index=0",
        "conditions": _conditions(stored, kinds),
    }


def _conditions(stored: Object, kinds: Iterable[str]) -> list[Object]:
    """Return the conditions of a set after those of the given kinds became true."""
    conditions = {
        condition["type"]: dict(condition) for condition in (stored.get("status") or {}).get("conditions") or ()
    }
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for kind in kinds:
        for other in conditions.values():
            if {kind, other["type"]} in _MUTUALLY_EXCLUSIVE and other["status"] == "True":
                other |= {"status": "False", "lastTransitionTime": now}
        if conditions.get(kind, {}).get("status") != "True":
            reason, message = _CONDITION_TEXTS[kind]
            conditions[kind] = {"type": kind, "status": "True", "reason": reason, "message": message}
            conditions[kind]["lastTransitionTime"] = now
    generation = stored["metadata"]["generation"]
    return [{**condition, "observedGeneration": generation} for condition in conditions.values()]


class GroupController:
    """Reconciles every set when it or one of its pods changes, one call at a time.

    Args:
        reconcile: Reconciles a set, given the ids of its groups that have lost a pod.
    """

    def __init__(self, reconcile: Reconcile) -> None:
        self._reconcile = reconcile
        self._ended: dict[str, set[str]] = {}
        """Sets to reconcile, with the ids of groups that lost a pod."""
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def changed(self, _: Json | None, after: Json | None) -> None:
        if after:
            self._enqueue(key_of(after))

    def pod_changed(self, before: Json | None, after: Json | None) -> None:
        """Handle a change of a pod."""
        # After a gap in the watch, a pod of the same name may be a new one, whose predecessor has ended.
        if before and after and before["metadata"]["uid"] != after["metadata"]["uid"]:
            self.pod_changed(before, None)
        pod = after or before or {}
        name = (pod["metadata"].get("labels") or {}).get(f"{LABEL}/name")
        if name:
            ended = after is None or is_ending(after)
            group_id = (pod["metadata"].get("annotations") or {}).get(GROUP, "")
            self._enqueue(f"{pod['metadata']['namespace']}/{name}", {group_id} if ended and group_id else set())

    def _enqueue(self, key: str, ended: Collection[str] = ()) -> None:
        self._ended.setdefault(key, set()).update(ended)
        if key not in self._tasks:
            self._tasks[key] = asyncio.ensure_future(self._run(key))

    async def _run(self, key: str) -> None:
        namespace, _, name = key.partition("/")
        try:
            while key in self._ended:
                await asyncio.sleep(_PAUSE)  # changes arrive in bursts
                ended = self._ended.pop(key)
                try:
                    await self._reconcile({"metadata": {"name": name, "namespace": namespace}}, ended)
                except KubeError as error:
                    _LOG.warning("LeaderWorkerSet %s: %s", key, error)
                    self._ended.setdefault(key, set()).update(ended)
                    await asyncio.sleep(_RETRY_PAUSE)
        finally:
            del self._tasks[key]
