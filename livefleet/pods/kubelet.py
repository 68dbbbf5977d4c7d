"""The kubelet's role: conditions of pods, and the status patch that makes a pod Ready.

kwok starts pods at once. With the live stages (``kwok_stages.py``), a pod with a readiness probe stays unready until
the process behind the pods patches its status.
"""

import datetime
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
WARM_SECONDS = 20.0
"""Pods that are created within this time after their owner are warm: their engine answers at once, so that deploying
takes no longer than without the live fleet."""
WARM = "workbench/warm"
"""Annotation with which an owner decides itself whether a pod is warm."""
STRATEGIC = "application/strategic-merge-patch+json"


def is_ready(pod: Mapping[str, Any]) -> bool:
    return _condition(pod, "Ready").get("status") == "True"


def is_running(pod: Mapping[str, Any]) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Running" and pod["status"].get("podIP"))


def is_ending(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod is terminating."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def unschedulable(pod: Mapping[str, Any]) -> str:
    """Return why a pod is unschedulable; empty if the scheduler has not reported it."""
    condition = _condition(pod, "PodScheduled")
    if condition.get("status") != "False" or condition.get("reason") != "Unschedulable":
        return ""
    return str(condition.get("message") or "no node takes it")


def is_warm(pod: Mapping[str, Any], owner: Mapping[str, Any] | None) -> bool:
    """Tell whether a pod is warm: among the first of its owner, such as the ReplicaSet of a new version."""
    annotation = (pod["metadata"].get("annotations") or {}).get(WARM)
    if annotation is not None:
        return bool(annotation == "true")
    if owner is None:
        return False
    owner_age = moment(pod["metadata"]["creationTimestamp"]) - moment(owner["metadata"]["creationTimestamp"])
    return owner_age < WARM_SECONDS


def running_since(pod: Mapping[str, Any]) -> float:
    """Return when the containers of a pod started, in seconds since the epoch."""
    return moment(pod["status"].get("startTime") or pod["metadata"]["creationTimestamp"])


def ready_now(pod: Mapping[str, Any], now: datetime.datetime) -> Json:
    """Return the patch of ``pods/status`` that makes a pod Ready. Its uid protects another pod of the same name."""
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": at} for kind in ("Ready", "ContainersReady")]
    statuses = pod["status"].get("containerStatuses") or ()
    started = [{**status, "ready": True, "started": True} for status in statuses]
    return {
        "metadata": {"uid": pod["metadata"]["uid"]},
        "status": {"conditions": conditions, "containerStatuses": started},
    }


def restarted(pod: Mapping[str, Any]) -> Json:
    """Return the patch of ``pods/status`` after a container of a pod ended and was started again."""
    statuses: list[Json] = [*(pod["status"].get("containerStatuses") or ())]
    counted = [{"name": each["name"], "restartCount": each["restartCount"] + 1} for each in statuses[:1]]
    return {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {"containerStatuses": counted}}


def moment(text: str) -> float:
    """Convert a timestamp of the API server to seconds since the epoch."""
    return datetime.datetime.fromisoformat(text).timestamp()


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    conditions = pod.get("status", {}).get("conditions") or ()
    return next((condition for condition in conditions if condition["type"] == kind), {})
