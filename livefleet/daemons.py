"""Programs that outlive the command that starts them: started once, found again by the next command, and stopped."""

import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from toolkit.errors import UserError
from toolkit.ports import LOOPBACK, free_ports
from toolkit.private import write_private
from toolkit.process import Process, running_with, save, saved, start, start_time
from toolkit.toolchain import tail
from toolkit.waiting import wait_until

from .folder import LiveFolder

_READY_SECONDS = 30.0


def keep_running(folder: LiveFolder, name: str, command: Sequence[str], ready: Callable[[], bool]) -> bool:
    """Start a program and return when it is ready; return False where it runs already, started with these words.

    Its files lie in the folder of its name, which is in one of its arguments: that is how one is found that was
    started by a command which was killed before it noted the process.

    Raises:
        UserError: it ended or did not become ready; the message holds the end of its log.
    """
    words = _words_file(folder, name)
    process = running_daemon(folder, name)
    if process and words.exists() and json.loads(words.read_text()) == list(command) and ready():
        return False
    stop_daemon(folder, name)
    write_private(words, json.dumps(list(command)).encode())
    log = folder.log(name)
    begin = log.stat().st_size if log.exists() else 0
    process = start(command, log)
    save(process, folder.pid_file(name))
    if wait_until(lambda: not process.alive() or ready(), _READY_SECONDS) and process.alive():
        return True
    ended = "exited right after its start" if not process.alive() else f"was not ready after {_READY_SECONDS:.0f} s"
    stop_daemon(folder, name)
    shown = tail(log.read_bytes()[begin:].decode(errors="replace"))
    raise UserError(f"{name} {ended}; end of {log}:\n{shown}")


def running_daemon(folder: LiveFolder, name: str) -> Process | None:
    """Return the process of a program; None where it does not run."""
    process = saved(folder.pid_file(name))
    return process if process and process.alive() else None


def stop_daemon(folder: LiveFolder, name: str) -> bool:
    """End a program, and those that nobody noted; return whether one ran."""
    noted = running_daemon(folder, name)
    unnoted = [Process(pid, start_time(pid) or "") for _, pid in running_with(f"{_own(folder, name)}/")]
    processes = {process.pid: process for process in (*unnoted, *([noted] if noted else []))}
    for process in processes.values():
        process.stop()
    folder.pid_file(name).unlink(missing_ok=True)
    _words_file(folder, name).unlink(missing_ok=True)
    return bool(processes)


def kept_port(folder: LiveFolder, name: str) -> int:
    """Return the port of a program: the one that it had before, unless that was lost to somebody else."""
    file = _own(folder, name) / "port"
    try:
        port = int(file.read_text())
    except (OSError, ValueError):
        port = 0
    if not port or (running_daemon(folder, name) is None and listens(port)):
        (port,) = free_ports(1)
        write_private(file, str(port).encode())
    return port


def listens(port: int) -> bool:
    """Say whether somebody listens on a port of loopback."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def _own(folder: LiveFolder, name: str) -> Path:
    return folder.path.resolve() / name


def _words_file(folder: LiveFolder, name: str) -> Path:
    return folder.path / f"{name}.command"
