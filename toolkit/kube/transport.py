"""Pooled HTTP connections to one API server."""

import contextlib
import http
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from urllib.parse import urlencode, urlsplit

from .errors import ClosedError, KubeError, error_in

_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)


class Transport:
    """Sends requests; thread-safe."""

    def __init__(self, server: str, context: ssl.SSLContext | None, headers: Mapping[str, str]) -> None:
        self.server = server
        self._context = context
        self._headers = {"Accept": "application/json", **headers}
        self._pool: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._streams: set[http.client.HTTPConnection] = set()
        self.closed = False
        """Whether the transport was closed, so that watches end."""

    def send(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: object,
        content_type: str,
        accept: str | None,
        timeout: float,
    ) -> tuple[int, bytes]:
        """Send a request and return status and body of the response.

        Raises:
            KubeError: the server did not respond.
        """
        url = self._prefix + path + (f"?{urlencode(params)}" if params else "")
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
            headers["Content-Type"] = content_type
        if accept:
            headers["Accept"] = accept
        while True:
            try:
                connection, reused = self._acquire(timeout)
            except http.client.HTTPException as error:
                raise self._unreachable(error) from error
            try:
                connection.request(method, url, data, headers)
                response = connection.getresponse()
                content = response.read()
            except _STALE as error:
                connection.close()
                if not reused:
                    raise self._unreachable(error) from error
                # The server closed an idle connection and has not seen this request: try another one.
                continue
            except (OSError, http.client.HTTPException, ValueError) as error:
                # ValueError: an address or a header that HTTP cannot send.
                connection.close()
                raise self._unreachable(error) from error
            if response.will_close:
                connection.close()
            else:
                self._release(connection)
            return response.status, content

    def lines(self, path: str, params: Mapping[str, str], timeout: float) -> Iterator[bytes]:
        """Send a GET with a streaming response on a new connection, and yield its lines.

        Raises:
            KubeError: the server rejected it, or (status 0) sent nothing for ``timeout`` seconds or disconnected.
            ClosedError: this client was closed.
        """
        try:
            connection = self._connection(timeout)
        except http.client.HTTPException as error:
            raise self._unreachable(error) from error
        try:
            connection.connect()
            self._streams.add(connection)
            connection.request("GET", f"{self._prefix}{path}?{urlencode(params)}", None, self._headers)
            response = connection.getresponse()
            if response.status >= http.HTTPStatus.BAD_REQUEST:
                raise error_in(response.status, response.read())
            while line := response.readline():
                if self.closed:  # data of a socket that was shut down is not decrypted
                    break
                if not line.endswith(b"\n"):
                    raise http.client.IncompleteRead(line)
                yield line
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self.closed:
                raise self._unreachable(error) from error
        finally:
            self._streams.discard(connection)
            connection.close()
        if self.closed:
            raise ClosedError(f"the client of {self.server} was closed")

    def close(self) -> None:
        """Close idle connections and streams."""
        self.closed = True
        for stream in tuple(self._streams):
            if stream.sock:
                with contextlib.suppress(OSError):
                    stream.sock.shutdown(socket.SHUT_RDWR)
        with self._lock:
            for connection in self._pool:
                connection.close()
            self._pool.clear()

    def _unreachable(self, error: Exception) -> KubeError:
        return KubeError(0, "Unreachable", f"the API server {self.server} does not respond: {error}")

    @property
    def _prefix(self) -> str:
        return urlsplit(self.server).path

    def _acquire(self, timeout: float) -> tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._pool:
                return self._pool.pop(), True
        return self._connection(timeout), False

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.server)
        host = parts.hostname or ""
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(host, parts.port, timeout=timeout)

    def _release(self, connection: http.client.HTTPConnection) -> None:
        """Return a connection to the pool, or close it if the transport was closed meanwhile."""
        with self._lock:
            if not self.closed:
                self._pool.append(connection)
                return
        connection.close()
