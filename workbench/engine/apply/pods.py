"""Why pods of a workload are not ready, and what to do next."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from components.contract.texts.outputs import shell_line, shell_word

Json = Mapping[str, Any]

_SHOWN = 3
"""Replicas of a workload usually wait for the same reason."""
_IMAGE = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ImageInspectError", "ErrImageNeverPull")
_CONFIGURATION = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")
_CRASHED = "CrashLoopBackOff"
_POD = "{pod}"
_DESCRIBE = f"kubectl describe pod {_POD}"


class PodReason(NamedTuple):
    """Why a pod is not ready.

    Attributes:
        text: The reason, with the message of the scheduler or the kubelet.
        step: What to do next; ``{pod}`` is the pod with its namespace, as arguments of kubectl.
    """

    text: str
    step: str


def reasons(workload: Json, pods: Iterable[Json]) -> list[str]:
    """Return lines about the pods that are not ready, each kind of reason once with its next step."""
    found: dict[PodReason, list[Json]] = {}
    for pod in pods:
        reason = reason_of(pod)
        if reason is not None:
            found.setdefault(reason, []).append(pod)
    lines = []
    for reason, same in list(found.items())[:_SHOWN]:
        first, more = same[0]["metadata"], len(same) - 1
        others = f" and {more} more" if more else ""
        lines.append(f"  pod {first['name']}{others}: {reason.text}")
        lines.append(f"    next: {reason.step.replace(_POD, _named(first))}")
    if len(found) > _SHOWN:
        lines.append(f"  {len(found) - _SHOWN} more reasons; see kubectl get pods")
    if not found:
        lines += [f"  {message}" for message in _conditions(workload)]
    return lines


def reason_of(pod: Json) -> PodReason | None:
    """Return why a pod is not ready; None if it is ready, or complete."""
    status = pod.get("status") or {}
    conditions = {condition["type"]: condition for condition in status.get("conditions") or ()}
    if status.get("phase") == "Succeeded" or conditions.get("Ready", {}).get("status") == "True":
        return None
    if status.get("phase") == "Failed":
        return PodReason(
            _joined(status.get("reason") or "Failed", status.get("message")), "kubectl describe pod {pod}"
        )
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return PodReason(
            _joined(scheduled.get("reason") or "Pending", scheduled.get("message")),
            "if a node is still being launched, wait and run `up` again; otherwise the events tell what the node "
            "autoscaler says (quota, capacity, the maximum of the node group): kubectl describe pod {pod}",
        )
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    for container in containers:
        reason = _container_reason(container)
        if reason is not None:
            return reason
    for gate in (pod.get("spec") or {}).get("readinessGates") or ():
        name = gate.get("conditionType")
        condition = conditions.get(name, {})
        if condition.get("status") != "True":
            text = _joined(f"readiness gate {name} is not True", condition.get("message"))
            return PodReason(
                text, "its controller decides, such as that of the load balancer: kubectl describe pod {pod}"
            )
    message = conditions.get("Ready", {}).get("message")
    return PodReason(_joined(status.get("phase") or "Pending", message), _DESCRIBE)


def _container_reason(container: Json) -> PodReason | None:
    """Return why a container keeps its pod from being ready; None if it does not."""
    name, state = container["name"], container.get("state") or {}
    word = shell_word(name)
    waiting, last = state.get("waiting"), (container.get("lastState") or {}).get("terminated")
    if waiting:
        reason = waiting.get("reason") or "waiting"
        text = _joined(f"container {name}: {reason}", waiting.get("message"))
        if reason in _IMAGE:
            return PodReason(
                text,
                "correct the image, or the credentials of its registry (pods.imagePullSecrets, imageCache), and run "
                "`up` again",
            )
        if reason in _CONFIGURATION:
            return PodReason(text, "create the Secret or ConfigMap that the message names, or correct its name")
        if reason == _CRASHED and last:
            return PodReason(
                f"container {name}: {reason}: {_ended(last)}", f"kubectl logs {_POD} -c {word} --previous"
            )
        if reason == "PodInitializing":
            return None
        return PodReason(text, "the image is pulled, or volumes are mounted: kubectl describe pod {pod}")
    if "terminated" in state:
        ended = state["terminated"]
        return (
            None
            if not ended.get("exitCode")
            else PodReason(f"container {name} {_ended(ended)}", f"kubectl logs {_POD} -c {word}")
        )
    if container.get("ready"):
        return None
    restarts = f", after {container.get('restartCount', 0)} restarts ({_ended(last)})" if last else ""
    if container.get("started") is False:
        text = f"container {name} is running, and its startup probe has not succeeded{restarts}"
    else:
        text = f"container {name} is running, and its readiness probe fails{restarts}"
    return PodReason(text, f"it may still load weights: kubectl logs {_POD} -c {word}")


def _ended(terminated: Json) -> str:
    code = terminated.get("exitCode")
    return _joined(f"ended with {terminated.get('reason') or 'Error'} (exit code {code})", terminated.get("message"))


def _conditions(workload: Json) -> Iterator[str]:
    """Yield what a controller says of a workload without pods, such as that a quota is exceeded."""
    for condition in (workload.get("status") or {}).get("conditions") or ():
        wrong = "True" if condition["type"] == "ReplicaFailure" else "False"
        if condition.get("status") == wrong and condition.get("message"):
            yield f"{condition['type']}: {condition['message']}"


def _joined(reason: str, message: object) -> str:
    return f"{reason}: {' '.join(str(message).split())}" if message else reason


def _named(metadata: Json) -> str:
    return shell_line([metadata["name"], "-n", metadata.get("namespace") or "default"])
