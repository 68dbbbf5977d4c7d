"""Ctrl-C and SIGTERM at random moments: an end within a second, in words, and the next run goes on."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from tests.engine.support import Stack, kube_object
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube
from workbench.cluster.cluster import Running
from workbench.engine.state import State

ROOT = Path(__file__).parents[3]
MOMENTS = int(os.environ.get("INFERENCE_PLATFORM_SIGNALS", "1"))
LIMIT = 15.0
"""Seconds from the signal to the end. It is one on an idle machine; what a run must not wait for takes a minute: a
program that sleeps, pods that do not come, all that is left to do."""
PROGRAM = """
import time
import pulumi

config = pulumi.Config()
provider = pulumi.ProviderResource("kubernetes", "here", {"kubeconfig": config.require("kubeconfig")})
namespace = config.require("namespace")
inside = pulumi.ResourceOptions(provider=provider)
for number in range(120):
    time.sleep(float(config.require("pause")))
    value = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"c{number}", "namespace": namespace},
        "data": {"a": "b"},
    }
    made = pulumi.CustomResource("kubernetes:core/v1:ConfigMap", f"c{number}", value, inside)
    made.id.apply(lambda id: id)
if config.require("waits") == "true":
    pods = {"containers": [{"name": "c", "image": "x"}], "nodeSelector": {"no": "where"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pods}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    meta = {"name": "never", "namespace": namespace}
    value = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
    pulumi.CustomResource("kubernetes:apps/v1:Deployment", "never", value, inside)
"""


@pytest.fixture
def namespace(kube: Kube, namespace: str) -> Iterator[str]:
    """A namespace that no run has to wait for."""
    kube.create(kube_object("v1", "Namespace", namespace))
    yield namespace
    kube.delete("v1", "Namespace", namespace)


@pytest.fixture
def project(tmp_path: Path, cluster: Running, namespace: str) -> Path:
    defaults = {"kubeconfig": str(cluster.kubeconfig), "namespace": namespace, "pause": "0.002", "waits": "false"}
    described = {"name": "proj", "runtime": "python", "config": {k: {"default": v} for k, v in defaults.items()}}
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump(described))
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    return tmp_path


def started(project: Path, command: str) -> "subprocess.Popen[str]":
    """A command that has come so far that it holds the lock of the stack."""
    folder = project / ".workbench" / "stacks"
    for path in folder.glob("dev.lock"):
        path.unlink()
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", command, "--stack", "dev", "--engine", "local", "--cwd", str(project)]
        + (["--yes"] if command == "destroy" else []),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background of a script ignores SIGINT, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (folder / "dev.lock").exists() and process.poll() is None:
        time.sleep(0.005)
    return process


def signalled(process: "subprocess.Popen[str]", numbers: list[signal.Signals]) -> tuple[int, str, float]:
    """Exit code and standard error after signals, and how long it took to end."""
    begun = time.monotonic()
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.02)
    try:
        _, told = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("it hangs")
    return process.returncode, told, time.monotonic() - begun


def moments() -> list[tuple[str, float, list[signal.Signals]]]:
    chance = random.Random(11)
    kinds = [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]]
    return [
        (command, chance.uniform(0.0, longest), kinds[(round_ + at) % 3])
        for round_ in range(MOMENTS)
        for at, (command, longest) in enumerate((("preview", 0.5), ("up", 1.2), ("destroy", 0.8)))
    ]


def test_signals_at_random_moments(project: Path, cluster: Running, namespace: str) -> None:
    for command, moment, numbers in moments():
        process = started(project, command)
        time.sleep(moment)
        over = process.poll() is not None
        code, told, took = signalled(process, numbers)
        what = (command, moment, numbers, code, told)
        assert took < LIMIT, what
        assert "Traceback" not in told, what
        if over or code in (0, -numbers[0]):  # it was through before: all that was left was the end of the process
            assert not over or code == 0, what
        else:
            assert code == 128 + numbers[0], what
            assert told.startswith("cancelled; "), what
    with State(project / ".workbench" / "stacks", "dev"):
        pass  # nobody holds the lock
    assert_goes_on(project, cluster, namespace)


def assert_goes_on(project: Path, cluster: Running, namespace: str) -> None:
    through(project, "up")
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        names = {one["metadata"]["name"] for one in kube.list("v1", "ConfigMap", namespace)}
        assert names >= {f"c{number}" for number in range(120)}
    through(project, "destroy")


def through(project: Path, command: str) -> None:
    process = started(project, command)
    told = process.communicate(timeout=60)
    assert process.returncode == 0, told


def recorded(project: Path) -> int:
    """The changes of a run that have ended, from its state."""
    path = project / ".workbench" / "stacks" / "dev.db"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as state:
            (count,) = state.execute("SELECT count(*) FROM resources WHERE intent = ''").fetchone()
    except sqlite3.OperationalError:  # there is none yet
        return 0
    return int(count)


def test_while_it_waits_for_pods_it_says_what_was_done(project: Path, namespace: str) -> None:
    settings = {"config": {"proj:waits": "true", "proj:pause": "0"}}
    (project / "Pulumi.dev.yaml").write_text(yaml.safe_dump(settings))
    process = started(project, "up")
    eventually(lambda: process.poll() is not None or recorded(project) == 122, "the changes recorded")
    time.sleep(0.5)  # until it waits: a change is counted a moment after it is recorded
    assert process.poll() is None
    code, told, took = signalled(process, [signal.SIGINT])
    assert (code, took < LIMIT) == (130, True), told
    assert told.startswith("cancelled; 122 of 122 changes were made and are recorded. Run the same command again")
    through(project, "destroy")


CATCHES = """
import time
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""
FINALIZES = """
import time
class Slow:
    def __del__(self):
        time.sleep(60)
while True:
    Slow()
"""


@pytest.mark.parametrize("text", [CATCHES, FINALIZES], ids=["catches", "finalizes"])
def test_a_program_that_swallows_everything_is_ended_all_the_same(project: Path, text: str) -> None:
    (project / "__main__.py").write_text(text)
    process = started(project, "preview")
    time.sleep(1)
    code, told, took = signalled(process, [signal.SIGINT])
    assert (code, told, took < LIMIT) == (130, "cancelled; nothing was changed\n", True)


def test_signals_of_others_are_left_as_they_were(server: object, stack: Stack) -> None:
    before = signal.getsignal(signal.SIGTERM)
    stack.up(lambda: None)
    assert signal.getsignal(signal.SIGTERM) == before
