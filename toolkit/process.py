"""Background processes that outlive the command that started them, identified by pid and start time."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .private import write_private

_STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Process:
    """A started process. The start time distinguishes it from later processes with the same pid."""

    pid: int
    started: str

    def alive(self) -> bool:
        """Return whether this process still runs."""
        return start_time(self.pid) == self.started

    def stop(self) -> None:
        """Terminate the process, then kill it. Never signals another process."""
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            if not self.alive():
                return
            os.kill(self.pid, signal_number)
            deadline = time.monotonic() + _STOP_SECONDS
            while self.alive() and time.monotonic() < deadline:
                _reap(self.pid)
                time.sleep(0.02)


def flags(values: Mapping[str, object]) -> list[str]:
    """Return command line arguments ``--name=value``."""
    return [f"--{name}={value}" for name, value in values.items()]


def start(command: Sequence[str], log: Path) -> Process:
    """Start ``command`` in its own session, so that it survives the terminal."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd=log.parent,
        )
    # The process outlives this object and is reaped by its pid; Popen must neither wait for it nor warn.
    child.returncode = 0
    started = start_time(child.pid)
    return Process(child.pid, started or "")


def save(process: Process, path: Path) -> None:
    """Save a process for later commands."""
    write_private(path, json.dumps(asdict(process)).encode())


def saved(path: Path) -> Process | None:
    """Return the process saved in ``path``; None if the file is missing or invalid."""
    try:
        return Process(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def running_with(argument: str) -> list[tuple[str, int]]:
    """Return ``(program, pid)`` of the user's processes with ``argument`` in one of their arguments.

    Returns none on systems without /proc.
    """
    processes = []
    for entry in sorted(Path("/proc").glob("[0-9]*")):
        try:
            owner, arguments = entry.stat().st_uid, (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it ended meanwhile
            continue
        if owner == os.getuid() and any(argument.encode() in text for text in arguments[1:]):
            processes.append((Path(os.fsdecode(arguments[0])).name, int(entry.name)))
    return processes


def start_time(pid: int) -> str | None:
    """Return an opaque start time to compare; None without a process, or for a zombie."""
    _reap(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        if Path("/proc/self").exists():
            return None
        # For systems without /proc (macOS).
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        return completed.stdout.strip() or None
    state, clock_ticks = fields[0], fields[19]  # fields 3 and 22 of proc_pid_stat(5)
    # Start times count from boot, so that an old record could match after a reboot.
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state == "Z" else f"{clock_ticks}@{boot_id}"


def _reap(pid: int) -> None:
    """Reap an ended child of this process."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except (ChildProcessError, PermissionError):
        return
