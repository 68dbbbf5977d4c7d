"""A command on a terminal of its own: what it shows, what it reads, and how it leaves the terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.commands.support import ROOT

_SECONDS = 30.0


class Terminal:
    """The other side of the terminal."""

    def __init__(self, descriptor: int, line: int, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._descriptor, self._line = descriptor, line
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until something is shown that was not before this call."""
        seen, deadline = "", time.monotonic() + _SECONDS
        while text not in seen:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.shown[-2000:]!r}"
            if select.select([self._descriptor], [], [], 0.1)[0]:
                seen += os.read(self._descriptor, 65536).decode(errors="replace")
                self.shown += seen

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._line, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def mode(self) -> list[Any]:
        return termios.tcgetattr(self._line)

    def ended(self) -> int:
        """Read to the end, and return the exit code."""
        deadline = time.monotonic() + _SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "it does not end"
            if select.select([self._descriptor], [], [], 0.1)[0]:
                self.shown += os.read(self._descriptor, 65536).decode(errors="replace")
        while select.select([self._descriptor], [], [], 0)[0]:
            self.shown += os.read(self._descriptor, 65536).decode(errors="replace")
        return self.process.returncode


@contextmanager
def on_terminal(*arguments: str | Path, lines: int = 30, columns: int = 120) -> Iterator[Terminal]:
    """Run a command of the workbench on a terminal of some size."""
    descriptor, line = pty.openpty()
    command = [sys.executable, "-m", "workbench", *map(str, arguments)]
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        env.pop(name, None)
    fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def own() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background of a script ignores it

    process = subprocess.Popen(command, stdin=line, stdout=line, stderr=line, env=env, preexec_fn=own)
    try:
        yield Terminal(descriptor, line, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(descriptor)
        os.close(line)
