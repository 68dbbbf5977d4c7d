"""What the real provider waits for, how long, and what it says when that fails.

Pods start when their node joins, as on a GPU node that is created for them. The minutes of a real start are seconds
here: the provider compares the time that passes with the timeout of the resource, whatever both are.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.waiting import eventually, gone, unless_gone
from tests.real_engine.support import Json, RealStack, deployment, namespace
from toolkit.kube import Kube

SOON = "5s"
LATE = "90s"
JOINS_AFTER = 12.0
"""Seconds until a node joins: much less than LATE."""
ENDS_AFTER = 5.0
"""Seconds until deleted pods have ended."""
PENDING = re.compile(r"\n *pod model-\S+: .*(no nodes available to schedule pods|0/\d+ nodes are available: )")
"""What the scheduler writes about a pod; the CLI itself prints only that the time is over."""


@pytest.fixture
def space(real: RealStack, kube: Kube, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"real-{request.node.name.replace('_', '-')[:40].strip('-')}"
    yield name
    set_finalizers(kube, name)
    remove_pods(kube, name)
    real.up([])
    kube.delete("v1", "Namespace", name)


def remove_pods(kube: Kube, space: str) -> None:
    """Remove what the node of a model has left behind, which the pod collector would do after 40 seconds."""
    kube.delete("apps/v1", "Deployment", "model", space)
    for pod in kube.list("v1", "Pod", space):
        path = kube.path("v1", "Pod", pod["metadata"]["name"], space)
        with unless_gone():
            kube.request("DELETE", path, body={"gracePeriodSeconds": 0})


def join(kube: Kube, pool: str, *, runs: bool = True) -> None:
    """Let a simulated node join; one that runs nothing leaves its pods as they are."""
    size = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    annotations = {"kwok.x-k8s.io/node": "fake"} if runs else {}
    metadata = {"name": pool, "labels": {"pool": pool}, "annotations": annotations}
    status: Json = {"capacity": size, "allocatable": size}
    if not runs:
        status["conditions"] = [{"type": "Ready", "status": "True"}]
    kube.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}, manager="test")


@contextmanager
def joining(kube: Kube, pool: str, seconds: float) -> Iterator[None]:
    """Let a node join later, in the background."""
    timer = threading.Timer(seconds, join, args=(kube, pool))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        kube.delete("v1", "Node", pool)


def test_a_model_that_starts_within_its_timeout_is_a_success(real: RealStack, kube: Kube, space: str) -> None:
    started = time.monotonic()
    with joining(kube, space, JOINS_AFTER):
        assert real.up([namespace(space), deployment("model", space, node=space)], create=LATE) == 0
        assert time.monotonic() - started >= JOINS_AFTER
        live = kube.get("apps/v1", "Deployment", "model", space)
        assert live["status"]["readyReplicas"] == 1


def test_a_model_that_starts_later_is_a_failure_that_names_the_reason(
    real: RealStack, kube: Kube, space: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert real.up([namespace(space), deployment("model", space, node=space)], create=SOON) != 0
    assert PENDING.search(capfd.readouterr().err)
    with joining(kube, space, 0):
        # What was too late for this update is there for the next one, which says so.
        eventually(lambda: kube.get("apps/v1", "Deployment", "model", space)["status"].get("readyReplicas"), "pod")
        assert real.up([namespace(space), deployment("model", space, node=space)], create=SOON, update=LATE) == 0


def pull_in_vain(kube: Kube, space: str, done: threading.Event) -> None:
    """Report of each pod what a kubelet does whose registry has no such image."""
    waiting = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/model:1"'}
    status = {"name": "server", "image": "registry.example/model:1", "imageID": "", "ready": False}
    body = {"status": {"containerStatuses": [{**status, "restartCount": 0, "state": {"waiting": waiting}}]}}
    while not done.wait(0.3):
        for pod in kube.list("v1", "Pod", space):
            path = kube.path("v1", "Pod", pod["metadata"]["name"], space)
            with unless_gone():
                kube.request("PATCH", f"{path}/status", body=body, content_type="application/merge-patch+json")


def test_an_image_that_cannot_be_pulled_is_a_failure_that_names_it(
    real: RealStack, kube: Kube, space: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = threading.Event()
    kubelet = threading.Thread(target=pull_in_vain, args=(kube, space, done))
    join(kube, space, runs=False)
    kubelet.start()
    try:
        assert real.up([namespace(space), deployment("model", space, node=space)], create="10s") != 0
        assert re.search(r"\n *pod model-\S+: .*ImagePullBackOff.*registry.example/model:1", capfd.readouterr().err)
    finally:
        done.set()
        kubelet.join()
        kube.delete("v1", "Node", space)


def test_a_rollout_whose_new_pod_stays_pending_is_not_complete(
    real: RealStack, kube: Kube, space: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with joining(kube, space, 0):
        objects = [namespace(space), deployment("model", space, node=space)]
        assert real.up(objects, create=LATE) == 0
        nowhere = [namespace(space), deployment("model", space, node="nowhere")]
        assert real.up(nowhere, create=LATE, update=SOON) != 0
        assert PENDING.search(capfd.readouterr().err)
        live = kube.get("apps/v1", "Deployment", "model", space)
        # The old pod still answers, which is why the count of ready replicas alone would call this complete.
        assert live["status"]["readyReplicas"] == 1
        assert live["status"]["updatedReplicas"] == 1
        assert live["status"]["unavailableReplicas"] == 1


def test_the_timeout_of_an_update_is_not_that_of_a_creation(real: RealStack, kube: Kube, space: str) -> None:
    with joining(kube, space, 0):
        assert real.up([namespace(space), deployment("model", space, node=space)], create=LATE) == 0
    with joining(kube, "other", JOINS_AFTER):
        moved = [namespace(space), deployment("model", space, node="other")]
        assert real.up(moved, create=SOON, update=LATE) == 0


def of_job(space: str, version: str, annotations: Json) -> Json:
    """A Job, whose template is immutable."""
    container = {"name": "job", "image": f"registry.example/job:{version}"}
    pod = {"restartPolicy": "Never", "nodeSelector": {"pool": space}, "containers": [container]}
    metadata = {"name": "model", "namespace": space, "annotations": annotations}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


def of_deployment(space: str, version: str, annotations: Json) -> Json:
    """A Deployment, whose selector is immutable."""
    body = deployment(version, space, node=space)
    return {**body, "metadata": {"name": "model", "namespace": space, "annotations": annotations}}


def set_finalizers(kube: Kube, space: str, *finalizers: str) -> None:
    """Keep the pods of a namespace while they are deleted, as their grace period does, or let them go."""
    for pod in kube.list("v1", "Pod", space):
        path = kube.path("v1", "Pod", pod["metadata"]["name"], space)
        body = {"metadata": {"finalizers": finalizers}}
        with unless_gone():
            kube.request("PATCH", path, body=body, content_type="application/merge-patch+json")


@pytest.mark.parametrize("kind", [of_job, of_deployment])
def test_a_replacement_does_not_wait_for_a_deletion_that_is_not_awaited(
    real: RealStack, kube: Kube, space: str, capfd: pytest.CaptureFixture[str], kind: Callable[[str, str, Json], Json]
) -> None:
    """What the finding says that refuses such a change, and that its remedy works."""
    skipped = {"pulumi.com/skipAwait": "true"}
    first = kind(space, "a", skipped)

    def pods() -> set[str]:
        return {pod["metadata"]["uid"] for pod in kube.list("v1", "Pod", space)}

    with joining(kube, space, 0):
        assert real.up([namespace(space), first]) == 0
        eventually(pods, "a pod")
        set_finalizers(kube, space, "test/ending")
        assert real.up([namespace(space), kind(space, "b", skipped)]) != 0
        assert "conflict" in capfd.readouterr().out
        set_finalizers(kube, space)
        eventually(lambda: gone(kube, first["apiVersion"], first["kind"], "model", space), "neither one is left")
        assert real.up([namespace(space), kind(space, "b", skipped)]) == 0
        eventually(pods, "a pod")

        # The remedy: without the annotation nothing restarts, and then the provider waits for the deletion.
        before = pods()
        assert real.up([namespace(space), kind(space, "b", {})]) == 0
        assert pods() == before
        set_finalizers(kube, space, "test/ending")
        timer = threading.Timer(ENDS_AFTER, set_finalizers, args=(kube, space))
        timer.start()
        assert real.up([namespace(space), kind(space, "c", skipped)]) == 0
        timer.join()
        eventually(lambda: pods() - before, "the pod of the new one")
