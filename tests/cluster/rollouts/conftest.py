"""A control plane whose pods become ready when a test says so, with the controller of LeaderWorkerSets."""

from collections.abc import Iterator

import pytest

from tests.monitoring.simulated.groups import group_controller
from toolkit.kube import Kube
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import SimulatedCluster


@pytest.fixture(scope="session")
def rollout_kube(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Iterator[Kube]:
    folder = tmp_path_factory.mktemp("rollouts")
    cluster = SimulatedCluster(folder)
    try:
        running = cluster.start(lambda _: programs, live=True)
        identity = folder / "cluster" / "lws-controller.kubeconfig"
        with Kube.from_kubeconfig(running.kubeconfig) as kube, group_controller(kube, identity, folder / "lws"):
            yield kube
    finally:
        cluster.stop()
