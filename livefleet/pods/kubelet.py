"""The kubelet's part: when the engine of a pod answers, and what the API server is told then.

kwok makes pods run at once. With its live stages (``cluster/cluster.py``) a pod with a readiness probe starts not
Ready, as in life, and stays so until somebody says otherwise.
"""

import datetime
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
FIRST_SECONDS = 20.0
"""A pod that comes so soon after its owner is one of its first: it is warm, so that deploying takes no longer than
without its engine."""
WARM = "workbench/warm"
"""Annotation of pods whose owner says itself whether they are among its first."""
STRATEGIC = "application/strategic-merge-patch+json"


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod has the condition Ready."""
    return _condition(pod, "Ready").get("status") == "True"


def is_running(pod: Mapping[str, Any]) -> bool:
    """Tell whether the containers of a pod run."""
    return bool(pod.get("status", {}).get("phase") == "Running" and pod["status"].get("podIP"))


def is_ending(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod was deleted already."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def unschedulable(pod: Mapping[str, Any]) -> str:
    """Return why the scheduler found no node for a pod; empty where it did not say so."""
    condition = _condition(pod, "PodScheduled")
    refused = condition.get("status") == "False" and condition.get("reason") == "Unschedulable"
    return str(condition.get("message") or "no node takes it") if refused else ""


def is_first(pod: Mapping[str, Any], owner: Mapping[str, Any] | None) -> bool:
    """Tell whether a pod is one of the first of its owner, such as its ReplicaSet: of a new model or version."""
    noted = (pod["metadata"].get("annotations") or {}).get(WARM)
    if noted is not None:
        return bool(noted == "true")
    if owner is None:
        return False
    return moment(pod["metadata"]["creationTimestamp"]) - moment(owner["metadata"]["creationTimestamp"]) < (
        FIRST_SECONDS
    )


def running_since(pod: Mapping[str, Any]) -> float:
    """Return when the containers of a pod started, in seconds since the epoch."""
    return moment(pod["status"].get("startTime") or pod["metadata"]["creationTimestamp"])


def ready_now(pod: Mapping[str, Any], now: datetime.datetime) -> Json:
    """Return the patch of ``pods/status`` that makes a pod Ready; it does nothing to another pod of that name."""
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": at} for kind in ("Ready", "ContainersReady")]
    statuses = [{**each, "ready": True, "started": True} for each in pod["status"].get("containerStatuses") or ()]
    return {
        "metadata": {"uid": pod["metadata"]["uid"]},
        "status": {"conditions": conditions, "containerStatuses": statuses},
    }


def moment(text: str) -> float:
    """Return a time of the API server in seconds since the epoch."""
    return datetime.datetime.fromisoformat(text).timestamp()


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    conditions = pod.get("status", {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})
