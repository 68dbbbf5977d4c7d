"""Ports, folders and processes of a cluster that does not run yet, or never will."""

import socket
import sys
import time
from pathlib import Path

import pytest

from toolkit.ports import free_ports
from toolkit.process import Process, running_with, start
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import SimulatedCluster
from workbench.cluster.members import MEMBERS, PORTS
from workbench.errors import WorkbenchError


@pytest.mark.parametrize("content", ["", "{", "[]", '{"etcd": 1}'])
def test_forgotten_ports_are_picked_anew(tmp_path: Path, content: str) -> None:
    cluster = SimulatedCluster(tmp_path)
    cluster.folder.mkdir()
    (cluster.folder / "ports.json").write_text(content)
    ports = cluster._ports()
    assert set(ports) == set(PORTS)
    assert cluster._ports() == ports


def test_ports_are_free_and_not_those_of_outgoing_connections() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    assert all(20000 <= port < 30000 for port in ports)


def test_a_taken_port_is_not_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setattr("toolkit.ports._PORT_RANGE", range(port, port + 1))
        with pytest.raises(WorkbenchError, match=f"fewer than 1 ports are free between {port} and {port}"):
            free_ports(1)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, programs: Programs) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkbenchError, match=r"cannot be stored in .*file/cluster.*--state-dir"):
        SimulatedCluster(tmp_path / "file").start(lambda _: programs)


def test_a_member_that_ends_is_an_error_with_its_log(tmp_path: Path, programs: Programs) -> None:
    broken = tmp_path / "etcd"
    broken.write_text("#!/bin/sh\necho 'the disk is full' >&2\nexit 1\n")
    broken.chmod(0o700)
    cluster = SimulatedCluster(tmp_path / "state")
    try:
        with pytest.raises(WorkbenchError) as error:
            cluster.start(lambda _: Programs({**programs.programs, "etcd": broken}, programs.stages))
    finally:
        cluster.stop()
    said = str(error.value)
    assert said.startswith("etcd exited right after its start")
    assert "the disk is full" in said
    assert "workbench cluster start" in said
    assert running_with(f"={cluster.folder}/") == []


def test_a_member_that_never_answers_is_an_error(
    tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.cluster.cluster._READY_SECONDS", 1.0)
    idle = tmp_path / "kube-apiserver"
    idle.write_text("#!/bin/sh\necho waiting\nexec sleep 60\n")
    idle.chmod(0o700)
    cluster = SimulatedCluster(tmp_path / "state")
    try:
        with pytest.raises(WorkbenchError, match=r"(?s)kube-apiserver was not ready after 1 s.*waiting"):
            cluster.start(lambda _: Programs({**programs.programs, "kube-apiserver": idle}, programs.stages))
        assert "kube-apiserver" in cluster.stop()
    finally:
        cluster.stop()


def test_stop_without_a_cluster(tmp_path: Path) -> None:
    assert SimulatedCluster(tmp_path).stop() == ()
    assert [member.running for member in SimulatedCluster(tmp_path).status()] == [False] * len(MEMBERS)
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_process_is_not_found_and_a_stranger_not_signalled(tmp_path: Path) -> None:
    process = start([sys.executable, "-c", "import time; time.sleep(300)"], tmp_path / "log")
    Process(process.pid, "someone else").stop()
    assert process.alive()
    process.stop()
    assert not process.alive()


def test_a_process_that_ignores_the_request_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.process._STOP_SECONDS", 0.5)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(300)"
    )
    process = start([sys.executable, "-c", code], tmp_path / "log")
    while not (tmp_path / "log").read_text():
        time.sleep(0.02)
    process.stop()
    assert not process.alive()
