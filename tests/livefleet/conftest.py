"""A control plane whose kwok leaves readiness and nodes to the process behind the pods."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.monitoring.simulated.groups import group_controller
from toolkit.kube import Kube
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import SimulatedCluster


@pytest.fixture(scope="session")
def live_state(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Iterator[Path]:
    """The state folder of a cluster of its own."""
    folder = tmp_path_factory.mktemp("live-cluster")
    cluster = SimulatedCluster(folder)
    try:
        cluster.start(lambda _: programs, live=True)
        yield folder
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def live_groups(live_state: Path, live_kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The controller of LeaderWorkerSets in that control plane, with the rights that ``up`` gives it."""
    identity = live_state / "cluster" / "lws-controller.kubeconfig"
    with group_controller(live_kube, identity, tmp_path_factory.mktemp("lws")):
        yield


@pytest.fixture(scope="session")
def live_kube(live_state: Path) -> Iterator[Kube]:
    """A client of that control plane, with every right."""
    with Kube.from_kubeconfig(live_state / "kubeconfig") as client:
        yield client
