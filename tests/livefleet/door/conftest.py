"""The door's programs, and doors in folders of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from livefleet.door.part import DoorPart
from livefleet.door.programs import DoorPrograms, door_programs
from livefleet.folder import LiveFolder
from tests.livefleet.door.pods import Backends
from tests.livefleet.door.running import DoorInTest
from toolkit.errors import UserError
from toolkit.kube import Kube
from workbench.cluster.cluster import Running
from workbench.cluster.gateway import NAMESPACE


@pytest.fixture(scope="session")
def door_tools() -> DoorPrograms:
    """Envoy and the translator; only where they cannot be had are the tests that need them skipped."""
    try:
        return door_programs()
    except UserError as error:
        if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
            raise
        pytest.skip(f"the programs of the door cannot be had here: {error}")


@pytest.fixture
def door(tmp_path: Path, door_tools: DoorPrograms) -> DoorInTest:
    return DoorInTest(tmp_path / "door", door_tools)


@pytest.fixture
def backends() -> Iterator[Backends]:
    found = Backends()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def folder(
    cluster: Running, kube: Kube, backends: Backends, door_tools: DoorPrograms, tmp_path: Path
) -> Iterator[LiveFolder]:
    """A project's folder beside the session's cluster, with a Service whose pods are ours to make."""
    assert door_tools.envoy.exists()
    state = tmp_path / ".workbench"
    state.mkdir(mode=0o700)
    (state / "kubeconfig").symlink_to(cluster.kubeconfig)
    (state / "cluster").symlink_to(cluster.kubeconfig.parent / "cluster")
    found = LiveFolder(state)
    found.make()
    found.write_addresses("pods", control=backends.url, token="t")
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    metadata = {"name": "door-m", "namespace": NAMESPACE}
    kube.apply(
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": ports}}, manager="test"
    )
    try:
        yield found
    finally:
        DoorPart().stop(found)
        kube.delete("v1", "Service", "door-m", NAMESPACE)
        kube.delete("discovery.k8s.io/v1", "EndpointSlice", "door-m-1", NAMESPACE)
        kube.delete("v1", "Secret", "door-clients", NAMESPACE)
