"""Why pods are not ready, as the scheduler and the kubelet report it."""

from typing import Any

import pytest

from workbench.engine.apply.pods import reason_of, reasons

Json = dict[str, Any]
UNSCHEDULABLE = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: not eligible."
PULL = 'Back-off pulling image "example.com/engine:v9"'
CRASH = "back-off 5m0s restarting failed container=engine pod=chat-1_models(0a1b)"


def pod(name: str = "chat-1", *, phase: str = "Pending", spec: Json | None = None, **status: Any) -> Json:
    metadata = {"name": name, "namespace": "models"}
    return {"metadata": metadata, "spec": spec or {}, "status": {"phase": phase, **status}}


def condition(type_: str, status: str, reason: str = "", message: str = "") -> Json:
    return {"type": type_, "status": status, "reason": reason, "message": message}


def engine(**fields: Any) -> list[Json]:
    return [{"name": "engine", "ready": False, "restartCount": 0, **fields}]


def waiting(reason: str, message: str = "", **fields: Any) -> list[Json]:
    return engine(state={"waiting": {"reason": reason, "message": message}}, **fields)


KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
RUNNING = {"running": {"startedAt": "2026-11-29T06:00:00Z"}}


@pytest.mark.parametrize(
    ("status", "text", "step"),
    [
        (
            {"conditions": [condition("PodScheduled", "False", "Unschedulable", UNSCHEDULABLE)]},
            f"Unschedulable: {UNSCHEDULABLE}",
            "node autoscaler",
        ),
        (
            {"containerStatuses": waiting("ImagePullBackOff", PULL)},
            f"container engine: ImagePullBackOff: {PULL}",
            "pods.imagePullSecrets",
        ),
        (
            {"containerStatuses": waiting("CrashLoopBackOff", CRASH, lastState=KILLED)},
            "container engine: CrashLoopBackOff: ended with OOMKilled (exit code 137)",
            "kubectl logs {pod} -c engine --previous",
        ),
        (
            {"containerStatuses": waiting("CreateContainerConfigError", 'secret "hub" not found')},
            'container engine: CreateContainerConfigError: secret "hub" not found',
            "create the Secret",
        ),
        (
            {"initContainerStatuses": [{"name": "loader", "state": {"terminated": {"exitCode": 1}}}]},
            "container loader ended with Error (exit code 1)",
            "kubectl logs {pod} -c loader",
        ),
        (
            {"phase": "Running", "containerStatuses": engine(state=RUNNING, started=True)},
            "container engine is running, and its readiness probe fails",
            "kubectl logs {pod} -c engine",
        ),
        (
            {"phase": "Running", "containerStatuses": engine(state=RUNNING, started=False)},
            "container engine is running, and its startup probe has not succeeded",
            "kubectl logs {pod} -c engine",
        ),
        (
            {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."},
            "Evicted: The node was low on resource: ephemeral-storage.",
            "kubectl describe pod {pod}",
        ),
    ],
)
def test_each_reason_with_its_next_step(status: Json, text: str, step: str) -> None:
    found = reason_of(pod(**status))
    assert found is not None
    assert found.text == text
    assert step in found.step


def test_a_readiness_gate_is_a_reason_of_its_own() -> None:
    gate = "target-health.elbv2.k8s.aws/k8s-models-chat"
    ready = [{"name": "engine", "ready": True, "state": RUNNING}]
    found = reason_of(
        pod(phase="Running", spec={"readinessGates": [{"conditionType": gate}]}, containerStatuses=ready)
    )
    assert found is not None
    assert found.text == f"readiness gate {gate} is not True"


@pytest.mark.parametrize(
    "status", [{"phase": "Running", "conditions": [condition("Ready", "True")]}, {"phase": "Succeeded"}]
)
def test_pods_without_a_problem(status: Json) -> None:
    assert reason_of(pod(**status)) is None


def test_equal_reasons_are_one_line_with_the_first_pod() -> None:
    status: Json = {"containerStatuses": waiting("ImagePullBackOff", PULL)}
    lines = reasons({}, [pod("chat-1", **status), pod("chat-2", **status)])
    assert lines[0] == f"  pod chat-1 and 1 more: container engine: ImagePullBackOff: {PULL}"
    assert len(lines) == 2


def test_the_pod_is_named_as_kubectl_takes_it() -> None:
    lines = reasons({}, [pod(phase="Failed", reason="Evicted")])
    assert lines[1] == "    next: kubectl describe pod chat-1 -n models"


def test_without_pods_the_controller_says_why() -> None:
    message = 'pods "chat-1" is forbidden: exceeded quota: gpus'
    workload = {"status": {"conditions": [condition("ReplicaFailure", "True", "FailedCreate", message)]}}
    assert reasons(workload, []) == [f"  ReplicaFailure: {message}"]


@pytest.mark.parametrize(
    ("name", "word"),
    [("a b", "'a b'"), ("$(id)", "'$(id)'"), ("{pod", "'{pod'"), ("{0.x}", "'{0.x}'"), ("a\x1b", "$'a\\x1b'")],
)
def test_names_are_single_words_of_the_command_to_paste(name: str, word: str) -> None:
    crashed = {"name": name, "lastState": KILLED, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    ended, started = {"name": name, "state": {"terminated": {"exitCode": 1}}}, {"name": name, "started": False}
    for status in (crashed, ended, started):
        *_, step = reasons({}, [pod(name, containerStatuses=[status])])
        assert f"kubectl logs {word} -n models -c {word}" in step
