"""Envoy's administration, at a socket in the private folder: what it has taken of the files."""

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
