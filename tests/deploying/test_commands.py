"""``up``, ``destroy`` and ``cluster stop`` as they are called, with the Pulumi CLI and without."""

import pytest
from typer.testing import CliRunner

from livefleet.fleet import LiveFleet
from livefleet.option_values import Speeds
from tests.deploying.conftest import Stage
from toolkit.errors import UserError
from workbench.cli import app
from workbench.cluster.cluster import SimulatedCluster
from workbench.engine import local, pulumi_cli

OUTPUTS = {"endpoints": {"one": {"url": "http://one.models:8000/v1"}}}


class Done:
    """What the local engine returns."""

    ok = True
    outputs = OUTPUTS


@pytest.fixture
def pulumi(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The CLI is there, and does what it is asked."""
    monkeypatch.setattr(pulumi_cli, "installed", lambda: "/usr/bin/pulumi")
    for name in ("up", "destroy"):
        monkeypatch.setattr(pulumi_cli.PulumiCli, name, answering(stage, f"pulumi {name}", 0))
    monkeypatch.setattr(pulumi_cli.PulumiCli, "outputs", lambda _: OUTPUTS)
    return stage


def answering(stage: Stage, name: str, answer: object) -> object:
    """A function that notes that it was called."""

    def call(*_: object, **__: object) -> object:
        stage.log.append(name)
        return answer

    return call


def called(stage: Stage, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*words, "--cwd", str(stage.folder)])
    return done.exit_code, done.output


def test_the_pulumi_cli_deploys_between_the_parts(pulumi: Stage) -> None:
    code, _ = called(pulumi, "up", "--stack", "dev", "--start-cluster", "--speed", "5", "--start-speed", "100")
    assert code == 0
    assert pulumi.log == ["cluster, live", "pods one", "pulumi up", "door one"]
    assert pulumi.speeds[-1] == Speeds(5.0, 100.0)


def test_what_failed_to_be_deployed_gets_no_door(pulumi: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi_cli.PulumiCli, "up", lambda *_, **__: 3)
    code, _ = called(pulumi, "up", "--stack", "dev", "--start-cluster")
    assert code == 3
    assert pulumi.log == ["cluster, live", "pods one"]


def test_destroy_takes_the_endpoints_along(pulumi: Stage) -> None:
    called(pulumi, "up", "--stack", "dev", "--start-cluster")
    code, _ = called(pulumi, "destroy", "--stack", "dev", "--yes")
    assert code == 0
    assert pulumi.live.read_fleet() == LiveFleet("dev")
    assert pulumi.log[-2:] == ["pulumi destroy", "stop door"]


def test_a_destroy_that_failed_takes_the_endpoints_along(pulumi: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the live fleet has in the cluster is in no state: nothing else would delete it."""
    called(pulumi, "up", "--stack", "dev", "--start-cluster")
    monkeypatch.setattr(pulumi_cli.PulumiCli, "destroy", lambda *_, **__: 255)
    code, _ = called(pulumi, "destroy", "--stack", "dev", "--yes")
    assert code == 255
    assert pulumi.live.read_fleet() == LiveFleet("dev")
    assert pulumi.log[-1] == "stop door"


def test_a_destroy_that_was_declined_leaves_them(pulumi: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    called(pulumi, "up", "--stack", "dev", "--start-cluster")
    monkeypatch.setattr(pulumi_cli.PulumiCli, "destroy", lambda *_, **__: 255)
    code, _ = called(pulumi, "destroy", "--stack", "dev")
    assert code == 255
    assert pulumi.live.read_fleet() != LiveFleet("dev")
    assert "stop door" not in pulumi.log


def test_a_failure_of_the_local_engine_takes_them_along(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failed(Done):
        ok = False

    monkeypatch.setattr(local.LocalEngine, "up", answering(stage, "local up", Done()))
    monkeypatch.setattr(local.LocalEngine, "destroy", answering(stage, "local destroy", Failed()))
    called(stage, "up", "--stack", "dev", "--start-cluster", "--engine", "local")
    code, _ = called(stage, "destroy", "--stack", "dev", "--yes", "--engine", "local")
    assert code == 1
    assert stage.log[-2:] == ["local destroy", "stop door"]


def test_the_local_engine_deploys_between_the_parts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.LocalEngine, "up", answering(stage, "local up", Done()))
    code, shown = called(stage, "up", "--stack", "dev", "--start-cluster", "--engine", "local")
    assert code == 0, shown
    assert stage.log == ["cluster, live", "pods one", "local up", "door one"]


@pytest.mark.parametrize(
    "words", [("--speed", "0"), ("--speed", "-1"), ("--speed", "nan"), ("--start-speed", "1e9"), ("--speed", "fast")]
)
def test_speeds_that_nobody_means_are_refused(stage: Stage, words: tuple[str, str]) -> None:
    done = CliRunner().invoke(app, ["up", "--stack", "dev", "--start-cluster", *words, "--cwd", str(stage.folder)])
    assert isinstance(done.exception, UserError)
    assert str(done.exception).startswith(f"{words[0]}: must be ")
    assert stage.log == []


def test_stopping_the_cluster_stops_the_parts_first(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.up()
    stage.log.clear()
    monkeypatch.setattr(SimulatedCluster, "stop", answering(stage, "stop cluster", ("kwok", "etcd")))
    done = CliRunner().invoke(app, ["cluster", "stop", "--state-dir", str(stage.folder / ".workbench")])
    assert done.exit_code == 0
    assert stage.log == ["stop door", "stop pods", "stop cluster"]
    assert "stopped door, pods, kwok, etcd" in done.output
