"""A burst: one replica, as many as the autoscaler may, and one again, with everything that decides about it real.

Real are the API server, the controllers with the horizontal pod autoscaler, the scheduler, Prometheus, its adapter,
and the client. What is played are the pods' engines, the kubelet's probes and the cloud that starts nodes.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.live.loop.burst import BATCH, MOST, Observer, asking, chat_at, deploy, planned
from tests.monitoring.programs.looking import aggregating
from workbench.cluster.binaries import Found
from workbench.kube import Kube
from workbench.live.folder import LiveFolder
from workbench.live.loop.part import LoopPart
from workbench.live.pods.part import PodsPart
from workbench.live.reach import LiveControl
from workbench.live.reading.fleet import fleet_of

NAMESPACE = "burst"
_STARTS = 200.0
"""Nodes and engines that take minutes are there in seconds."""
_INTERVAL = "500ms"


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, programs: Found, loop_programs: None) -> Iterator[LiveFolder]:
    """A live fleet of one model that an autoscaler scales, on a control plane of its own."""
    state = tmp_path_factory.mktemp("burst")
    with aggregating(state, programs, live=True) as cluster, Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        folder, parts = LiveFolder(state), (PodsPart(starts=_STARTS), LoopPart())
        found = planned(NAMESPACE)
        fleet = fleet_of("burst", found)
        for monitor in fleet.monitors:
            _often(monitor)
        try:
            folder.make()
            folder.write_fleet(fleet)
            parts[0].start(folder, fleet, quiet)
            deploy(kube, found, NAMESPACE)
            parts[1].start(folder, fleet, quiet)
            yield folder
        finally:
            for part in reversed(parts):
                part.stop(folder)


def _often(monitor: Any) -> None:
    for endpoint in monitor["spec"]["podMetricsEndpoints"]:
        endpoint["interval"] = _INTERVAL


def quiet(_: str) -> None:
    """Nobody listens."""


def test_replicas_and_nodes_follow_a_burst_and_no_request_fails(folder: LiveFolder) -> None:
    seen = Observer(LiveControl.of(folder))
    seen.until(lambda now: now.model.ready == 1, "one replica")
    target = chat_at(folder, "chat", "qwen")
    # All along somebody asks now and then, over connections that stay: also pods that are about to end.
    with asking(target, users=3, think=0.1, connected=5.0) as few:
        # ceil(1 replica x 18 waiting / 4) is more than there may be; with three, fewer than 4 wait on average.
        with asking(target, users=5 * BATCH, think=0.0, connected=3.0) as many:
            seen.until(lambda now: now.model.ready == MOST, "all replicas that there may be")
            assert seen.last.model.waiting + seen.last.model.running > 0
        seen.until(lambda now: now.model.replicas == now.model.ready == 1, "one replica again")
        answered = seen.last.model.answered
        seen.until(lambda now: now.model.answered > answered + 5, "answers of the one that is left")
    outcomes = [outcome for tally in (*few, *many) for outcome in tally.outcomes]
    assert {outcome.error for outcome in outcomes} == {""}
    assert sum(len(tally.outcomes) for tally in few) > 5
