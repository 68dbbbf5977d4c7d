"""Servers that stand for pods: each answers with its name, and takes its connections along when it ends."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class PodInTest:
    """A server on loopback.

    Args:
        name: What it answers.
        keeps: Whether its connections stay open between requests.
    """

    def __init__(self, name: str, *, keeps: bool = True) -> None:
        handler = type("Handler", (_Handler,), {"name": name, "keeps": keeps})
        self._server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.address = f"127.0.0.1:{self._server.server_address[1]}"

    def end(self) -> None:
        """End as a process does: with all its connections."""
        self._server.shutdown()
        self._server.server_close()
        for each in list(self._server.connections):
            with_reset(each)

    def __enter__(self) -> "PodInTest":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def with_reset(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was first


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    name = ""
    keeps = True

    def do_GET(self) -> None:
        self.send_response(200)
        if not self.keeps:
            self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(self.name)))
        self.end_headers()
        self.wfile.write(self.name.encode())

    def log_message(self, *_: object) -> None:
        pass


class Backends:
    """Stands for the process behind the pods: says where they listen."""

    def __init__(self) -> None:
        self.at: dict[str, str] = {}
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(owner.at).encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
