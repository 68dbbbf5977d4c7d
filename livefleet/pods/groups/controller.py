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
from ..kubelet import FIRST_SECONDS, WARM, is_ending, is_ready, moment
from .pods import API, KIND, LABEL, Object, pods_of, service_of

REVISION = f"{LABEL}/template-revision-hash"
GROUP = "workbench/group"
"""Annotation with a random id, which all pods have that were created together as one group."""
_MANAGER = "workbench-lws"
_AVAILABLE, _PROGRESSING, _UPDATING = "Available", "Progressing", "UpdateInProgress"
_WORDS = {
    _AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    _PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
    _UPDATING: ("GroupsUpdating", "Rolling Upgrade is in progress"),
}
_EXCLUSIVE = ({_AVAILABLE, _PROGRESSING}, {_AVAILABLE, _UPDATING})


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
    there = {pod["metadata"]["name"]: pod for pod in kube.list("v1", "Pod", namespace, labels=f"{LABEL}/name={name}")}
    groups = _groups(stored, there)
    outgoing = list(_to_delete(stored, groups, ended))
    for pod in outgoing:
        if not is_ending(pod):
            kube.delete("v1", "Pod", pod["metadata"]["name"], namespace, uid=pod["metadata"]["uid"])
    for pod in _to_create(stored, groups, {_index(pod) for pod in outgoing}):
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


def _groups(stored: Object, there: Mapping[str, Object]) -> dict[int, LeaderGroup]:
    size, revision = stored["spec"]["leaderWorkerTemplate"].get("size", 1), revision_of(stored)
    pods: dict[int, dict[str, Object]] = {index: {} for index in range(stored["spec"].get("replicas", 1))}
    for name, pod in sorted(there.items()):
        pods.setdefault(_index(pod), {})[name] = pod
    return {index: LeaderGroup(index, own, size, revision) for index, own in pods.items()}


def _to_delete(stored: Object, groups: Mapping[int, LeaderGroup], ended: Collection[str]) -> Iterator[Object]:
    replicas = stored["spec"].get("replicas", 1)
    policy = stored["spec"]["leaderWorkerTemplate"].get("restartPolicy")
    outdated = set(_to_replace(stored, groups))
    for index, group in groups.items():
        for pod in group.pods.values():
            of_ended = policy != "None" and (pod["metadata"].get("annotations") or {}).get(GROUP) in ended
            if index >= replicas or index in outdated or group.leader is None or of_ended:
                yield pod


def _to_replace(stored: Object, groups: Mapping[int, LeaderGroup]) -> Iterator[int]:
    """Yield the groups to update to the current template now."""
    replicas = stored["spec"].get("replicas", 1)
    rolling = (stored["spec"].get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    own = [group for index, group in groups.items() if index < replicas]
    unready = sum(not group.ready for group in own)
    budget = max(1, _scaled(rolling.get("maxUnavailable", 1), replicas)) - unready
    outdated = [group for group in own if not group.updated and group.index >= rolling.get("partition", 0)]
    for group in sorted(outdated, key=lambda each: -each.index):
        if not group.ready:
            yield group.index
        elif budget > 0:
            budget -= 1
            yield group.index


def _scaled(amount: int | str, replicas: int) -> int:
    """Resolve ``maxUnavailable``; percentages round down, as in the controller."""
    return amount if isinstance(amount, int) else math.floor(int(amount.rstrip("%")) * replicas / 100)


def _index(pod: Object) -> int:
    return int(pod["metadata"]["labels"][f"{LABEL}/group-index"])


def _to_create(stored: Object, groups: Mapping[int, LeaderGroup], outgoing: Collection[int]) -> Iterator[Object]:
    """Yield the missing pods. A group is recreated as a whole, after its old pods are gone."""
    waits = stored["spec"].get("startupPolicy") == "LeaderReady"
    warm = str(_is_young(stored)).lower()
    group_ids: dict[int, str] = {}
    for pod in pods_of(stored):
        labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        group = groups[_index(pod)]
        leader, is_leader = group.leader, labels[f"{LABEL}/worker-index"] == "0"
        if pod["metadata"]["name"] in group.pods or group.index in outgoing or not group.updated:
            continue
        if not is_leader and waits and not (leader and is_ready(leader)):
            continue
        known = (leader["metadata"].get("annotations") or {}).get(GROUP) if leader else None
        annotations[GROUP] = known or group_ids.setdefault(group.index, uuid.uuid4().hex[:8])
        annotations[WARM] = warm
        labels[REVISION] = group.revision
        yield pod


def _is_young(stored: Object) -> bool:
    """Tell whether new pods are the first ones of a set, or of its new version."""
    conditions = (stored.get("status") or {}).get("conditions") or ()
    updating = any(each["type"] == _UPDATING and each["status"] == "True" for each in conditions)
    return updating or time.time() - moment(stored["metadata"]["creationTimestamp"]) < FIRST_SECONDS


def next_status(stored: Object, groups: Iterable[LeaderGroup]) -> Object:
    replicas = stored["spec"].get("replicas", 1)
    rolling = (stored["spec"].get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    there = [group for group in groups if group.leader is not None]
    bound = [group for group in there if rolling.get("partition", 0) <= group.index < replicas]
    ready = sum(group.ready for group in there if group.index < replicas)
    if not all(group.updated for group in bound):
        kinds = [_UPDATING, _PROGRESSING]
    elif ready == replicas and all(group.ready for group in bound):
        kinds = [_AVAILABLE]
    else:
        kinds = [_PROGRESSING]
    name = stored["metadata"]["name"]
    return {
        "observedGeneration": stored["metadata"]["generation"],
        "replicas": len(there),
        "readyReplicas": sum(group.ready for group in there),
        "updatedReplicas": sum(group.updated for group in there),
        # Leaders alone: an autoscaler counts groups.
        "hpaPodSelector": f"{LABEL}/name={name},{LABEL}/worker-index=0",
        "conditions": _conditions(stored, kinds),
    }


def _conditions(stored: Object, kinds: Iterable[str]) -> list[Object]:
    found = {each["type"]: dict(each) for each in (stored.get("status") or {}).get("conditions") or ()}
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for kind in kinds:
        for other in found.values():
            if {kind, other["type"]} in _EXCLUSIVE and other["status"] == "True":
                other |= {"status": "False", "lastTransitionTime": now}
        if found.get(kind, {}).get("status") != "True":
            reason, message = _WORDS[kind]
            found[kind] = {"type": kind, "status": "True", "reason": reason, "message": message}
            found[kind]["lastTransitionTime"] = now
    generation = stored["metadata"]["generation"]
    return [{**each, "observedGeneration": generation} for each in found.values()]


Json = dict[str, Any]
Reconcile = Callable[[Json, Collection[str]], Awaitable[None]]
_PAUSE, _PAUSE_REFUSED = 0.05, 1.0
_LOG = logging.getLogger(__name__)


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
        # After a gap in the watch, a pod of the same name may be another one: its predecessor has ended.
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
                    await asyncio.sleep(_PAUSE_REFUSED)
        finally:
            del self._tasks[key]
