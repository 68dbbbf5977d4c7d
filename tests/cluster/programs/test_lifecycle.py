"""Starting, repairing and stopping a cluster of this module's own; every process here is really killed."""

import json
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cluster.programs.members import config_map, ended, pids, take, talk
from toolkit.kube import Kube
from toolkit.process import Process, running_with, save, start
from workbench.cluster import commands
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import SimulatedCluster
from workbench.cluster.members import MEMBERS

WARM_START_SECONDS = 60
"""It takes some five on an idle machine. To wait for one member alone in vain takes more than this."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lifecycle")


@pytest.fixture(scope="module")
def own(folder: Path, programs: Programs) -> Iterator[SimulatedCluster]:
    made = SimulatedCluster(folder)
    try:
        before = time.monotonic()
        running = made.start(lambda _: programs)
        assert time.monotonic() - before < WARM_START_SECONDS
        assert running.started == tuple(MEMBERS)
        yield made
    finally:
        made.stop()


def test_a_second_start_changes_nothing(own: SimulatedCluster, programs: Programs) -> None:
    def unwanted(_: object) -> Programs:
        return pytest.fail("no program is looked for where all members run")

    own.start(lambda _: programs)
    before = pids(own)
    assert own.start(unwanted).started == ()
    assert pids(own) == before
    assert None not in before.values()


@pytest.mark.parametrize("name", list(MEMBERS))
def test_only_a_crashed_member_is_started_again(own: SimulatedCluster, programs: Programs, name: str) -> None:
    running = own.start(lambda _: programs)
    with Kube.from_kubeconfig(running.kubeconfig) as kube:
        kube.apply(config_map(f"before-{name}"), manager="test")
    before = pids(own)
    pid = before[name]
    assert pid
    os.kill(pid, signal.SIGKILL)
    assert ended(pid)
    assert [member.name for member in own.status() if not member.running] == [name]
    again = own.start(lambda _: programs)
    assert again.started == (name,)
    assert again.server == running.server
    assert {key: value for key, value in pids(own).items() if key != name} == {
        key: value for key, value in before.items() if key != name
    }
    with Kube.from_kubeconfig(again.kubeconfig) as kube:
        assert kube.get("v1", "ConfigMap", f"before-{name}", "default")["data"] == {"kept": "yes"}


def test_every_listener_is_on_loopback(own: SimulatedCluster, programs: Programs) -> None:
    own.start(lambda _: programs)
    ours = {f"pid={pid}," for pid in pids(own).values()}
    shown = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout.splitlines()
    addresses = [line.split()[3] for line in shown if any(pid in line for pid in ours)]
    ports = json.loads((own.folder / "ports.json").read_text())
    assert sorted(addresses) == sorted(f"127.0.0.1:{port}" for port in ports.values())


def test_nobody_else_can_read_the_state(own: SimulatedCluster) -> None:
    assert stat.S_IMODE(own.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(own.kubeconfig.stat().st_mode) == 0o600
    secrets = [*own.folder.glob("pki/*"), *own.folder.glob("*.kubeconfig"), *own.folder.glob("*.pid")]
    assert len(secrets) > 15
    for path in secrets:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_members_do_not_belong_to_the_terminal(own: SimulatedCluster, programs: Programs) -> None:
    own.start(lambda _: programs)
    for pid in pids(own).values():
        assert pid
        assert os.getsid(pid) == pid


def test_certificates_pass_strict_verification(own: SimulatedCluster, programs: Programs) -> None:
    """Python 3.13 verifies strictly by default."""
    server = own.start(lambda _: programs).server
    context = ssl.create_default_context(cafile=str(own.folder / "pki/ca.crt"))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    port = int(server.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port)) as raw,
        context.wrap_socket(raw, server_hostname="127.0.0.1") as connection,
    ):
        assert connection.version() in ("TLSv1.2", "TLSv1.3")


@pytest.mark.parametrize("identity", [None, "kwok", "admin"])
def test_etcd_is_open_to_the_api_server_alone(
    own: SimulatedCluster, programs: Programs, identity: str | None
) -> None:
    """Whoever talks to etcd is past RBAC, so that the cluster's other certificates must not do."""
    own.start(lambda _: programs)
    port = json.loads((own.folder / "ports.json").read_text())["etcd"]
    pki = own.folder / "pki"
    context = ssl.create_default_context(cafile=str(pki / "etcd-ca.crt"))
    if identity:
        context.load_cert_chain(pki / f"{identity}.crt", pki / f"{identity}.key")
    with (
        socket.create_connection(("127.0.0.1", port)) as raw,
        pytest.raises((ssl.SSLError, ConnectionError)) as error,
    ):
        talk(context, raw)
    assert "CERTIFICATE_VERIFY_FAILED" not in str(error.value)  # it is etcd that refuses


