"""A control plane of the metric chain's own, whose autoscalers look often."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.cluster import cluster as cluster_module
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import Running, SimulatedCluster
from workbench.cluster.members import MEMBERS, Layout

CONTROLLERS = "kube-controller-manager"
LOOK = "2s"
"""How often an autoscaler looks; 15 s by default, and nothing that it decides depends on it."""


@contextmanager
def aggregating(folder: Path, programs: Programs, *, live: bool = False) -> Iterator[Running]:
    """Run a control plane of its own with autoscalers that look often; ``live`` where somebody plays its pods."""
    members: Mapping[str, Callable[[Layout, Path], list[str]]] = {
        **MEMBERS,
        CONTROLLERS: lambda at, stages: [
            *MEMBERS[CONTROLLERS](at, stages),
            f"--horizontal-pod-autoscaler-sync-period={LOOK}",
        ],
    }
    made = SimulatedCluster(folder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster_module, "MEMBERS", members)
            running = made.start(lambda _: programs, live=live)
        yield running
    finally:
        made.stop()
