"""Nodes come for pods that find no room, within their group's bounds, and go when they are idle."""

import pytest

from livefleet.fleet import ServedGroup
from livefleet.pods.nodes import controller
from tests.livefleet.pods.stand import Stand, slower
from tests.monitoring.programs.daemon import eventually


def test_nodes_come_at_once_for_first_pods_and_never_more_than_the_group_may_have(stand: Stand) -> None:
    group = stand.group("gpu", nodes=8, least=1, most=3)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,)), starts=1.0):
        eventually(lambda: stand.stage_of(group) == {"there": 1, "reserve": 7}, "one node")
        stand.deploy(replicas=5)
        eventually(lambda: stand.ready() == 3, "as many pods as nodes")
        assert stand.stage_of(group) == {"there": 3, "reserve": 5}
        eventually(lambda: stand.control.state().models[0].pending == 2, "the others, which wait")
        state = stand.control.state()
        assert (state.groups[0].nodes, state.groups[0].starting, state.groups[0].most) == (3, 0, 3)
        assert (state.models[0].replicas, state.models[0].ready, state.models[0].pending) == (5, 3, 2)
        assert state.usd_per_hour == 3.0
        assert state.models[0].usd_per_hour == 3.0
        why = f"group {group.name} has its maximum of 3 nodes"
        pending = [f"pod {pod.name} stays Pending: {why}" for pod in state.pods if not pod.node]
        eventually(lambda: set(pending) <= {note.text for note in stand.control.state().notes}, "the reason")


def test_pods_that_are_on_too_many_nodes_already_go_elsewhere(stand: Stand) -> None:
    """As they are after `up --no-live`, where all nodes are there."""
    group = stand.group("gpu", nodes=8, least=1, most=2)
    with stand.playing(stand.fleet(stand.workload())):  # a fleet without groups leaves all nodes there
        stand.deploy(replicas=4)
        eventually(lambda: stand.ready() == 4, "a pod on each of four nodes")
    forget_stages(stand, group)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,))):
        eventually(lambda: stand.stage_of(group) == {"there": 2, "reserve": 6}, "as many nodes as there may be")
        eventually(lambda: stand.ready() == 2, "pods on those")
        texts = [note.text for note in stand.control.state().notes]
        assert sum("is moved: node" in text for text in texts) == 2
        assert stand.ask()[0] == 200


def forget_stages(stand: Stand, group: ServedGroup) -> None:
    """Make nodes look as if no process had seen them."""
    for each in stand.kube.list("v1", "Node"):
        if each["metadata"]["name"].startswith(f"{group.name}-"):
            path = stand.kube.path("v1", "Node", each["metadata"]["name"])
            patch = {"metadata": {"annotations": {"workbench/node": None}}}
            stand.kube.request("PATCH", path, body=patch, content_type="application/merge-patch+json")


@pytest.mark.usefixtures("no_first")
def test_later_nodes_take_their_time_and_idle_ones_go(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "_MIN_IDLE_SECONDS", 0.5)
    group = stand.group("gpu", nodes=8, least=1, most=8)
    workload = slower(stand.workload(paces={"g6.xlarge": stand.workload().paces[""]}), node=3600.0, pod=0.0)
    with stand.playing(stand.fleet(workload, groups=(group,)), starts=1.0):
        stand.deploy(replicas=1)
        eventually(lambda: stand.ready() == 1, "a pod on the node that is there")
        stand.scale("demo", 3)
        eventually(lambda: stand.stage_of(group) == {"there": 1, "starting": 2, "reserve": 5}, "two nodes asked for")
        assert stand.ready() == 1
        stand.control.speed(None, 3600.0)
        eventually(lambda: stand.ready() == 3, "pods on the new nodes")
        stand.scale("demo", 1)
        eventually(lambda: stand.stage_of(group) == {"there": 1, "reserve": 7}, "idle nodes given back")
        texts = [note.text for note in stand.control.state().notes]
        assert sum("is removed: it had no pods for 10 minutes" in text for text in texts) == 2
        assert sum("takes 3600 simulated seconds" in text for text in texts) == 2


def test_a_pod_that_no_group_takes_starts_nothing(stand: Stand) -> None:
    group = stand.group("gpu", nodes=2)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,))):
        stand.deploy(gpus=2)
        eventually(lambda: [note for note in stand.control.state().notes if "stays Pending" in note.text], "a note")
        assert stand.stage_of(group) == {"reserve": 2}


def test_nodes_of_no_group_are_left_alone(stand: Stand) -> None:
    group = stand.group("gpu", nodes=2)
    with stand.playing(stand.fleet(stand.workload())):
        eventually(lambda: stand.stage_of(group) == {"there": 2}, "both nodes there")
