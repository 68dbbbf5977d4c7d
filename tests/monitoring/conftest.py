"""The parts of the metric chain as real programs, and a stand-in for what they scrape."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.monitoring.exporter import Exporter, serving
from tests.monitoring.prometheus import Prometheus, started
from tests.monitoring.promtool import Promtool
from tests.monitoring.tools import ADAPTER, PROMETHEUS, Tool, ensure_built
from workbench.errors import WorkbenchError


def built(tool: Tool) -> dict[str, Path]:
    """The programs of a tool; only where they cannot be built are its tests skipped."""
    try:
        return ensure_built(tool)
    except WorkbenchError as error:
        if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
            raise
        pytest.skip(f"{tool.module} cannot be built here: {error}")


@pytest.fixture(scope="session")
def prometheus_programs() -> dict[str, Path]:
    return built(PROMETHEUS)


@pytest.fixture(scope="session")
def adapter_program() -> Path:
    return built(ADAPTER)["adapter"]


@pytest.fixture
def prometheus(prometheus_programs: dict[str, Path], tmp_path: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes nothing until the test configures it."""
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with started(prometheus_programs["prometheus"], folder) as prometheus:
        yield prometheus


@pytest.fixture
def promtool(prometheus_programs: dict[str, Path], tmp_path: Path) -> Promtool:
    folder = tmp_path / "promtool"
    folder.mkdir()
    return Promtool(prometheus_programs["promtool"], folder)


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    with serving() as exporter:
        yield exporter
