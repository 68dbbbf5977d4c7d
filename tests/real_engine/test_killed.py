"""The CLI is killed in the middle of ``up``: the next one goes on, and a destroy leaves nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import ROOT
from tests.real_engine.support import Json, RealStack, config_map, namespace
from toolkit.kube import Kube

SPACE = "real-killed"
KILLS = 5


def version(number: int) -> list[Json]:
    """Objects of a version: some stay with new content, some come, some go."""
    names = [f"c{index:02}" for index in range(number * 5, number * 5 + 30)]
    return [namespace(SPACE), *(config_map(name, SPACE, version=str(number)) for name in names)]


def names(kube: Kube) -> dict[str, str]:
    """The ConfigMaps with their versions, but for those of Kubernetes itself."""
    found = kube.list("v1", "ConfigMap", SPACE)
    return {each["metadata"]["name"]: each["data"]["version"] for each in found if "version" in each["data"]}


def expected(number: int) -> dict[str, str]:
    return {each["metadata"]["name"]: str(number) for each in version(number) if each["kind"] == "ConfigMap"}


def cli_of(workbench: int) -> int | None:
    """Return the process id of the Pulumi CLI that a workbench runs for ``up``."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == workbench and words[:2] == [b"pulumi", b"up"]:
            return int(entry.name)
    return None


def killed_up(real: RealStack, kube: Kube, number: int, after: int) -> None:
    """Run ``workbench up``, and kill its CLI once so many objects have their new version."""
    words = ["up", "--stack", "dev", "--engine", "pulumi", "--yes", "--kubeconfig", str(real.kubeconfig)]
    command = [sys.executable, "-m", "workbench", *words, "--cwd", str(real.folder)]
    real.write(version(number))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            reached = sum(value == str(number) for value in names(kube).values()) >= after
            cli = cli_of(process.pid) if reached else None
            if cli:
                os.kill(cli, signal.SIGKILL)
                break
            time.sleep(0.01)
        assert process.wait(120) != 0, f"it ended before {after} objects were changed"


@pytest.fixture
def cleaned(kube: Kube) -> Iterator[None]:
    yield
    kube.delete("v1", "Namespace", SPACE)


@pytest.mark.usefixtures("cleaned")
def test_killed_updates_are_continued(real: RealStack, kube: Kube, capfd: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(20261129)
    for number in range(KILLS):
        killed_up(real, kube, number, after=chance.randint(1, 20))
        capfd.readouterr()
        assert real.up(version(number)) == 0
        assert "which has exited; unlocking with `pulumi cancel`" in capfd.readouterr().err
        assert names(kube) == expected(number)
        deployment = real.cli.export()["deployment"]
        assert not deployment.get("pending_operations")
        assert {each["inputs"]["metadata"]["name"] for each in real.resources()} == {SPACE, *expected(number)}
    killed_up(real, kube, KILLS, after=10)
    assert real.cli.destroy(yes=True) == 0
    assert names(kube) == {}
    assert real.resources() == []
