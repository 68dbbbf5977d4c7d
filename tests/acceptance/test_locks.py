"""After a killed run: who holds the lock, when it is released, and what the run had begun."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import PROGRAM, ROOT, StandIn
from tests.acceptance.stand_in import lock_content
from tests.acceptance.test_stack_files import cli
from toolkit.kube import Kube
from workbench.cluster.cluster import Running
from workbench.engine.pulumi_cli import PulumiCli
from workbench.engine.pulumi_leftovers import Leftovers
from workbench.engine.pulumi_locks import locks_of
from workbench.errors import WorkbenchError

DEAD = 2**22 + 1
"""Above the largest number that Linux gives to a process."""


def lock(project: Path, pid: int, host: str = "") -> Path:
    """A lock of the project's stack, as the CLI writes it."""
    folder = project / ".workbench/pulumi/.pulumi/locks/organization/small/dev"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0a.json").write_text(json.dumps(lock_content(pid, host)))
    return folder / "0a.json"


def pending(dev: PulumiCli) -> list[dict[str, Any]]:
    """The operations that the state holds as begun."""
    found: list[dict[str, Any]] = dev.export()["deployment"]["pending_operations"]
    return found


def refusing(word: str, run: Callable[..., str]) -> Callable[..., str]:
    """The CLI, refusing commands with a word."""

    def quiet(self: PulumiCli, *arguments: str, stdin: str = "") -> str:
        if word in arguments:
            raise WorkbenchError("no import today")
        return run(self, *arguments, stdin=stdin)

    return quiet


@pytest.fixture
def deployed(project: Path, stand_in: StandIn) -> PulumiCli:
    dev = cli(project)
    assert dev.up(yes=True) == 0
    return dev


def test_a_killed_run_is_told_and_the_next_one_goes_on(
    project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    dev = cli(project)
    monkeypatch.setenv("STAND_IN_KILLED_AT", "ConfigMap")
    assert dev.up(yes=True) == -signal.SIGKILL
    monkeypatch.delenv("STAND_IN_KILLED_AT")
    pid = json.loads(next((project / ".workbench").rglob("locks/**/*.json")).read_text())["pid"]
    assert dev.up(yes=True) == 0
    told = capfd.readouterr().err
    assert f"stack 'dev' was locked by process {pid} of " in told
    assert "which has exited; unlocking with `pulumi cancel`" in told
    assert "cancel dev --yes --non-interactive" in stand_in.commands


@pytest.mark.parametrize("command", ["up", "destroy"])
def test_the_number_of_the_holder_may_be_that_of_another_program(
    command: str, project: Path, deployed: PulumiCli
) -> None:
    held = lock(project, os.getppid())
    assert getattr(deployed, command)(yes=True) == 0
    assert not held.exists()


def test_a_lock_that_was_cut_off_is_released(project: Path, deployed: PulumiCli) -> None:
    held = lock(project, 1)
    held.write_text(held.read_text()[:9])
    assert deployed.up(yes=True) == 0


@pytest.mark.parametrize("command", ["up", "destroy"])
def test_a_run_at_work_is_not_disturbed(command: str, project: Path, deployed: PulumiCli, stand_in: StandIn) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "pulumi"]) as holder:
        held = lock(project, holder.pid)
        with pytest.raises(WorkbenchError, match=f"locked by process {holder.pid} of .*, which is still running"):
            getattr(deployed, command)(yes=True)
        holder.kill()
    assert held.exists()
    assert not [words for words in stand_in.commands if words.startswith("cancel")]


def test_a_lock_of_another_machine_is_the_users_to_release(
    project: Path, deployed: PulumiCli, stand_in: StandIn
) -> None:
    held = lock(project, DEAD, "elsewhere")
    with pytest.raises(WorkbenchError, match=r"on elsewhere, since .* if that process has exited") as told:
        deployed.up(yes=True)
    assert held.exists()
    cwd, command = str(told.value).partition("unlock the stack in ")[2].split(" with:\n")
    subprocess.run(command, shell=True, cwd=cwd, check=True)
    assert deployed.up(yes=True) == 0


