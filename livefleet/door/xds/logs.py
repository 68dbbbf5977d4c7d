"""Where Envoy is started: its sockets, and its log of requests, kept small."""

from pathlib import Path

from .admin import EnvoyAdmin

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
