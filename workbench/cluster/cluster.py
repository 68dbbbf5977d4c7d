"""Starting, repairing, stopping and inspecting the simulated cluster, from any process."""

import fcntl
import json
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from components.contract.texts.outputs import shell_word
from livefleet import live_stages
from toolkit.kube import Kube
from toolkit.ports import LOOPBACK, free_ports
from toolkit.private import STATE_DIR, private_folder, write_private
from toolkit.process import Process, running_with, save, saved, start, start_time
from toolkit.waiting import wait_until

from ..errors import WorkbenchError
from .access import admin, grant, has_default_service_account, release_nodes, serves
from .binaries import Programs
from .binaries import find as find_programs
from .members import MEMBERS, PORTS, Layout, scheduling
from .pki import ADMIN, IDENTITIES, Pki, kubeconfig

_READY_SECONDS = 60.0
_KWOK_SECONDS = 10.0
_PORT_SECONDS = 3.0
_LOG_LINES = 15
_LAST_PORT = 65535
_NEXT_STEP = (
    "Run `workbench cluster start` again. If that does not help, run `workbench cluster stop` and delete the state "
    "directory; the next start creates a new, empty cluster."
)

Progress = Callable[[str], None]
Finder = Callable[[Progress], Programs]


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """The status of a member."""

    name: str
    pid: int | None
    log: Path

    @property
    def running(self) -> bool:
        return self.pid is not None


@dataclass(frozen=True, slots=True)
class Running:
    """A running cluster."""

    kubeconfig: Path
    server: str
    started: tuple[str, ...]
    """The members that had to be started; empty if all were running."""


