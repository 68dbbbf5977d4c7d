"""Commands of the workbench in processes of their own, without the second that each takes to import its modules.

A server imports all modules once and forks for each command. The command gets the streams, the folder, the
environment and the words that it is given, and ends as any process does. Only the start of Python is missing, which
`tests/installed` and `tests/layers` are about. The code is always that of this checkout: a test of a project with
code of its own starts Python itself. The server ends with the process of the tests, whose socket it reads.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_PACKAGES = ("components", "stacks", "workbench")
_REQUEST_BYTES = 1 << 20
"""The most bytes of one request: the words of a command and its environment."""


class Started:
    """A command that runs."""

    def __init__(self, status: socket.socket) -> None:
        self._status = status

    def wait(self) -> int:
        """Wait until the command has ended, and return its exit code; negative for a signal."""
        with self._status:
            answer = self._status.recv(64)
        if not answer:
            message = "the process that starts commands has ended"
            raise RuntimeError(message)
        return int(answer)


def start(
    *words: str | Path,
    cwd: Path,
    env: Mapping[str, str],
    stdin: int,
    stdout: int,
    stderr: int,
    finds_folder: bool = True,
) -> Started:
    """Start a command of the workbench.

    Args:
        words: The words after ``workbench``.
        cwd: The folder in which it runs.
        env: Its whole environment.
        stdin: The descriptor that it reads.
        stdout: The descriptor that it writes to.
        stderr: The descriptor for its messages.
        finds_folder: Whether it can import modules from ``cwd``, as without ``python -P``.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = {"words": [*map(str, words)], "cwd": str(cwd), "env": {**env}, "finds_folder": finds_folder}
    with theirs:
        socket.send_fds(_server(), [json.dumps(request).encode()], [theirs.fileno(), stdin, stdout, stderr])
    return Started(ours)


def run(
    *words: str | Path, env: Mapping[str, str], cwd: Path = ROOT, given: bytes = b"", finds_folder: bool = True
) -> "subprocess.CompletedProcess[str]":
    """Run a command of the workbench, and return what it printed.

    Args:
        words: The words after ``workbench``.
        env: Its whole environment.
        cwd: The folder in which it runs.
        given: What it reads from stdin.
        finds_folder: Whether it can import modules from ``cwd``, as without ``python -P``.
    """
    # Files rather than pipes, because a command waits while a pipe is full, and the streams are read one by one.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        streams = {"stdin": stdin.fileno(), "stdout": stdout.fileno(), "stderr": stderr.fileno()}
        code = start(*words, cwd=cwd, env=env, finds_folder=finds_folder, **streams).wait()
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(
            ["workbench", *words], code, stdout.read().decode(), stderr.read().decode()
        )


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, cwd=ROOT, env=env, pass_fds=[theirs.fileno()])
    atexit.register(_stop, ours, process)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _REQUEST_BYTES)
    return ours


def _stop(requests: socket.socket, server: "subprocess.Popen[bytes]") -> None:
    """End the server, which it does when nobody can ask it any more."""
    requests.close()
    server.wait()


def _import_modules() -> None:
    for name in _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if not module.name.endswith(".__main__"):
                importlib.import_module(module.name)


@dataclass(frozen=True, kw_only=True)
class _Running:
    pid: int
    status: socket.socket


def _serve(requests: socket.socket) -> dict[str, Any] | None:
    """Fork for each request.

    Returns:
        In the process of a command, what was asked for; in the server, nothing, after the last request.
    """
    running: dict[int, _Running] = {}
    """By the descriptor of the process, which becomes readable when it ends."""
    while True:
        with selectors.DefaultSelector() as selector:
            for descriptor in (requests.fileno(), *running):
                selector.register(descriptor, selectors.EVENT_READ)
            ready = [key.fd for key, _ in selector.select()]
        for descriptor in ready:
            if ended := running.pop(descriptor, None):
                os.close(descriptor)
                _, status = os.waitpid(ended.pid, 0)
                with ended.status:
                    ended.status.send(str(os.waitstatus_to_exitcode(status)).encode())
        if requests.fileno() not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, 4)
        if not message:
            return None
        pid = os.fork()
        if not pid:
            for number, descriptor in enumerate(descriptors[1:]):
                os.dup2(descriptor, number)
            # Nothing of the server and of other commands stays open here.
            for descriptor in (requests.detach(), *descriptors, *running):
                os.close(descriptor)
            for other in running.values():
                other.status.close()
            found: dict[str, Any] = json.loads(message)
            return found
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        running[os.pidfd_open(pid)] = _Running(pid=pid, status=socket.socket(fileno=descriptors[0]))


def _become(request: Mapping[str, Any]) -> None:
    """Set what Python sets when it starts with ``-m workbench``."""
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.path[0:1] = [request["cwd"]] if request["finds_folder"] else []
    sys.argv = [str(ROOT / "workbench" / "__main__.py"), *request["words"]]
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if folder and (customized := Path(folder) / "sitecustomize.py").exists():
            runpy.run_path(str(customized))
    sys.modules["__main__"] = importlib.import_module("workbench.__main__")
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    reader, writer, errors = (
        io.FileIO(number, mode, closefd=False) for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    sys.stdin = io.TextIOWrapper(io.BufferedReader(reader), encoding, "surrogateescape")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(writer), encoding, "surrogateescape", line_buffering=os.isatty(1))
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(errors), encoding, "backslashreplace", line_buffering=True)


def _main() -> None:
    _import_modules()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page
    requests = socket.socket(fileno=int(sys.argv[1]))
    if request := _serve(requests):
        _become(request)
        sys.modules["__main__"].main()


if __name__ == "__main__":
    _main()
