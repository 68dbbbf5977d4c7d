"""A control plane whose autoscalers look often, and the programs of the loop."""

from collections.abc import Iterator

import pytest

from livefleet.folder import LiveFolder
from livefleet.loop.part import LoopPart
from livefleet.loop.programs import ADAPTER, PROMETHEUS
from tests.livefleet.loop.stand_in import TOKEN, ToldTargets, telling
from tests.monitoring.conftest import exporter, metrics_cluster, metrics_kube, metrics_namespace
from tests.monitoring.programs.tools import built_or_skip
from tests.monitoring.simulated.exporter import Exporter
from workbench.cluster.cluster import Running

__all__ = ["exporter", "metrics_cluster", "metrics_kube", "metrics_namespace"]


@pytest.fixture(scope="session")
def loop_programs() -> None:
    for tool in (PROMETHEUS, ADAPTER):
        built_or_skip(tool)


@pytest.fixture
def targets(exporter: Exporter) -> Iterator[ToldTargets]:
    with telling(exporter.address) as told:
        yield told


@pytest.fixture
def live_folder(metrics_cluster: Running, loop_programs: None, targets: ToldTargets) -> Iterator[LiveFolder]:
    """The folder of a live fleet beside the files of the cluster; nothing of it runs any more after the test."""
    folder = LiveFolder(metrics_cluster.kubeconfig.parent)
    folder.make()
    folder.write_addresses("pods", control=targets.url, token=TOKEN)
    try:
        yield folder
    finally:
        LoopPart().stop(folder)
        folder.forget_addresses("pods")