class SimulatedCluster:
    """A control plane with all of its files in ``folder``.

    Starting is idempotent: running members are left alone, and crashed ones are restarted with their certificates,
    ports and data. Only its own processes are ever signalled.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve() / "cluster"
        self.kubeconfig = folder.resolve() / "kubeconfig"
        self._pki = Pki(self.folder / "pki")
        self._stages = KwokStages(self.folder)
        self._log_start: dict[str, int] = {}

    def start(
        self, find: Finder = find_programs, progress: Progress = lambda _: None, *, live: bool | None = None
    ) -> Running:
        """Start missing members, and return when pods can be created and scheduled.

        Args:
            find: Finds the programs.
            progress: Called with each step.
            live: Whether a live fleet decides which pods are Ready (:class:`KwokStages`); None keeps the setting.

        Raises:
            WorkbenchError: a member exited or did not become ready; the message contains the end of its log.
        """
        try:
            private_folder(self.folder)
        except OSError as error:
            raise WorkbenchError(
                f"the files of the cluster cannot be stored in {self.folder}: {error.strerror}; use another "
                "--state-dir"
            ) from None
        with self._locked():
            if not self._pki.complete:
                # Running members have loaded certificates that are now replaced.
                self._stop_members()
            missing = self._missing()
            if live is not None and live != self._stages.live:
                self._stop_member("kwok")
                self._stages.live = live
                missing = self._missing()
            if missing:
                # A command that was killed between starting a member and storing its pid leaves an unknown process,
                # which holds a port and the lock of the data.
                self._stop_orphans(missing)
            if missing and self._lost_port(missing):
                self._stop_members()
                self._ports_file.unlink(missing_ok=True)
                missing = self._missing()
            programs = find(progress) if missing else None
            layout = self._layout(progress)
            with admin(layout) as kube:
                if programs:
                    self._start_missing(missing, programs, layout, kube, progress)
                self._await_ready(missing, layout, kube, progress)
            self._check_members()
            write_private(self.kubeconfig, layout.kubeconfig(ADMIN.file).read_bytes())
            return Running(self.kubeconfig, layout.server, tuple(missing))

    def stop(self) -> tuple[str, ...]:
        """Stop running members in reverse order, and return their names. Data and certificates are kept."""
        if not self.folder.exists():
            return tuple(self._stop_orphans(MEMBERS))
        with self._locked():
            self._stages.live = False
            return self._stop_members()

    def _stop_members(self) -> tuple[str, ...]:
        stopped = []
        for name in reversed(list(MEMBERS)):
            stopped += [name] * self._stop_member(name)
            stopped += self._stop_orphans([name])
            self._pid_file(name).unlink(missing_ok=True)
        return tuple(stopped)

    def _stop_member(self, name: str) -> bool:
        """Stop a member; return whether it was running."""
        process = self._process(name)
        if process:
            process.stop()
        return process is not None

    def status(self) -> tuple[MemberStatus, ...]:
        processes = {name: self._process(name) for name in MEMBERS}
        return tuple(
            MemberStatus(name, process.pid if process else None, self._log(name))
            for name, process in processes.items()
        )

    def _missing(self) -> list[str]:
        return [name for name in MEMBERS if self._process(name) is None]

    def _layout(self, progress: Progress) -> Layout:
        if not self._pki.complete:
            progress("creating certificates")
        self._pki.ensure()
        layout = Layout(self.folder, self._pki, self._ports())
        for identity in IDENTITIES:
            write_private(layout.kubeconfig(identity.file), kubeconfig(self._pki, identity, layout.server).encode())
        write_private(layout.scheduling, scheduling(layout))
        return layout

    def _ports(self) -> dict[str, int]:
        """Return the ports, chosen once: a restarted member must listen on the port that the others connect to."""
        ports = self._known_ports()
        if not ports:
            ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
            write_private(self._ports_file, json.dumps(ports).encode())
        return ports

    def _known_ports(self) -> dict[str, int]:
        try:
            ports = json.loads(self._ports_file.read_text())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(ports, dict) or set(ports) != set(PORTS):
            return {}
        is_valid = all(type(port) is int and 0 < port <= _LAST_PORT for port in ports.values())
        return ports if is_valid else {}

    def _lost_port(self, missing: Sequence[str]) -> bool:
        """Whether another process listens on the port of a stopped member, or the ports are unknown."""
        ports = self._known_ports()

        def is_open(port: int) -> bool:
            with socket.socket() as probe:
                return probe.connect_ex((LOOPBACK, port)) == 0

        required = [port for name, port in ports.items() if name.removesuffix("-peer") in missing]
        # A killed process holds its port until its last thread has exited.
        return not ports or not wait_until(lambda: not any(map(is_open, required)), _PORT_SECONDS)

    @property
    def _ports_file(self) -> Path:
        return self.folder / "ports.json"

    def _start_missing(
        self, missing: Sequence[str], programs: Programs, layout: Layout, kube: Kube, progress: Progress
    ) -> None:
        for name in MEMBERS:
            if name in missing:
                progress(f"starting {name}")
                if name == "kwok":
                    release_nodes(kube)
                self._log_start[name] = self._log(name).stat().st_size if self._log(name).exists() else 0
                command = [str(programs.programs[name]), *MEMBERS[name](layout, self._stages.file(programs.stages))]
                save(start(command, self._log(name)), self._pid_file(name))
            if name == "kube-apiserver":
                self._await_member(name, lambda: kube.succeeds("/readyz"), progress)
                grant(kube)

    def _await_ready(self, missing: Sequence[str], layout: Layout, kube: Kube, progress: Progress) -> None:
        def kwok_is_connected() -> bool:
            with self._log("kwok").open("rb") as log:
                log.seek(self._log_start["kwok"])
                return b"Watch nodes" in log.read()

        self._await_member("kube-apiserver", lambda: kube.succeeds("/readyz"), progress)
        for name in ("kube-controller-manager", "kube-scheduler"):
            self._await_member(name, partial(serves, layout, name, "/healthz"), progress)
        self._await_member("kube-controller-manager", lambda: has_default_service_account(kube), progress)
        if "kwok" in missing:
            # kwok has no port; its log shows when it is connected to the API server.
            wait_until(kwok_is_connected, _KWOK_SECONDS, lambda: self._check_members("kwok"))

    def _await_member(self, name: str, condition: Callable[[], bool], progress: Progress) -> None:
        if condition():
            return
        progress(f"waiting for {name}")
        needed = ("etcd", "kube-apiserver") if name == "kube-apiserver" else (name,)
        if not wait_until(condition, _READY_SECONDS, lambda: self._check_members(*needed)):
            raise WorkbenchError(
                f"{name} was not ready after {_READY_SECONDS:.0f} s; end of {self._log(name)}:\n"
                f"{self._tail(name)}\n"
                f"{_NEXT_STEP}"
            )

    def _stop_orphans(self, names: Iterable[str]) -> list[str]:
        """Stop members of this folder without a pid file; their arguments contain the folder."""
        members = list(names)
        known = {process.pid for name in MEMBERS if (process := self._process(name))}
        orphans = [
            (name, pid) for name, pid in running_with(f"={self.folder}/") if name in members and pid not in known
        ]
        for _, pid in orphans:
            Process(pid, start_time(pid) or "").stop()
        return [name for name, _ in orphans]

    def _check_members(self, *names: str) -> None:
        for name in names or MEMBERS:
            if self._process(name) is None:
                raise WorkbenchError(
                    f"{name} exited right after its start; end of {self._log(name)}:\n"
                    f"{self._tail(name)}\n"
                    f"{_NEXT_STEP}"
                )

    def _tail(self, name: str) -> str:
        log = self._log(name)
        return "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:]) if log.exists() else "(no log)"

    def _process(self, name: str) -> Process | None:
        process = saved(self._pid_file(name))
        return process if process and process.alive() else None

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"

    def _log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the cluster, which the operating system releases if the process exits."""
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class KwokStages:
    """The stages that kwok plays: its own, or those of a live fleet.

    Args:
        folder: Folder of the cluster.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def live(self) -> bool:
        """Whether kwok plays the stages of a live fleet; stored until the cluster is stopped."""
        return self._note.exists()

    @live.setter
    def live(self, live: bool) -> None:
        if live:
            self._note.touch()
        else:
            self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self._folder / "kwok.live"

    def file(self, default: Path) -> Path:
        """Return the file of stages to start kwok with, given its own."""
        if not self.live:
            return default
        path = self._folder / "live-stages.yaml"
        path.write_text(live_stages(default.read_text()))
        return path


_NEEDED = ("etcd", "kube-apiserver")
"""Members without which the API is unavailable; without the others, nothing is scheduled, started or collected."""


def repair(kubeconfig: str | Path, *, needed: bool = False) -> str:
    """Return advice for a simulated cluster with stopped members; empty for other clusters.

    With ``needed``, consider only the members without which the API is unavailable.
    """
    if not isinstance(kubeconfig, Path):
        return ""
    cluster = SimulatedCluster(kubeconfig.parent)
    if cluster.kubeconfig != kubeconfig.resolve() or not cluster.folder.is_dir():
        return ""
    stopped = [member.name for member in cluster.status() if not member.running]
    if needed:
        stopped = [name for name in stopped if name in _NEEDED]
    if not stopped:
        return ""
    folder = kubeconfig.resolve().parent
    option = "" if folder.name == STATE_DIR else f" --state-dir {shell_word(str(folder))}"
    verb = "are" if len(stopped) > 1 else "is"
    return (
        f"{' and '.join(stopped)} of the simulated cluster {verb} not running; run `workbench cluster "
        f"start{option}`, which keeps its data"
    )
