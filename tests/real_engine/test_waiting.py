"""What the real provider waits for, how long, and what it says when that fails.

Pods start when their node joins, as on a GPU node that is created for them. The minutes of a real start are seconds
here: the provider compares the time that passes with the timeout of the resource, whatever both are.
"""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.waiting import eventually
from tests.real_engine.support import Json, RealStack, deployment, namespace
from toolkit.kube import Kube

SOON = "5s"
LATE = "90s"
JOINS_AFTER = 12.0
"""Seconds until a node joins: longer than SOON, and much less than LATE."""
PENDING = re.compile(r"\n *pod model-\S+: .*(no nodes available to schedule pods|0/\d+ nodes are available: )")
"""What the scheduler writes about a pod; the CLI itself prints only that the time is over."""


@pytest.fixture
def space(real: RealStack, kube: Kube, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"real-{request.node.name.replace('_', '-')[:40].strip('-')}"
    yield name
    real.up([])
    kube.delete("v1", "Namespace", name)


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
    with joining(kube, space, JOINS_AFTER):
        assert real.up([namespace(space), deployment("model", space, node=space)], create=SOON) != 0
        assert PENDING.search(capfd.readouterr().err)
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