def test_starts_at_once_start_once(own: SimulatedCluster, programs: Programs) -> None:
    own.stop()
    started: list[tuple[str, ...]] = []
    threads = [
        threading.Thread(
            target=lambda: started.append(SimulatedCluster(own.folder.parent).start(lambda _: programs).started)
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(started) == [(), (), tuple(MEMBERS)]
    assert len(running_with(f"={own.folder}/")) == len(MEMBERS)


def test_stop_leaves_no_process_and_keeps_the_data(own: SimulatedCluster, programs: Programs) -> None:
    with Kube.from_kubeconfig(own.start(lambda _: programs).kubeconfig) as kube:
        kube.apply(config_map("across-a-stop"), manager="test")
    assert own.stop() == tuple(reversed(list(MEMBERS)))
    assert running_with(f"={own.folder}/") == []
    assert own.stop() == ()
    with Kube.from_kubeconfig(own.start(lambda _: programs).kubeconfig) as kube:
        assert kube.get("v1", "ConfigMap", "across-a-stop", "default")["data"] == {"kept": "yes"}


def test_members_that_no_pid_file_knows_are_replaced(own: SimulatedCluster, programs: Programs) -> None:
    """A start killed between a member's start and its pid file leaves such a one."""
    own.start(lambda _: programs)
    before = pids(own)["etcd"]
    assert before
    (own.folder / "etcd.pid").unlink()
    assert own.start(lambda _: programs).started == ("etcd",)
    assert ended(before)
    (own.folder / "kwok.pid").unlink()
    assert set(own.stop()) == set(MEMBERS)
    assert running_with(f"={own.folder}/") == []


def test_after_a_reboot(own: SimulatedCluster, programs: Programs) -> None:
    """Pids were given to others, a port was taken: neither is touched, the data are there."""
    with Kube.from_kubeconfig(own.start(lambda _: programs).kubeconfig) as kube:
        kube.apply(config_map("across-a-reboot"), manager="test")
    own.stop()
    ports = json.loads((own.folder / "ports.json").read_text())
    stranger = start([sys.executable, "-c", "import time; time.sleep(300)"], own.folder / "logs/stranger.log")
    try:
        for name in MEMBERS:
            save(Process(stranger.pid, "1234@another-boot"), own.folder / f"{name}.pid")
        with socket.socket() as taken:
            take(taken, ports["etcd"])
            running = own.start(lambda _: programs)
        assert running.started == tuple(MEMBERS)
        assert stranger.alive()
        assert json.loads((own.folder / "ports.json").read_text()) != ports
        with Kube.from_kubeconfig(running.kubeconfig) as kube:
            assert kube.get("v1", "ConfigMap", "across-a-reboot", "default")["data"] == {"kept": "yes"}
    finally:
        stranger.stop()


def test_a_port_lost_to_somebody_else_is_replaced_by_all(own: SimulatedCluster, programs: Programs) -> None:
    """Only the scheduler is down, but the new ports are for everybody."""
    own.start(lambda _: programs)
    ports = json.loads((own.folder / "ports.json").read_text())
    scheduler = pids(own)["kube-scheduler"]
    assert scheduler
    os.kill(scheduler, signal.SIGKILL)
    assert ended(scheduler)
    with socket.socket() as taken:
        take(taken, ports["kube-scheduler"])
        assert own.start(lambda _: programs).started == tuple(MEMBERS)
    assert not set(json.loads((own.folder / "ports.json").read_text()).values()) & set(ports.values())


@pytest.mark.parametrize("runs", [True, False])
def test_certificates_of_an_older_version_are_replaced(own: SimulatedCluster, programs: Programs, runs: bool) -> None:
    """Its members start again with the new ones, on the same ports and the same data."""
    before = own.start(lambda _: programs)
    with Kube.from_kubeconfig(before.kubeconfig) as kube:
        kube.apply(config_map(f"older-{runs}".lower()), manager="test")
    if not runs:
        own.stop()
    (own.folder / "pki/complete").write_text("2")
    (own.folder / "pki/front-proxy-ca.crt").unlink()  # which that version did not have
    authority = (own.folder / "pki/ca.crt").read_bytes()
    running = own.start(lambda _: programs)
    assert (running.started, running.server) == (tuple(MEMBERS), before.server)
    assert (own.folder / "pki/ca.crt").read_bytes() != authority
    with Kube.from_kubeconfig(running.kubeconfig) as kube:
        assert kube.get("v1", "ServiceAccount", "default", "default")
        assert kube.get("v1", "ConfigMap", f"older-{runs}".lower(), "default")["data"] == {"kept": "yes"}


def test_members_outlive_the_command_and_stop_from_another(own: SimulatedCluster, programs: Programs) -> None:
    own.stop()
    assets = {str(path.parent) for path in programs.programs.values()}
    path = os.pathsep.join([*assets, os.environ["PATH"]])
    command = [sys.executable, "-m", "workbench", "cluster", "start", "--state-dir", str(own.folder.parent)]
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, start_new_session=True, check=True
    )
    assert f"export KUBECONFIG={own.kubeconfig}" in done.stderr
    assert done.stdout == ""
    assert all(member.running for member in own.status())
    assert len(own.stop()) == len(MEMBERS)


def test_a_killed_start_is_taken_up(own: SimulatedCluster, programs: Programs) -> None:
    assets = {str(path.parent) for path in programs.programs.values()}
    path = os.pathsep.join([*assets, os.environ["PATH"]])
    command = [sys.executable, "-m", "workbench", "cluster", "start", "--state-dir", str(own.folder.parent)]
    for seconds in (0.4, 0.8, 1.5, 2.2):
        own.stop()
        child = subprocess.Popen(
            command, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(seconds)
        child.kill()
        child.wait()
        running = own.start(lambda _: programs)
        assert all(member.running for member in own.status())
        assert len(running_with(f"={own.folder}/")) == len(MEMBERS)
        with Kube.from_kubeconfig(running.kubeconfig) as kube:
            assert kube.get("v1", "ServiceAccount", "default", "default")


def test_commands(own: SimulatedCluster, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    runner, where = CliRunner(), ["--state-dir", str(own.folder.parent)]
    own.start(lambda _: programs)
    shown = runner.invoke(commands.app, ["status", *where])
    assert shown.exit_code == 0
    for name, pid in pids(own).items():
        line = next(line for line in shown.stdout.splitlines() if line.split()[:1] == [name])
        assert line.split()[1:] == ["running", str(pid)]
    again = runner.invoke(commands.app, ["start", *where])
    assert again.exit_code == 0
    assert "already running" in again.stderr
    kwok = pids(own)["kwok"]
    assert kwok
    os.kill(kwok, signal.SIGKILL)
    assert ended(kwok)
    shown = runner.invoke(commands.app, ["status", *where])
    assert shown.exit_code == 1
    assert next(line for line in shown.stdout.splitlines() if "kwok" in line).split()[1:3] == ["stopped", "-"]
    assert "stopped kube-scheduler" in runner.invoke(commands.app, ["stop", *where]).stderr
    assert "nothing was running" in runner.invoke(commands.app, ["stop", *where]).stderr
