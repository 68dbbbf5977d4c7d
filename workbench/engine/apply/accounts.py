"""Removing the service account of pods, which a plain apply cannot do."""

from collections.abc import Mapping
from typing import Any

_FIELD = "serviceAccountName"
_FIELDS = (_FIELD, "serviceAccount")
_STEPS = ("spec", "template", "spec")


def without_account(body: dict[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return an object whose apply removes the service account of its pods that it does not declare any more.

    The API server copies ``serviceAccountName`` to the deprecated ``serviceAccount``, which has no field manager, and
    restores each of them from the other (kubernetes issue 72519). Two empty texts remove both.

    Args:
        body: The declared object.
        before: The object that was applied before, or the live one; None if it is new.
    """
    pod, former = _pod_of(body), _pod_of(before or {})
    if pod is None or former is None or not former.get(_FIELD) or any(pod.get(field) for field in _FIELDS):
        return body
    spec, template = body["spec"], body["spec"]["template"]
    return {**body, "spec": {**spec, "template": {**template, "spec": {**pod, **dict.fromkeys(_FIELDS, "")}}}}


def _pod_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the pod of a workload of Kubernetes itself; other kinds have no second field."""
    if str(body.get("apiVersion")).partition("/")[0] not in ("apps", "batch"):
        return None
    value: Any = body
    for step in _STEPS:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None
