"""Responses that no API server sends: those of proxies and other servers are errors with their address."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from toolkit.kube import Kube, KubeError, MalformedObject, MalformedObjectError

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

    def do_PATCH(self) -> None:
        self.do_GET()

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
        {"items": [], "metadata": {"continue": 1}},
        {"items": [{"metadata": {"name": "a", "uid": []}}]},
        {"items": [{"metadata": {"name": "a"}, "spec": {"containers": ["a"]}}]},
        {"items": [{"metadata": {"name": "a"}, "status": {"conditions": {}}}]},
        {"items": [{"metadata": {"name": "a", "managedFields": [{"fieldsV1": {"k:[": {}}}]}}]},
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
        (b"[" * 100_000, "[" * 500),
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


def test_an_answer_of_another_type_names_object_and_field(server: Server) -> None:
    wrong = {"metadata": {"name": "b", "namespace": "x"}, "spec": {"nodeName": 5}}
    message = r"Pod x/b: spec\.nodeName must be a string, found 5"
    with given(server, PODS, {"items": [POD, wrong]}) as kube, pytest.raises(KubeError, match=message):
        kube.list("v1", "Pod")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("b", "Pod (item 2): it must have a name"),
        ({"metadata": {"name": "b", "labels": ["x"]}}, "Pod b: it must have a name, and maps of text as labels"),
        ({"metadata": {"name": "b", "uid": []}}, "Pod b: metadata.uid must be a string, found []"),
        ({"metadata": {"name": "b"}, "spec": {"containers": [None]}}, "Pod b: spec.containers[0] must be a map"),
        (
            {"metadata": {"name": "b"}, "status": {"conditions": [{"type": "Ready"}]}},
            "Pod b: status.conditions[0].status is required",
        ),
    ],
)
def test_a_reader_may_leave_out_what_cannot_be_read(server: Server, wrong: Any, named: str) -> None:
    unread: list[MalformedObject] = []
    with given(server, PODS, {"items": [POD, wrong, POD]}) as kube:
        assert kube.list("v1", "Pod", unread=unread) == [POD, POD]
    (malformed,) = unread
    assert str(malformed).startswith(named)


@pytest.mark.parametrize(
    "value",
    [["zanzibar-quokka1"], {"password": "zanzibar-quokka1"}, [f"hf_{'aB3' * 11}zanzibar"]],
    ids=["by the name of the variable", "by its key", "by its form"],
)
def test_no_secret_of_a_malformed_object_is_shown(server: Server, value: Any) -> None:
    wrong = {"metadata": {"name": "b"}, "spec": {"containers": [{"env": [{"name": "PGPASSWORD", "value": value}]}]}}
    with given(server, PODS, {"items": [wrong]}) as kube, pytest.raises(KubeError, match=r"env\[0\]\.value") as found:
        kube.list("v1", "Pod")
    assert "zanzibar" not in str(found.value)


def test_half_of_a_character_is_replaced(server: Server) -> None:
    server.responses["/api/v1"] = (200, json.dumps(PODS).encode())
    server.responses["/api/v1/pods"] = (
        200,
        b'{"items": [{"metadata": {"name": "a\\udcff", "uid": "\\ud83d\\ude42"}}]}',
    )
    with Kube(server.address, None) as kube:
        assert [pod["metadata"] for pod in kube.list("v1", "Pod")] == [{"name": "a?", "uid": "\U0001f642"}]


def test_a_null_is_the_same_as_absence(server: Server) -> None:
    pod = {**POD, "spec": {"volumes": [], "nodeName": None}, "status": {"conditions": None}}
    with given(server, PODS, {"items": [pod]}) as kube:
        assert kube.list("v1", "Pod") == [{**POD, "spec": {"volumes": []}, "status": {}}]


def test_partial_objects_have_metadata_only(server: Server) -> None:
    server.responses["/apis/apps/v1"] = (
        200,
        b'{"resources": [{"name": "deployments", "kind": "Deployment", "namespaced": true}]}',
    )
    server.responses["/apis/apps/v1/deployments"] = (200, json.dumps({"items": [POD]}).encode())
    with Kube(server.address, None) as kube:
        assert kube.list("apps/v1", "Deployment", metadata_only=True) == [POD]
        with pytest.raises(MalformedObjectError, match="spec is required"):
            kube.list("apps/v1", "Deployment")


@pytest.mark.parametrize("applied", [b"[]", {}, {"metadata": {"name": "a", "uid": 1}}])
def test_what_a_server_says_it_applied(server: Server, applied: Any) -> None:
    server.responses["/api/v1/namespaces/default/pods/a"] = (
        200,
        applied if isinstance(applied, bytes) else json.dumps(applied).encode(),
    )
    with given(server, PODS, {}) as kube, pytest.raises(KubeError, match="responded with something else than"):
        kube.apply({"apiVersion": "v1", "kind": "Pod", **POD}, manager="test")


def test_a_namespace_without_a_uid(server: Server) -> None:
    server.responses["/api/v1/namespaces/kube-system"] = (200, b'{"metadata": {"name": "kube-system"}}')
    resources = {"resources": [{"name": "namespaces", "kind": "Namespace", "namespaced": False}]}
    with (
        given(server, resources, {}) as kube,
        pytest.raises(KubeError, match=r"Namespace kube-system: metadata\.uid is required"),
    ):
        kube.uid()
