"""A control plane that dies: during `up` it is waited for; before, the message says what does not run."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pulumi
import pytest

from tests.cluster.programs.members import ended
from tests.engine.support import Stack, config_map, kube_object
from toolkit.kube import Kube, KubeError
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import Running, SimulatedCluster, repair
from workbench.errors import WorkbenchError

COUNT = 60


class Control:
    """The control plane of the test session, to be broken and repaired."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.cluster = SimulatedCluster(folder)
        self._programs = programs

    def kill(self, name: str) -> None:
        member = next(member for member in self.cluster.status() if member.name == name)
        assert member.pid
        os.kill(member.pid, signal.SIGKILL)
        assert ended(member.pid)

    def start(self) -> None:
        self.cluster.start(lambda _: self._programs)


@pytest.fixture
def control(cluster: Running, cluster_folder: Path, programs: Programs) -> Iterator[Control]:
    made = Control(cluster_folder, programs)
    yield made
    made.start()


@pytest.fixture
def namespace(kube: Kube, namespace: str) -> Iterator[str]:
    kube.create(kube_object("v1", "Namespace", namespace))
    yield namespace
    kube.delete("v1", "Namespace", namespace)


def program(live: Stack, namespace: str) -> Callable[[], None]:
    def run() -> None:
        provider = live.provider()
        for number in range(COUNT):
            config_map(f"c{number}", pulumi.ResourceOptions(provider=provider), namespace, a="1")

    return run


def breaking(kube: Kube, namespace: str, *steps: Callable[[], None]) -> threading.Thread:
    """Do something as soon as the first objects are there."""

    def run() -> None:
        while len(kube.list("v1", "ConfigMap", namespace)) < 5:
            time.sleep(0.01)
        for step in steps:
            step()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("member", ["kube-apiserver", "etcd"])
def test_what_dies_during_up_is_waited_for(
    live: Stack, kube: Kube, namespace: str, control: Control, member: str
) -> None:
    live.options.workers = 1
    told: list[str] = []
    live.options.status = told.append
    steps = (lambda: control.kill(member), lambda: time.sleep(3), control.start)
    thread = breaking(kube, namespace, *steps)
    outcome = live.up(program(live, namespace))
    thread.join()
    assert outcome.ok, live.screen
    # Without etcd the API server does not refuse; it lets a request wait.
    assert member == "etcd" or any("waiting for the API server" in text for text in told)
    assert live.up(program(live, namespace)).changed == 0
    assert live.destroy().ok


def test_what_stays_away_ends_the_run_with_what_to_do_and_the_next_one_goes_on(
    live: Stack, kube: Kube, namespace: str, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.targets._RETRY_SECONDS", 2.0)
    live.options.workers = 2
    thread = breaking(kube, namespace, lambda: control.kill("kube-apiserver"))
    started = time.monotonic()
    with pytest.raises(WorkbenchError) as stopped:
        live.up(program(live, namespace))
    thread.join()
    assert time.monotonic() - started < 45  # not the minute for which an API server is waited for
    message, repairing, done = str(stopped.value).splitlines()
    assert "does not respond" in message
    command = f"`workbench cluster start --state-dir {control.cluster.kubeconfig.parent}`"
    assert repairing.startswith(f"kube-apiserver of the simulated cluster is not running; run {command}, which")
    assert f" of {COUNT + 1} changes were made and are recorded. Run the same command again" in done

    with pytest.raises(
        WorkbenchError, match="provider 'here': kube-apiserver of the simulated cluster is not running"
    ):
        live.up(program(live, namespace))
    control.start()
    assert live.up(program(live, namespace)).ok
    assert len(live.rows()) == COUNT + 1
    assert live.destroy().ok


def test_members_that_do_not_run_are_told(
    live: Stack, kube: Kube, namespace: str, control: Control, cluster: Running, tmp_path: Path
) -> None:
    assert repair(cluster.kubeconfig) == ""
    control.kill("kwok")
    live.preview(program(live, namespace))
    assert "note: kwok of the simulated cluster is not running; run `workbench cluster start" in live.screen
    control.kill("etcd")
    started = time.monotonic()
    with pytest.raises(WorkbenchError, match="provider 'here': etcd of the simulated cluster is not running"):
        live.up(program(live, namespace))
    assert time.monotonic() - started < 45
    assert repair(cluster.kubeconfig).startswith("etcd and kwok of the simulated cluster are not running; ")
    assert repair(tmp_path / "kubeconfig") == ""
    assert repair(cluster.kubeconfig.read_text()) == ""


def test_creating_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have happened. Everything else is the same the second time."""
    sent: list[str] = []

    class Away:
        def send(self, method: str, *_: object) -> tuple[int, bytes]:
            sent.append(method)
            raise KubeError(0, "Unreachable", "away")

    monkeypatch.setattr("toolkit.kube.client.Transport", lambda *_: Away())
    kube = Kube("http://127.0.0.1:9", None)
    kube.retry_seconds = 0.7
    for method in ("POST", "DELETE"):
        with pytest.raises(KubeError):
            kube.request(method, "/api/v1")
    assert sent[0] == "POST"
    assert set(sent[1:]) == {"DELETE"}
    assert len(sent) > 2
