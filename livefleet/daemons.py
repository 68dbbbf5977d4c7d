"""Programs that outlive the command that starts them; later commands find and stop them."""

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
    """Start a program and return when it is ready; return False if it already runs with this command line.

    One of its arguments must contain the path of its folder: :func:`stop_daemon` finds by it a program whose command
    was killed before it saved the pid.

    Raises:
        UserError: it exited or did not become ready; the message ends with its log.
    """
    command_file = _command_file(folder, name)
    process = running_daemon(folder, name)
    if process and command_file.exists() and json.loads(command_file.read_text()) == list(command) and ready():
        return False
    stop_daemon(folder, name)
    write_private(command_file, json.dumps(list(command)).encode())
    log = folder.log(name)
    log_offset = log.stat().st_size if log.exists() else 0
    process = start(command, log)
    save(process, folder.pid_file(name))
    if wait_until(lambda: not process.alive() or ready(), _READY_SECONDS) and process.alive():
        return True
    ended = "exited right after its start" if not process.alive() else f"was not ready after {_READY_SECONDS:.0f} s"
    stop_daemon(folder, name)
    output = tail(log.read_bytes()[log_offset:].decode(errors="replace"))
    raise UserError(f"{name} {ended}; end of {log}:\n{output}")


def running_daemon(folder: LiveFolder, name: str) -> Process | None:
    process = saved(folder.pid_file(name))
    return process if process and process.alive() else None


def stop_daemon(folder: LiveFolder, name: str) -> bool:
    """Stop a program, including instances whose pid was not saved; return whether one ran."""
    known = running_daemon(folder, name)
    unknown = [Process(pid, start_time(pid) or "") for _, pid in running_with(f"{_program_folder(folder, name)}/")]
    processes = {process.pid: process for process in (*unknown, *([known] if known else []))}
    for process in processes.values():
        process.stop()
    folder.pid_file(name).unlink(missing_ok=True)
    _command_file(folder, name).unlink(missing_ok=True)
    return bool(processes)


def kept_port(folder: LiveFolder, name: str) -> int:
    """Return the port of a program: its previous one, unless another process took it."""
    file = _program_folder(folder, name) / "port"
    try:
        port = int(file.read_text())
    except (OSError, ValueError):
        port = 0
    if not port or (running_daemon(folder, name) is None and listens(port)):
        (port,) = free_ports(1)
        write_private(file, str(port).encode())
    return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def _program_folder(folder: LiveFolder, name: str) -> Path:
    return folder.path.resolve() / name


def _command_file(folder: LiveFolder, name: str) -> Path:
    return folder.path / f"{name}.command"
