"""The Envoy of the gateway: its command line, its files, its administration socket, and its access log."""

import http.client
import os
import re
import socket
import time
from pathlib import Path

_SECONDS = 5.0
_PAUSE = 0.01
_FILTER = "version_text$|warming_clusters$|total_listeners_warming$"
_LINE = re.compile(r"^(\S+): \"?([^\"\n]*)\"?$", re.MULTILINE)


class EnvoyAdmin:
    """The administration of one Envoy."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def settle(self, clusters: str, listeners: str) -> bool:
        """Wait until Envoy works with the versions of clusters and listeners; an empty one is any.

        Where none runs there is nothing to wait for. One that refuses a version keeps the last that it took, and says
        why in its log.
        """
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            found = self.stats(_FILTER)
            if found is None:
                return False
            taken = [
                (clusters, found.get("cluster_manager.cds.version_text")),
                (listeners, found.get("listener_manager.lds.version_text")),
            ]
            warming = (found.get(name) for name in _WARMING)
            if all(wanted in ("", has) for wanted, has in taken) and all(each in (None, "0") for each in warming):
                return True
            time.sleep(_PAUSE)
        return False

    def stats(self, pattern: str) -> dict[str, str] | None:
        """Return figures by name; None where no Envoy runs."""
        body = self.ask("GET", f"/stats?filter={pattern}")
        return None if body is None else dict(_LINE.findall(body))

    def ask(self, method: str, path: str) -> str | None:
        """Return an answer; None where no Envoy runs."""
        connection = _LocalConnection(self._path)
        try:
            connection.request(method, path)
            return connection.getresponse().read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


_WARMING = ("cluster_manager.warming_clusters", "listener_manager.total_listeners_warming")


class _LocalConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        # The path of a socket has at most 107 bytes; that of its folder's descriptor is short.
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            short = Path(f"/proc/self/fd/{folder}")
            self.sock.connect(str((short if short.exists() else self._path.parent) / self._path.name))
        finally:
            os.close(folder)


ACCESS, BOOTSTRAP = "access.log", "bootstrap.json"
SOCKET, XDS_SOCKET = "admin.sock", "xds.sock"
"""Relative to where Envoy is started: the path of a socket may have no more than 107 bytes."""
_LONGEST_SOCKET = 100
_MOST_BYTES = 50_000_000


def socket_path(path: Path) -> str:
    """Return a path at which one can listen: where it is too long, that within the folder, which one must be in."""
    return str(path) if len(str(path)) <= _LONGEST_SOCKET else path.name


class RequestLog:
    """The log, and the one before it.

    Args:
        folder: Where Envoy is started.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / ACCESS
        self._admin = EnvoyAdmin(folder / SOCKET)

    def shorten(self) -> None:
        """Begin a new file where it has become long."""
        if self._file.exists() and self._file.stat().st_size > _MOST_BYTES:
            self._file.replace(self._file.with_suffix(".log.1"))
            self._admin.ask("POST", "/reopen_logs")


_WORKERS = "2"
"""Each has connections of its own: as many as on a machine with two cores, wherever it runs."""


def envoy_command(envoy: Path, folder: Path) -> list[str]:
    """Return the command; it is started in the folder of the logs, where its sockets are."""
    command = [str(envoy), "--config-path", str(folder / BOOTSTRAP), "--concurrency", _WORKERS]
    return [*command, "--disable-hot-restart", "-l", "warning"]
