"""Fixtures that everybody shares: the real control plane."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.cluster.binaries import find
from workbench.cluster.cluster import Cluster, Running
from workbench.errors import WorkbenchError


@pytest.fixture(scope="session")
def cluster_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="session")
def cluster(cluster_folder: Path) -> Iterator[Running]:
    """A control plane of the test session's own, stopped at its end."""
    made = Cluster(cluster_folder)
    try:
        try:
            yield made.start(find)
        except WorkbenchError as error:
            if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
                raise
            pytest.skip(f"no control plane can be had here: {error}")
    finally:
        made.stop()