def test_a_preview_needs_no_lock(project: Path, deployed: PulumiCli) -> None:
    held = lock(project, DEAD)
    assert deployed.preview() == 0
    assert held.exists()


@pytest.mark.parametrize("backend", ["s3://bucket", "https://api.example.com", "file://~", "file:///nowhere"])
def test_locks_of_other_backends_are_not_seen(backend: str) -> None:
    assert locks_of(backend, "small", "dev") == []


class TestRemains:
    """A destroy looks for what a killed run had begun to create: the state does not hold it."""

    def killed(
        self, project: Path, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, at: str = "ConfigMap"
    ) -> PulumiCli:
        dev = PulumiCli(project, "dev", project / ".workbench", str(kubeconfig))
        monkeypatch.setenv("STAND_IN_KILLED_AT", at)
        dev.up(yes=True)
        monkeypatch.delenv("STAND_IN_KILLED_AT")
        return dev

    def test_what_is_there_is_told_and_a_failure(
        self,
        project: Path,
        stand_in: StandIn,
        cluster: Running,
        kube: Kube,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "begun", "namespace": "default"}}
        dev = self.killed(project, cluster.kubeconfig, monkeypatch)
        kube.create(value)
        assert dev.destroy(yes=True) == 1
        assert "  ConfigMap default/begun\n" in capfd.readouterr().err
        kube.delete("v1", "ConfigMap", "begun", "default")

    def test_what_is_not_there_is_none(
        self, project: Path, stand_in: StandIn, cluster: Running, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.killed(project, cluster.kubeconfig, monkeypatch).destroy(yes=True) == 0

    def test_a_cluster_that_is_gone_has_nothing(
        self, project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.killed(project, project / "absent", monkeypatch).destroy(yes=True) == 0

    @pytest.mark.parametrize(
        ("change", "left"),
        [
            ({}, ["ConfigMap default/there"]),
            ({"retainOnDelete": True}, []),
            ({"external": True}, []),
            ({"type": "kubernetes:core/v1:ConfigMapPatch"}, []),
            ({"type": "kubernetes:helm.sh/v3:Release"}, []),
            ({"inputs": {}}, []),
            ({"custom": False, "type": "proj:index:Fleet"}, []),
        ],
    )
    def test_what_a_destroy_is_meant_to_leave_is_none(
        self, cluster: Running, kube: Kube, change: dict[str, object], left: list[str]
    ) -> None:
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "default"}}
        resource = {"urn": "urn:x", "type": "kubernetes:core/v1:ConfigMap", "inputs": value, **change}
        kube.create(value)
        try:
            found = Leftovers({"deployment": {"resources": [resource]}}, (cluster.kubeconfig, "")).left()
        finally:
            kube.delete("v1", "ConfigMap", "there", "default")
        assert found == left

    def test_other_resources_are_told_by_name(
        self,
        project: Path,
        stand_in: StandIn,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        program = 'import pulumi\npulumi.CustomResource("aws:eks/cluster:Cluster", "ConfigMap", {})\n'
        (project / "__main__.py").write_text(program)
        dev = self.killed(project, project / "absent", monkeypatch)
        assert dev.destroy(yes=True) == 1
        assert "aws:eks/cluster:Cluster::ConfigMap" in capfd.readouterr().err
        # Nobody can look whether it is there, so that it is told once.
        assert dev.destroy(yes=True) == 0
        assert pending(dev) == []

    def test_what_exists_in_the_state_alone_leaves_nothing(
        self, project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Components and providers are registered, and created nowhere."""
        program = 'import pulumi\npulumi.ComponentResource("small:index:Fleet", "fleet", {})\n' + PROGRAM
        (project / "__main__.py").write_text(program)
        for at in ("small:index:Fleet", "pulumi:providers:kubernetes"):
            dev = self.killed(project, project / "absent", monkeypatch, at)
            assert [each["resource"]["type"] for each in pending(dev)] == [at]
            assert dev.destroy(yes=True) == 0
            assert pending(dev) == []

    def test_a_successful_up_settles_what_a_killed_one_had_begun(
        self, project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        dev = self.killed(project, project / "absent", monkeypatch)
        assert pending(dev)
        before = dev.export()["deployment"]["resources"]
        assert dev.up(yes=True) == 0
        assert pending(dev) == []
        assert {each["urn"] for each in before} < {each["urn"] for each in dev.export()["deployment"]["resources"]}
        assert [dev.up(yes=True), dev.destroy(yes=True)] == [0, 0]
        assert stand_in.commands.count("stack import --stack dev") == 1
        assert "interrupted run" not in capfd.readouterr().err

    def test_after_an_up_what_nobody_can_look_for_is_told_once(
        self, project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        program = 'import pulumi\npulumi.CustomResource("aws:eks/cluster:Cluster", "ConfigMap", {})\n'
        (project / "__main__.py").write_text(program)
        dev = self.killed(project, project / "absent", monkeypatch)
        assert dev.up(yes=True) == 0
        told = capfd.readouterr().err
        assert "An interrupted run had begun to create these resources;" in told
        assert "aws:eks/cluster:Cluster::ConfigMap" in told
        assert [dev.up(yes=True), dev.destroy(yes=True)] == [0, 0]
        assert "interrupted run" not in capfd.readouterr().err

    def test_an_object_that_the_program_no_longer_has_is_told_until_it_is_gone(
        self,
        project: Path,
        stand_in: StandIn,
        cluster: Running,
        kube: Kube,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "begun", "namespace": "default"}}
        dev = self.killed(project, cluster.kubeconfig, monkeypatch)
        kube.create(value)
        (project / "__main__.py").write_text("")
        assert dev.up(yes=True) == 0
        assert "which the program no longer contains:\n  ConfigMap default/begun\n" in capfd.readouterr().err
        assert dev.destroy(yes=True) == 1
        kube.delete("v1", "ConfigMap", "begun", "default")
        assert [dev.destroy(yes=True), pending(dev)] == [0, []]

    def test_a_state_that_cannot_be_settled_is_told_and_no_failure(
        self, project: Path, deployed: PulumiCli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        dev = self.killed(project, project / "absent", monkeypatch)
        monkeypatch.setattr(PulumiCli, "_capture", refusing("import", PulumiCli._capture))
        assert dev.up(yes=True) == 0
        assert "are still in the state:\n  no import today" in capfd.readouterr().err


SLOW = (
    f"#!{sys.executable}\n"
    + """\
import signal, sys, time
stopped = []
signal.signal(signal.SIGINT, lambda *_: stopped.append(1))
signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
if "up" not in sys.argv:
    sys.exit()
print("at work", flush=True)
while not stopped:
    time.sleep(0.01)
time.sleep(1)  # longer than Python waits before it kills a child
print("ended in order", flush=True)
sys.exit(3)
"""
)


@pytest.mark.parametrize(("number", "to_group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_an_interrupted_run_ends_in_order(
    number: signal.Signals, to_group: bool, project: Path, stand_in: StandIn, tmp_path: Path
) -> None:
    """The CLI finishes its step, writes its state and gives up its lock, however long that takes."""
    (tmp_path / "bin" / "pulumi").write_text(SLOW)
    command = [sys.executable, "-m", "workbench", "up", "--stack", "dev", "--yes", "--cwd", str(project)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as run:
        assert run.stdout
        assert run.stdout.readline() == "at work\n"
        time.sleep(0.2)
        (os.killpg if to_group else os.kill)(run.pid, number)
        printed, _ = run.communicate(timeout=30)
    assert printed == "ended in order\n"
    assert run.returncode == 3
