"""What everybody shares: the real control plane, and the order in which the tests run."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


_PLANES = pytest.StashKey[dict[Path, set[pytest.FixtureDef[Any]]]]()
"""The fixtures of control planes that the tests of each file use."""
_SHARD = "INFERENCE_PLATFORM_SHARD"
"""Which part of the files to run, such as ``2/3``: CI runs each part on a machine of its own."""
_PACED = tuple(Path(__file__).parent / name for name in ("livefleet", "monitoring"))
"""Folders whose tests wait for programs: Envoy, Prometheus, simulated kubelets and engines."""
_BUILT = {"programs", "engine_programs"}
"""Fixtures of the programs that are built for a control plane and for the real engine."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a control plane, order the files by it, and reject names whose order differs.

    The files of one control plane follow each other, so that each runs only as long as it is needed. They come first:
    they wait longest, and at the end one worker would wait alone.
    """
    _reject_sets(items)
    planes: dict[Path, set[pytest.FixtureDef[Any]]] = {}
    for item in items:
        definitions = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
        if _BUILT & definitions.keys():
            item.add_marker(pytest.mark.control_plane)
        waits = any(item.path.is_relative_to(folder) for folder in _PACED)
        if waits or item.get_closest_marker("control_plane"):
            # Controllers, autoscalers and engines run at their own pace, and a machine may stall them for seconds.
            # What fails three times is wrong; what passes later is listed, to be looked at.
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=5))
        last = [found[-1] for found in definitions.values()]
        used = [each for each in last if each.scope == "session" and "programs" in each.argnames]
        planes.setdefault(item.path, set()).update(used)
    names = {path: sorted(plane.argname for plane in used) for path, used in planes.items()}
    items.sort(key=lambda item: (not names[item.path], names[item.path]))
    config.stash[_PLANES] = planes
    if shard := os.environ.get(_SHARD):
        number, _, count = shard.partition("/")
        files = [*dict.fromkeys(item.path for item in items)]
        mine = {*files[int(number) - 1 :: int(count)]}
        config.hook.pytest_deselected(items=[item for item in items if item.path not in mine])
        items[:] = [item for item in items if item.path in mine]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Stop the control planes that the next file does not use; an idle one takes a share of a core."""
    result = yield
    planes = item.config.stash[_PLANES]
    if nextitem and nextitem.path != item.path and isinstance(item, pytest.Function):
        for plane in planes[item.path] - planes[nextitem.path]:
            plane.finish(item._request)  # type: ignore[arg-type]
    return result


def _reject_sets(items: list[pytest.Item]) -> None:
    """Reject names with sets: their order differs between processes, so that half of the runs in parallel fail."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        sets = [value for value in callspec.params.values() if isinstance(value, set | frozenset)] if callspec else []
        if any(len(value) > 1 and str(value) in item.name for value in sets):
            raise pytest.UsageError(f"{item.nodeid}: the name contains a set, whose order differs; set ids")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Fail a test that leaves the garbage collector off: the tests after it took gigabytes."""
    result = yield
    if not gc.isenabled():
        gc.enable()
        pytest.fail("the garbage collector is off after this test; turn it on again")
    return result


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
