"""The gateway's Envoy: its command line, files, administration interface and access log."""

import http.client
import os
import re
import socket
import time
from pathlib import Path

_SECONDS = 5.0
_PAUSE = 0.01
_FILTER = "version_text$|warming_clusters$|total_listeners_warming$"
_WARMING = ("cluster_manager.warming_clusters", "listener_manager.total_listeners_warming")
_LINE = re.compile(r"^(\S+): \"?([^\"\n]*)\"?$", re.MULTILINE)


class EnvoyAdmin:
    """Client of an Envoy's administration interface."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def settle(self, clusters: str, listeners: str) -> bool:
        """Wait until Envoy uses the versions of clusters and listeners, and none of them is warming.

        Returns at once if Envoy does not run. If it rejects a version, it keeps the previous one and logs the reason.

        Args:
            clusters: Version of the clusters; empty for any.
            listeners: Version of the listeners; empty for any.

        Returns:
            Whether it happened within five seconds.
        """
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            stats = self.stats(_FILTER)
            if stats is None:
                return False
            uses_versions = all(
                version in ("", stats.get(name))
                for version, name in (
                    (clusters, "cluster_manager.cds.version_text"),
                    (listeners, "listener_manager.lds.version_text"),
                )
            )
            if uses_versions and all(stats.get(name, "0") == "0" for name in _WARMING):
                return True
            time.sleep(_PAUSE)
        return False

    def stats(self, pattern: str) -> dict[str, str] | None:
        """Return the statistics whose names match a regular expression; None if Envoy does not run."""
        body = self.request("GET", f"/stats?filter={pattern}")
        return None if body is None else dict(_LINE.findall(body))

    def request(self, method: str, path: str) -> str | None:
        """Return the body of a response; None if Envoy does not run."""
        connection = _LocalConnection(self._path)
        try:
            connection.request(method, path)
            return connection.getresponse().read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


class _LocalConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        # Linux limits the path of a socket to 107 bytes (``sun_path``). The path of the folder's descriptor is short.
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            short_path = Path(f"/proc/self/fd/{folder}")
            self.sock.connect(str((short_path if short_path.exists() else self._path.parent) / self._path.name))
        finally:
            os.close(folder)


ACCESS, BOOTSTRAP = "access.log", "bootstrap.json"
SOCKET, XDS_SOCKET = "admin.sock", "xds.sock"
"""Relative to Envoy's working directory, because the path of a socket is limited to 107 bytes."""
_LONGEST_SOCKET = 100
_MOST_BYTES = 50_000_000


def socket_path(path: Path) -> str:
    """Return a path to listen on: if it is too long, relative to its folder, which must be the working directory."""
    return str(path) if len(str(path)) <= _LONGEST_SOCKET else path.name


class RequestLog:
    """Envoy's access log, with one previous file.

    Args:
        folder: Working directory of Envoy.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / ACCESS
        self._admin = EnvoyAdmin(folder / SOCKET)

    def rotate(self) -> None:
        """Start a new file if the current one is too large."""
        if self._file.exists() and self._file.stat().st_size > _MOST_BYTES:
            self._file.replace(self._file.with_suffix(".log.1"))
            self._admin.request("POST", "/reopen_logs")


_WORKERS = "2"
"""Fixed, because each worker thread has its own connections: behaviour should not depend on the machine's cores."""


def envoy_command(envoy: Path, folder: Path) -> list[str]:
    """Return the command line; its working directory is the folder of the logs, with the sockets."""
    command = [str(envoy), "--config-path", str(folder / BOOTSTRAP), "--concurrency", _WORKERS]
    return [*command, "--disable-hot-restart", "-l", "warning"]
