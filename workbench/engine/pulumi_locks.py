"""Locks of a file backend: who holds a stack, and whether that process still runs."""

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
    """One lock, as the CLI writes it."""

    pid: int
    user: str
    host: str
    since: str

    def __str__(self) -> str:
        """Name the holder."""
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since}"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it was taken on another machine, whose processes nobody here knows."""
        return self.host != socket.gethostname()

    @property
    def is_dead(self) -> bool:
        """Whether the process that took it has ended; its number may belong to another program by now."""
        return not self.is_elsewhere and _PROGRAM not in _command(self.pid)


def locks_of(backend: str, project: str, stack: str) -> list[Lock]:
    """Return the locks of a stack. Only those of a file backend can be seen; other backends speak for themselves."""
    url = urlsplit(backend)
    if url.scheme != "file" or not url.path.startswith("/"):
        return []
    folder = Path(unquote(url.path), ".pulumi", "locks", "organization", project, stack)
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Lock:
    """Read a lock; one that is cut off has no holder who could still be at work."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Lock(
            int(content["pid"]), str(content["username"]), str(content["hostname"]), str(content["timestamp"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return Lock(0, "?", socket.gethostname(), "?")


def _command(pid: int) -> str:
    """Return the command line of a process; empty where there is none, and of one that has ended."""
    if pid <= 0:
        return ""
    if Path("/proc/self").exists():
        try:
            return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes())
        except OSError:
            return ""
    shown = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip()
