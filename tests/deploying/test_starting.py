"""What ``up`` starts and stops around a deployment, one command after the other: parts and cluster are stubs."""

from pathlib import Path

import pytest

from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from livefleet.lifecycle import stop_live, withdraw
from livefleet.option_values import Speeds
from tests.deploying.conftest import Stage
from tests.livefleet.reading.test_edits import model, written


def test_pods_come_before_the_deployment_and_the_rest_after(stage: Stage) -> None:
    stage.up()
    assert stage.log == ["cluster, live", "pods one", "deploy", "door one"]


def test_what_answers_is_shown_before_something_is_built(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.door.lacks, stage.loop.lacks = ("translator",), ("prometheus", "adapter")
    stage.up()
    assert stage.log == ["cluster, live", "pods one", "deploy", "show", "door one"]
    text = capsys.readouterr().err
    # Nothing scales, so that the rest is not needed.
    build = "are built: translator, once for all clones: about 1 min on two cores"
    assert text.count(build) == 2  # before the deployment, and before the build


def test_the_controller_of_groups_comes_before_the_deployment(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.groups.wanted = lambda _: True
    stage.up()
    assert stage.log == ["cluster, live", "pods one", "groups one", "deploy", "door one"]
    stage.log.clear()
    stage.groups.absent = "LeaderWorkerSets stay Pending, without pods: there is no Go"
    stage.up()
    assert stage.log == ["cluster, live", "pods one", "deploy", "door one"]
    assert "groups: LeaderWorkerSets stay Pending, without pods: there is no Go" in capsys.readouterr().err


def test_speeds_reach_the_pods(stage: Stage) -> None:
    stage.up(speeds=Speeds(answers=10.0))
    assert stage.speeds[-1] == Speeds(10.0, None)


def test_up_edit_up_down(stage: Stage) -> None:
    stage.up()
    fleet = stage.live.path / "fleet.json"
    first, second = fleet.stat().st_mtime_ns, 0
    stage.up()
    assert fleet.stat().st_mtime_ns == first
    written(stage.folder, model("one"), model("two"))
    stage.up()
    second = fleet.stat().st_mtime_ns
    assert second > first
    assert [each for each in stage.log if each.startswith("pods")] == ["pods one", "pods one", "pods one two"]
    assert stop_live(stage.live) == ("door", "pods")
    assert stop_live(stage.live) == ()
    stage.up()
    assert stage.log[-4:] == ["cluster, live", "pods one two", "deploy", "door one two"]


@pytest.mark.parametrize("fault", ["absent", "broken"])
def test_a_part_that_cannot_be_had_is_named_and_the_rest_goes_on(
    stage: Stage, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    setattr(stage.door, fault, "there is no Envoy for this machine; nothing helps")
    stage.loop.wanted = lambda _: True
    stage.up()
    assert stage.log == ["cluster, live", "pods one", "deploy", "loop one"]
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "Envoy" in each]
    assert line == "door: there is no Envoy for this machine; nothing helps"


def test_without_anybody_behind_the_pods_the_cluster_makes_them_ready(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.pods.broken = "it ended"
    stage.up()
    assert stage.log == ["cluster, live", "cluster, plain", "deploy"]
    assert "no model answers: pods: it ended" in capsys.readouterr().err


def test_no_live_ends_what_runs(stage: Stage) -> None:
    stage.up()
    stage.log.clear()
    stage.up(live=False)
    assert stage.log == ["stop door", "stop pods", "cluster, plain", "deploy"]
    stage.log.clear()
    stage.up(live=False, starts=False)
    assert stage.log == ["deploy"]


def test_another_cluster_is_left_alone(stage: Stage) -> None:
    stage.up(kubeconfig="other", starts=True)
    stage.up(kubeconfig="other", starts=False)
    assert stage.log == ["deploy", "deploy"]
    assert not stage.live.path.exists()


@pytest.mark.parametrize(
    "settings", [{"simulatedNodes": False}, {"kubeconfig": "elsewhere/kubeconfig"}], ids=["no nodes", "not its own"]
)
def test_only_simulated_nodes_of_the_own_cluster_are_played(stage: Stage, settings: dict[str, object]) -> None:
    written(stage.folder, model("one"), settings=settings)
    stage.up()
    assert [each for each in stage.log if each.startswith(("pods", "door"))] == []


def test_a_cluster_that_was_started_for_itself_stays_as_it_is(stage: Stage) -> None:
    stage.up(starts=False)
    assert stage.log == ["deploy"]
    stage.up()
    stage.log.clear()
    stage.up(starts=False)
    assert stage.log == ["pods one", "deploy", "door one"]


def test_a_stack_that_is_wrong_leaves_what_runs_alone(stage: Stage) -> None:
    stage.up()
    before = stage.live.read_fleet()
    stage.log.clear()
    written(stage.folder, model("one").replace("modelRef: one", "modelRef: absent"))
    stage.up()
    assert stage.log == ["cluster, live", "deploy"]
    assert stage.live.read_fleet() == before


def test_after_destroy_nothing_answers_and_the_process_waits(stage: Stage) -> None:
    stage.up()
    withdraw(stage.live, "other")
    assert stage.live.read_fleet() != LiveFleet("dev")
    withdraw(stage.live, "dev")
    assert stage.live.read_fleet() == LiveFleet("dev")
    assert stage.pods.running
    assert not stage.door.running


def test_withdrawing_where_nothing_was_ever_played(tmp_path: Path) -> None:
    folder = LiveFolder(tmp_path / ".workbench")
    withdraw(folder, "dev")
    assert not folder.path.exists()
