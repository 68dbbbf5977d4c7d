"""Responses that no API server sends: those of proxies and other servers are errors with their address."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from toolkit.kube import Kube, KubeError

PODS = {"kind": "APIResourceList", "resources": [{"name": "pods", "kind": "Pod", "namespaced": True}]}
POD = {"metadata": {"name": "a", "namespace": "default", "labels": {"app": "a"}}}


class Server(http.server.ThreadingHTTPServer):
    """Responds to each path with given bytes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.responses: dict[str, tuple[int, bytes]] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        status, body = self.server.responses.get(self.path.partition("?")[0], (404, b"{}"))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def given(server: Server, resources: Any, pods: Any) -> Kube:
    """Return a client of a server that responds with these values, or bytes, to discovery and to a list of pods."""
    for path, value in (("/api/v1", resources), ("/api/v1/pods", pods)):
        server.responses[path] = (200, value if isinstance(value, bytes) else json.dumps(value).encode())
    return Kube(server.address, None)


def test_a_list_as_an_api_server_sends_it(server: Server) -> None:
    with given(server, PODS, {"items": [POD], "metadata": {}}) as kube:
        assert kube.list("v1", "Pod") == [POD]
    with given(server, PODS, {"items": None, "metadata": None}) as kube:
        assert kube.list("v1", "Pod") == []


@pytest.mark.parametrize(
    "resources",
    [
        b"<html>Sign in</html>",
        b"\xff",
        b"[" * 100_000,
        [],
        {"resources": 1},
        {"resources": ["pods"]},
        {"resources": [{"name": "pods"}]},
        {"resources": [{"name": 1, "kind": "Pod", "namespaced": True}]},
    ],
)
def test_discovery(server: Server, resources: Any) -> None:
    with given(server, resources, {}) as kube, pytest.raises(KubeError) as wrong:
        kube.list("v1", "Pod")
    assert wrong.value.unreachable
    assert wrong.value.message.startswith(f"{server.address} responded with something else than ")


@pytest.mark.parametrize(
    "pods",
    [
        b"<html>Sign in</html>",
        b'{"items": [',
        {"items": {"a": 1}},
        {"items": ["a"]},
        {"items": [{}]},
        {"items": [{"metadata": {"name": 1}}]},
        {"items": [{"metadata": {"name": "a", "labels": ["x"]}}]},
        {"items": [{"metadata": {"name": "a", "annotations": {"x": 1}}}]},
        {"items": [], "metadata": 1},
    ],
)
def test_lists(server: Server, pods: Any) -> None:
    with given(server, PODS, pods) as kube, pytest.raises(KubeError, match="responded with something else than"):
        kube.list("v1", "Pod")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message": 5, "reason": [], "details": []}', "5"),
        (b'{"details": {"causes": [1, {"field": 2, "message": 3}]}}', ""),
        (b"<html>no</html>", "<html>no</html>"),
    ],
)
def test_errors(server: Server, body: bytes, message: str) -> None:
    server.responses["/api/v1"] = (500, body)
    with Kube(server.address, None) as kube, pytest.raises(KubeError) as wrong:
        kube.list("v1", "Pod")
    assert (wrong.value.status, wrong.value.message) == (500, message)


def test_health_is_text(server: Server) -> None:
    server.responses["/readyz"] = (200, b"ok")
    with Kube(server.address, None) as kube:
        assert kube.succeeds("/readyz")
        assert not kube.succeeds("/livez")
