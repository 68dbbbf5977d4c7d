"""Whose first pods are warm: those of a ReplicaSet, and those of a StatefulSet, which owns its pods itself."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from livefleet.pods.cluster import LiveCluster


def at(second: int) -> str:
    return f"2026-11-20T10:00:{second:02}Z"


def pod(kind: str, name: str, second: int) -> dict[str, Any]:
    owners = [{"kind": kind, "name": name, "uid": "u"}]
    metadata = {"name": "p", "namespace": "ml", "creationTimestamp": at(second), "ownerReferences": owners}
    return {"metadata": metadata}


@pytest.fixture
def cluster() -> LiveCluster:
    kube: Any = SimpleNamespace(retry_seconds=0.0)

    async def made() -> LiveCluster:
        return LiveCluster(kube)

    found = asyncio.run(made())
    owner = {"metadata": {"name": "chat", "namespace": "ml", "creationTimestamp": at(0)}}
    found.replica_sets.objects["ml/chat"] = owner
    found.workloads["StatefulSet"].objects["ml/chat"] = owner
    return found


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
@pytest.mark.parametrize(("second", "first"), [(5, True), (45, False)])
def test_a_pod_that_comes_soon_after_its_owner_is_warm(
    cluster: LiveCluster, kind: str, second: int, first: bool
) -> None:
    assert cluster.is_warm(pod(kind, "chat", second)) is first


@pytest.mark.parametrize(("kind", "name"), [("Job", "chat"), ("StatefulSet", "other")])
def test_without_a_known_owner_it_is_not(cluster: LiveCluster, kind: str, name: str) -> None:
    assert cluster.owner_of(pod(kind, name, 1)) is None
    assert not cluster.is_warm(pod(kind, name, 1))


def test_all_shapes_of_workloads_are_followed(cluster: LiveCluster) -> None:
    assert set(cluster.workloads) == {"Deployment", "StatefulSet", "LeaderWorkerSet"}
