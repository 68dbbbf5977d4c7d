"""Fixtures that everybody shares: the real control plane."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from components.contract.collection import paused_collection
from toolkit.kube import Kube
from workbench.cluster.binaries import NoControlPlaneError, Programs, find
from workbench.cluster.cluster import Running, SimulatedCluster

if TYPE_CHECKING:
    from tests.browsing import Window

# How long one example takes says how busy the machine is; speed is measured by the benchmark. `make test` tries the
# same examples every time, so that no change is blamed for what it did not do; `make test-long` looks for new ones.
hypothesis.settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize="INFERENCE_PLATFORM_EXAMPLES" not in os.environ,
)
hypothesis.settings.load_profile("any machine")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let no collector traverse what lives until the end: it took a quarter of the time of collecting the tests."""
    with paused_collection():
        result = yield
    gc.freeze()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reject names with sets: their order differs between processes, so that half of the runs in parallel fail."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        sets = [value for value in callspec.params.values() if isinstance(value, set | frozenset)] if callspec else []
        if any(len(value) > 1 and str(value) in item.name for value in sets):
            raise pytest.UsageError(f"{item.nodeid}: the name contains a set, whose order differs; set ids")


@pytest.fixture(scope="session")
def programs() -> Programs:
    """The programs of a control plane; only where none can be had are cluster tests skipped."""
    try:
        return find(lambda _: None)
    except NoControlPlaneError as error:
        if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
            raise
        pytest.skip(f"no control plane can be had here: {error}")


@pytest.fixture(scope="session")
def cluster_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="session")
def cluster(cluster_folder: Path, programs: Programs) -> Iterator[Running]:
    """A control plane of the test session's own, stopped at its end. One that does not start is a failure."""
    made = SimulatedCluster(cluster_folder)
    try:
        yield made.start(lambda _: programs)
    finally:
        made.stop()


@pytest.fixture(scope="session")
def kube(cluster: Running) -> Iterator[Kube]:
    """A client of that control plane, with every right."""
    with Kube.from_kubeconfig(cluster.kubeconfig) as client:
        yield client


@pytest.fixture(scope="module")
def window() -> "Iterator[Window]":
    """A window of a browser. For one module: while Playwright runs, a test of the same thread cannot run a loop."""
    from tests.browsing import opened_window

    with opened_window() as window:
        yield window
