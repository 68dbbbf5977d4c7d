"""Timeouts of single objects, from what the Kubernetes provider waits for."""

import functools
from typing import Any

from ...contract.tables import load_table
from ...fleet.objects import Object, is_balanced, is_core_service
from ...fleet.shapes import shape_of
from ...fleet.timeouts import Timeouts, with_margin
from ..rollouts import rollout_of
from ..starts.estimate import grace_seconds, pause_seconds
from ..starts.longest import longest_start

SKIP_AWAIT = "pulumi.com/skipAwait"
"""The annotation with which the provider does not wait for an object, neither until it is ready nor until a workload
is deleted (``DeletedCondition`` in metadata/overrides.go)."""
WAIT_FOR = "pulumi.com/waitFor"
_TIMEOUT = "pulumi.com/timeoutSeconds"
"""An annotation that a timeout of the resource would override (``TimeoutDuration`` in metadata/overrides.go)."""
_NAMESPACE = "core/Namespace"
NO_PODS = Timeouts(0, 0, 0)


def provider_timeouts(body: Object) -> Timeouts | None:
    """Return the timeouts of the provider for an object; None for one that it does not wait for, or that has its own.

    Every deletion waits, but only that of objects with pods or load balancers takes more than seconds.
    """
    annotations = body["metadata"].get("annotations") or {}
    if _TIMEOUT in annotations:
        return None
    table = _table()
    deletion = deletion_timeouts().delete
    row = table["kinds"].get(_kind(body))
    if row is not None:
        return Timeouts(_minutes(row["minutes"]), _minutes(row["minutes"]), deletion)
    if WAIT_FOR in annotations:
        return Timeouts(_minutes(table["annotated"]), _minutes(table["annotated"]), deletion)
    if _kind(body) == _NAMESPACE or shape_of(body):
        return deletion_timeouts()
    return None


def deletion_timeouts() -> Timeouts:
    """Return the timeouts of an object that only its deletion waits for."""
    return Timeouts(delete=_minutes(_table()["deletion"]))


def object_timeouts(body: Object, pods: Timeouts = NO_PODS) -> Timeouts | None:
    """Return the timeouts of an object, never shorter than those of the provider; None if it does not wait.

    Args:
        body: The object.
        pods: Timeouts of the pods that it starts or ends with.
    """
    provided = provider_timeouts(body)
    if provided is None:
        return None
    table = _table()
    if table["kinds"].get(_kind(body), {}).get("fixed"):
        # A longer timeout would be without effect.
        return provided.at_least(Timeouts(delete=pods.delete))
    is_annotated = WAIT_FOR in (body["metadata"].get("annotations") or {})
    # What waits for a status but has no pods is a gateway with its load balancer.
    balanced = is_balanced(body) or (is_annotated and pods == NO_PODS)
    deletion = _minutes(table["balancer_deletion"]) if balanced or _kind(body) == _NAMESPACE else 0
    timeouts = provided.at_least(pods).at_least(Timeouts(0, 0, deletion))
    return timeouts.plus(_minutes(table["balancer"])) if balanced else timeouts


def lone_timeouts(body: Object) -> Timeouts | None:
    """Return the timeouts of an object about which nothing but its manifest is known."""
    try:
        if shape_of(body):
            replicas = int(body["spec"].get("replicas", 1))
            return object_timeouts(body, pod_timeouts(body, longest_start(body), replicas, replicas))
        limit = with_margin(int((body.get("spec") or {}).get("activeDeadlineSeconds") or 0))
        return object_timeouts(body, Timeouts(limit, limit, 0))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # A manifest that the API server will reject, with a better message than any here.
        return provider_timeouts(body)


def pod_timeouts(body: Object, start: int, least: int, most: int) -> Timeouts:
    """Return the timeouts of the pods of a workload.

    Args:
        body: The workload.
        start: Seconds until a replica is ready, at most.
        least: Replicas at its creation.
        most: Replicas at an update, at most.
    """
    shape = shape_of(body)
    in_order = shape is not None and shape.starts_in_order(body)
    return Timeouts(
        create=with_margin(start * max(1, least) if in_order else start),
        update=with_margin(update_seconds(body, start, most)),
        delete=with_margin(grace_seconds(body)),
    )


def update_seconds(body: Object, start: int, most: int) -> int:
    """Return the seconds of an update of a workload, at most; see ``pod_timeouts``."""
    return max(1, rollout_of(body, most).waves) * (start + grace_seconds(body) + pause_seconds(body))


def release_timeout() -> int:
    """Return the seconds that the provider waits for a Helm release without ``timeout``."""
    return _minutes(_table()["release"])


def until_ready(body: Object, condition: str = "") -> Object:
    """Return an object that the provider waits for, by an annotation if it would not do so by itself.

    What the manifest says about waiting takes precedence.

    Args:
        body: The object.
        condition: Condition of its status that is true once its pods are ready; that of the shape of a workload.
    """
    shape = shape_of(body)
    awaited = condition or (shape.ready_condition if shape else "")
    metadata = body["metadata"]
    annotations = metadata.get("annotations") or {}
    if not awaited or WAIT_FOR in annotations or SKIP_AWAIT in annotations:
        return body
    annotations = {**annotations, WAIT_FOR: f"condition={awaited}"}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def without_waiting(body: Object) -> Object:
    """Return an object of a model that the provider does not wait for, if it is a workload or a Service.

    The provider also waits for a Service until each of its pods that has an address is ready (await/service.go).
    """
    if shape_of(body) is None and not is_core_service(body):
        return body
    metadata = body["metadata"]
    annotations = {**(metadata.get("annotations") or {}), SKIP_AWAIT: "true"}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def _kind(body: Object) -> str:
    group = str(body["apiVersion"]).rpartition("/")[0]
    return f"{group or 'core'}/{body['kind']}"


def _minutes(value: int) -> int:
    return value * 60


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load_table(__package__, "kubernetes.yaml")
    return table
