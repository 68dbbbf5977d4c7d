"""Locks of the Pulumi file backend, and whether their holders are still running."""

import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

_PROGRAM = "pulumi"


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file of the CLI."""

    pid: int
    user: str
    host: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since}"

    @property
    def is_elsewhere(self) -> bool:
        """Whether the holder is on another machine."""
        return self.host != socket.gethostname()

    @property
    def is_dead(self) -> bool:
        """Whether the holder has exited; its pid may have been reused by another program."""
        return not self.is_elsewhere and _PROGRAM not in _command(self.pid)


def locks_of(backend: str, project: str, stack: str) -> list[Lock]:
    """Return the locks of a stack in a file backend; other backends handle their locks themselves."""
    url = urlsplit(backend)
    if url.scheme != "file" or not url.path.startswith("/"):
        return []
    folder = Path(unquote(url.path), ".pulumi", "locks", "organization", project, stack)
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Lock:
    """Read a lock; a truncated file counts as a lock whose holder has exited."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Lock(
            int(content["pid"]), str(content["username"]), str(content["hostname"]), str(content["timestamp"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return Lock(0, "?", socket.gethostname(), "?")


def _command(pid: int) -> str:
    """Return the command line of a process; empty if it does not exist."""
    if pid <= 0:
        return ""
    if Path("/proc/self").exists():
        try:
            return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes())
        except OSError:
            return ""
    completed = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return completed.stdout.strip()
