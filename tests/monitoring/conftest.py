"""The parts of the metric chain as real programs, and a stand-in for what they scrape."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from livefleet.loop.programs import ADAPTER, PROMETHEUS
from tests.monitoring.programs.adapter import Adapter, adapting
from tests.monitoring.programs.looking import aggregating
from tests.monitoring.programs.prometheus import Prometheus, started
from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.programs.tools import PROMTOOL, built_or_skip
from tests.monitoring.simulated.exporter import Exporter, serving
from tests.monitoring.simulated.groups import group_controller
from tests.monitoring.simulated.mixed import watching_mixed
from tests.monitoring.simulated.watched import Watched
from tests.monitoring.simulated.workload import apply_namespace
from toolkit.kube import Kube
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import Running

Json = dict[str, Any]


@pytest.fixture(scope="session")
def prometheus_program() -> Path:
    return built_or_skip(PROMETHEUS)["prometheus"]


@pytest.fixture(scope="session")
def adapter_program() -> Path:
    return built_or_skip(ADAPTER)["adapter"]


@pytest.fixture
def prometheus(prometheus_program: Path, tmp_path: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes nothing until the test configures it."""
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with started(prometheus_program, folder) as prometheus:
        yield prometheus


@pytest.fixture(scope="session")
def mixed(prometheus_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A fleet with every engine, scraped once; to be asked only."""
    with watching_mixed(prometheus_program, tmp_path_factory.mktemp("mixed")) as watched:
        yield watched


@pytest.fixture
def promtool(tmp_path: Path) -> Promtool:
    folder = tmp_path / "promtool"
    folder.mkdir()
    return Promtool(built_or_skip(PROMTOOL)["promtool"], folder)


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    with serving() as exporter:
        yield exporter


@pytest.fixture(scope="session")
def metrics_cluster(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Iterator[Running]:
    """A control plane of its own: the one that the other suites share has autoscalers that look rarely."""
    with aggregating(tmp_path_factory.mktemp("metrics-cluster"), programs) as running:
        yield running


@pytest.fixture(scope="session")
def metrics_kube(metrics_cluster: Running) -> Iterator[Kube]:
    """A client of that control plane, with every right."""
    with Kube.from_kubeconfig(metrics_cluster.kubeconfig) as client:
        yield client


@pytest.fixture(scope="session")
def metrics_groups(
    metrics_cluster: Running, metrics_kube: Kube, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The controller of LeaderWorkerSets in that control plane."""
    with group_controller(metrics_kube, metrics_cluster.kubeconfig, tmp_path_factory.mktemp("lws")):
        yield


@pytest.fixture
def metrics_namespace(metrics_kube: Kube, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own, deleted at its end without waiting."""
    name = re.sub("[^a-z0-9]+", "-", request.node.name.lower())[:60].strip("-")
    apply_namespace(metrics_kube, name)
    yield name
    metrics_kube.delete("v1", "Namespace", name)


@pytest.fixture
def adapter(
    adapter_program: Path, metrics_cluster: Running, metrics_kube: Kube, prometheus: Prometheus, tmp_path: Path
) -> Iterator[Callable[[Json], Adapter]]:
    """Start the adapter with the chart's ``rules``: ``adapter({"default": False, "custom": [...]})``."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    with ExitStack() as stack:
        yield lambda rules: stack.enter_context(
            adapting(adapter_program, folder, metrics_cluster, metrics_kube, prometheus.url, rules)
        )
