"""The simulated cluster: started, repaired, stopped and asked for its state by any process."""

import fcntl
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import WorkbenchError
from .access import grant
from .binaries import Found
from .members import MEMBERS, PORTS, Layout
from .pki import ADMIN, IDENTITIES, LOOPBACK, Pki, kubeconfig, write_private
from .process import Process, save, saved, start

_READY_SECONDS = 60.0
_LOG_LINES = 15

Progress = Callable[[str], None]
Finder = Callable[[Progress], Found]


@dataclass(frozen=True, slots=True)
class Member:
    """One member as ``status`` reports it."""

    name: str
    pid: int | None
    log: Path

    @property
    def running(self) -> bool:
        """Whether its process is alive."""
        return self.pid is not None


@dataclass(frozen=True, slots=True)
class Running:
    """A cluster that answers."""

    kubeconfig: Path
    server: str
    started: tuple[str, ...]
    """The members that had to be started; empty when all were running."""


class Cluster:
    """A control plane whose files all lie under ``folder``.

    Starting is idempotent: members that run are left alone, a crashed one is started again with its
    certificates, ports and data. Nothing but its own processes is ever signalled.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve() / "cluster"
        self.kubeconfig = folder.resolve() / "kubeconfig"

    def start(self, find: Finder, progress: Progress = lambda _: None) -> Running:
        """Start what does not run and return when the API server serves and the default namespace is ready.

        Raises:
            WorkbenchError: a member ended or did not become ready; the message holds the end of its log.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            layout = self._layout(progress)
            missing = [name for name in MEMBERS if self._process(name) is None]
            found = find(progress) if missing else None
            for name in MEMBERS:
                if found and name in missing:
                    progress(f"starting {name}")
                    self._start(name, found, layout)
                if name == "kube-apiserver":
                    self._await_ready(layout, progress)
                    grant(layout)
            self._check_members()
            write_private(self.kubeconfig, layout.kubeconfig(ADMIN.file).read_bytes())
            return Running(self.kubeconfig, layout.server, tuple(missing))

    def stop(self) -> tuple[str, ...]:
        """Stop the members that run, in reverse order, and return their names. Data and certificates stay."""
        if not self.folder.exists():
            return ()
        with self._locked():
            stopped = []
            for name in reversed(list(MEMBERS)):
                process = self._process(name)
                if process:
                    process.stop()
                    stopped.append(name)
                self._pid_file(name).unlink(missing_ok=True)
            return tuple(stopped)

    def status(self) -> tuple[Member, ...]:
        """Say which members run."""
        processes = {name: self._process(name) for name in MEMBERS}
        return tuple(
            Member(name, process.pid if process else None, self._log(name))
            for name, process in processes.items()
        )

    def _layout(self, progress: Progress) -> Layout:
        pki = Pki(self.folder / "pki")
        if not (pki.folder / "complete").exists():
            progress("making certificates")
        pki.ensure()
        layout = Layout(self.folder, pki, self._ports())
        for identity in IDENTITIES:
            write_private(layout.kubeconfig(identity.file), kubeconfig(pki, identity, layout.server).encode())
        return layout

    def _ports(self) -> dict[str, int]:
        """Free ports, picked once: a restarted member must be found where the others look for it."""
        path = self.folder / "ports.json"
        if path.exists():
            ports: dict[str, int] = json.loads(path.read_text())
            if set(ports) == set(PORTS) and not self._taken_by_others(ports):
                return ports
        sockets = [socket.socket() for _ in PORTS]
        for listener in sockets:
            listener.bind((LOOPBACK, 0))
        ports = {name: listener.getsockname()[1] for name, listener in zip(PORTS, sockets, strict=True)}
        for listener in sockets:
            listener.close()
        write_private(path, json.dumps(ports).encode())
        return ports

    def _taken_by_others(self, ports: Mapping[str, int]) -> bool:
        """Whether, with no member running, somebody else listens on a port since."""
        if any(self._process(name) for name in MEMBERS):
            return False
        return any(_listening(port) for port in ports.values())

    def _start(self, name: str, found: Found, layout: Layout) -> None:
        command = [str(found.programs[name]), *MEMBERS[name](layout, found.stages)]
        save(start(command, self._log(name)), self._pid_file(name))

    def _await_ready(self, layout: Layout, progress: Progress) -> None:
        progress("waiting for the API server")
        context = ssl.create_default_context(cafile=str(layout.pki.authority))
        context.load_cert_chain(layout.pki.certificate(ADMIN.file), layout.pki.key(ADMIN.file))
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            self._check_members("etcd", "kube-apiserver")
            try:
                with urllib.request.urlopen(f"{layout.server}/readyz", context=context, timeout=5) as answer:  # noqa: S310
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.1)
        raise WorkbenchError(
            f"the API server was not ready after {_READY_SECONDS:.0f} s\n{self._tail('kube-apiserver')}"
        )

    def _check_members(self, *names: str) -> None:
        for name in names or MEMBERS:
            if self._process(name) is None:
                raise WorkbenchError(
                    f"{name} ended right after its start; the end of {self._log(name)}:\n{self._tail(name)}\n"
                    "Run `workbench cluster start` again; if it stays, remove the state directory."
                )

    def _tail(self, name: str) -> str:
        log = self._log(name)
        return (
            "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:])
            if log.exists()
            else "(no log)"
        )

    def _process(self, name: str) -> Process | None:
        process = saved(self._pid_file(name))
        return process if process and process.alive() else None

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"

    def _log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One command at a time; the lock goes with the process that holds it."""
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
