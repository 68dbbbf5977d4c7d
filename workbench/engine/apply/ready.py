"""Waiting until applied objects are ready, with one list request per kind and poll."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.contract.texts.go_durations import seconds_of
from components.fleet.shapes import SHAPES
from toolkit.kube import Kube, KubeError, MalformedObject

from ..plan import Op, Step
from ..targets import Target, Targets, identity
from ..values import reveal
from .execute import Failure
from .pods import reasons

_SKIP = "pulumi.com/skipAwait"
_SECONDS = "pulumi.com/timeoutSeconds"
_PAUSE = 0.25
READY_SECONDS = 300.0
"""Seconds to wait for a workload without a timeout."""

Json = Mapping[str, Any]


def _daemon_set(live: Json) -> str:
    status = live.get("status", {})
    if status.get("observedGeneration", 0) < live["metadata"].get("generation", 0):
        return "not observed by its controller yet"
    desired, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
    return "" if ready >= desired else f"{ready} of {desired} pods ready"


def _job(live: Json) -> str:
    conditions = {c["type"]: c for c in live.get("status", {}).get("conditions") or ()}
    if conditions.get("Complete", {}).get("status") == "True":
        return ""
    failed = conditions.get("Failed", {})
    return f"failed: {failed.get('message')}" if failed.get("status") == "True" else "not complete"


def _by_condition(name: str) -> Callable[[Json], str]:
    def check(live: Json) -> str:
        for condition in live.get("status", {}).get("conditions") or ():
            if condition["type"] == name and condition["status"] == "True":
                return ""
        return f"not {name}"

    return check


_CHECKS: dict[str, Callable[[Json], str]] = {
    **{shape.kind: shape.rollout_status for shape in SHAPES if shape.rollout_status},
    "DaemonSet": _daemon_set,
    "Job": _job,
    "Pod": _by_condition("Ready"),
    "Node": _by_condition("Ready"),
}
"""Readiness checks by kind. Custom resources are not awaited, because their operator may not be running."""


@dataclass(slots=True)
class _Waiting:
    step: Step
    target: Target
    check: Callable[[Json], str]
    deadline: float
    seconds: float
    state: str = "not seen yet"
    live: Json | None = None


def await_ready(
    steps: Iterable[Step],
    targets: Targets,
    seconds: float | None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Failure]:
    """Wait for the objects of steps; return a failure for each that is not ready in time.

    Args:
        steps: Applied steps.
        targets: The clusters.
        seconds: Seconds to wait for each; None for the timeout of its resource.
        progress: Shows the progress.
    """
    waiting = {step.urn: item for step in steps if (item := _waiting(step, targets, seconds))}
    failures: list[Failure] = []
    while waiting:
        _look(waiting)
        now = time.monotonic()
        for urn, item in list(waiting.items()):
            if not item.state:
                del waiting[urn]
            elif item.state.startswith("failed") or now > item.deadline:
                del waiting[urn]
                message = f"{_name(item)} is not ready after {item.seconds:.0f} s: {item.state}"
                failures.append(Failure(urn, "\n".join([message, *_pod_reasons(item)])))
        if waiting:
            first = next(iter(waiting.values()))
            progress(f"waiting for {len(waiting)} objects: {_name(first)}: {first.state}")
            time.sleep(_PAUSE)
    return failures


def _waiting(step: Step, targets: Targets, seconds: float | None) -> _Waiting | None:
    check = _CHECKS.get(str(step.inputs.get("kind")))
    target = targets.by_cluster(step.cluster)
    if not check or not target or step.node is None:
        return None
    annotations = reveal(step.inputs["metadata"]).get("annotations") or {}
    if str(annotations.get(_SKIP, "")).lower() == "true":
        return None
    # A replacement is a creation. As in the engine, the timeout of a creation is none for updates.
    timeout = step.node.registration.timeouts.get("update" if step.op is Op.UPDATE else "create")
    if seconds is None:
        seconds = seconds_of(timeout) if timeout else float(annotations.get(_SECONDS) or READY_SECONDS)
    return _Waiting(step, target, check, time.monotonic() + seconds, seconds)


def _look(waiting: Mapping[str, _Waiting]) -> None:
    """List each kind once, and update the states."""
    kinds: dict[tuple[str, str, str], list[_Waiting]] = {}
    for item in waiting.values():
        api_version, kind, _, _ = identity(item.step.inputs)
        kinds.setdefault((item.target.uid, api_version, kind), []).append(item)
    for (_, api_version, kind), items in kinds.items():
        unread: list[MalformedObject] = []
        try:
            objects = items[0].target.kube.list(api_version, kind, unread=unread)
        except KubeError as error:
            if error.status < 500 and not error.unreachable:
                raise
            continue  # the API server may recover before the deadline
        by_name = {(o["metadata"].get("namespace", ""), o["metadata"]["name"]): o for o in objects}
        for item in items:
            _, _, namespace, name = identity(item.step.inputs)
            live = by_name.get((namespace, name)) or by_name.get(("default", name))
            item.live = live
            if live:
                item.state = item.check(live)
            else:
                item.state = next(
                    (f"it cannot be read: {each}" for each in unread if each.name == name), "it no longer exists"
                )


def _name(item: _Waiting) -> str:
    _, kind, namespace, name = identity(item.step.inputs)
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _pod_reasons(item: _Waiting) -> list[str]:
    """Return why pods of a workload are not ready, and the next steps."""
    _, _, namespace, _ = identity(item.step.inputs)
    return pod_reasons(item.target.kube, item.live or item.step.inputs, namespace or "default")


def pod_reasons(kube: Kube, workload: Json, namespace: str) -> list[str]:
    """Return why pods of a workload are not ready, and the next steps; empty if it selects none."""
    selector = workload.get("spec", {}).get("selector") or {}
    labels = selector.get("matchLabels") if isinstance(selector, dict) else None
    if not labels:
        return []
    text = ",".join(f"{key}={value}" for key, value in labels.items())
    unread: list[MalformedObject] = []
    pods = kube.list("v1", "Pod", namespace, labels=text, unread=unread)
    return [*reasons(workload, pods), *(f"  {pod.title} cannot be read: {pod.path} {pod.reason}" for pod in unread)]
