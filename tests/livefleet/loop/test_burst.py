"""A burst: one replica, as many as the autoscaler may, and one again, with everything that decides about it real.

Real are the API server, the controllers with the horizontal pod autoscaler, the scheduler, Prometheus, its adapter,
and the client. What is played are the pods' engines, the kubelet's probes and the cloud that starts nodes.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from livefleet.control_client import ControlClient
from livefleet.folder import LiveFolder
from livefleet.loop.part import LoopPart
from livefleet.pods.part import PodsPart
from livefleet.reading.fleet import fleet_of
from tests.livefleet.loop.burst import BATCH, MOST, Moment, Observer, asking, chat_at, deploy, planned
from tests.monitoring.programs.looking import aggregating
from toolkit.kube import Kube
from workbench.cluster.binaries import Programs

NAMESPACE = "burst"
_STARTS = 150.0
"""Nodes and engines that take minutes are there in seconds."""
_INTERVAL = "500ms"
Playing = Callable[[int], LiveFolder]


@contextmanager
def playing(state: Path, programs: Programs, most: int) -> Iterator[LiveFolder]:
    """Run a live fleet of one model that an autoscaler scales, on a control plane of its own.

    Args:
        state: the state folder.
        programs: of the control plane.
        most: nodes that the group may grow to; a replica fills one.
    """
    with aggregating(state, programs, live=True) as cluster, Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        folder, engines, loop = LiveFolder(state), PodsPart(starts=_STARTS), LoopPart()
        found = planned(NAMESPACE)
        fleet = fleet_of("burst", found)
        fleet = replace(fleet, groups=tuple(replace(group, most=most) for group in fleet.groups))
        for monitor in fleet.monitors:
            _scrape_often(monitor)
        try:
            folder.make()
            folder.write_fleet(fleet)
            engines.start(folder, fleet, quiet)
            deploy(kube, found, NAMESPACE)
            loop.start(folder, fleet, quiet)
            yield folder
        finally:
            loop.stop(folder)
            engines.stop(folder)


@pytest.fixture
def live(tmp_path: Path, programs: Programs, loop_programs: None) -> Iterator[Playing]:
    """Start the fleet with a bound of its nodes: ``live(3)``."""
    with ExitStack() as stack:
        yield lambda most: stack.enter_context(playing(tmp_path, programs, most))


def _scrape_often(monitor: Any) -> None:
    for endpoint in monitor["spec"]["podMetricsEndpoints"]:
        endpoint["interval"] = _INTERVAL


def quiet(_: str) -> None:
    """Nobody listens."""


def burst(folder: LiveFolder, at_most: Callable[[Moment], bool]) -> Observer:
    """Put load on the model until ``at_most`` is seen, and take most of it away until one replica is left.

    Raises:
        AssertionError: that was not seen, or a request failed.
    """
    seen = Observer(ControlClient.of(folder))
    seen.until(lambda now: (now.model.ready, now.group.nodes) == (1, 1), "one replica on one node")
    target = chat_at(folder, "chat", "qwen")
    # All along somebody asks now and then, over connections that stay: also pods that are about to end.
    with asking(target, users=3, think=0.1) as few:
        # With one replica 20 wait: ceil(20 / 4) is more than there may be. With three, fewer than 4 wait on average.
        with asking(target, users=2 * BATCH - 1, think=0.0, groups=3) as many:
            seen.until(at_most, "as many replicas as there can be")
        seen.until(lambda now: now.model.replicas == now.model.ready == 1, "one replica again")
        answered = seen.last.model.answered
        seen.until(lambda now: now.model.answered > answered + 5, "answers of the one that is left")
    outcomes = [outcome for tally in (*few, *many) for outcome in tally.outcomes]
    assert {outcome.error for outcome in outcomes} == {""}
    assert sum(len(tally.outcomes) for tally in few) > 5
    assert seen.last.model.refused == 0
    return seen


def check_bounds(moments: list[Moment]) -> None:
    """Nodes are within the bounds of their group, and a replica that answers has a node of its own."""
    for moment in moments:
        group = moment.group
        assert group.least <= group.nodes <= group.nodes + group.starting <= group.most
        assert moment.model.ready <= group.nodes


def test_replicas_and_nodes_follow_a_burst_and_no_request_fails(live: Playing) -> None:
    seen = burst(live(MOST), lambda now: now.model.ready == MOST)
    check_bounds(seen.moments)
    assert max(moment.group.nodes for moment in seen.moments) == MOST
    # There was no room until nodes had started, and no answer until the model was loaded.
    assert any(moment.model.pending and moment.group.starting for moment in seen.moments)
    assert any(moment.model.starting for moment in seen.moments)
    seen.until(lambda now: now.group.nodes == now.group.least == 1, "the nodes that nobody needs gone")


def test_a_replica_without_room_waits_and_no_request_fails(live: Playing) -> None:
    """The autoscaler wants three, and the group grows to two: the third stays Pending until it is not wanted."""
    seen = burst(live(MOST - 1), lambda now: (now.model.replicas, now.model.ready) == (MOST, MOST - 1))
    check_bounds(seen.moments)
    assert max(moment.model.ready for moment in seen.moments) == MOST - 1
    assert any(moment.model.pending for moment in seen.moments)
    assert seen.last.model.pending == 0
