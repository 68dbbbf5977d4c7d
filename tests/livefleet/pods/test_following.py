"""Following objects: what is there, what changes, and what was missed meanwhile."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube, KubeError
from toolkit.kube.errors import ClosedError
from toolkit.kube.following import WatchStep, follow
from toolkit.kube.transport import Transport
from workbench.cluster.cluster import Running

NAMESPACE = "default"


class Mirror:
    """What a follower knows, in a thread of its own."""

    def __init__(self, kube: Kube, kind: str) -> None:
        self.names: set[str] = set()
        self.relists = 0
        self.pauses: list[float] = []
        self.closed = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(kube, kind), daemon=True)
        self._thread.start()

    def _run(self, kube: Kube, kind: str) -> None:
        try:
            for step in follow(kube, "v1", kind, self.pauses.append):
                self._take(step)
        except ClosedError:
            self.closed.set()

    def _take(self, step: WatchStep) -> None:
        self.relists += step.relisted
        there = {each["metadata"]["name"] for each in step.objects if each["metadata"].get("namespace") == NAMESPACE}
        self.names = there if step.relisted else self.names | there
        if step.deleted:
            self.names.discard(step.deleted["metadata"]["name"])


def config_map(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE}}


@pytest.fixture
def client(cluster: Running) -> Iterator[Kube]:
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        yield kube


def test_everything_then_every_change(kube: Kube, client: Kube) -> None:
    kube.apply(config_map("before"), manager="test")
    mirror = Mirror(client, "ConfigMap")
    eventually(lambda: "before" in mirror.names, "what was there")
    kube.apply(config_map("after"), manager="test")
    eventually(lambda: "after" in mirror.names, "what was added")
    kube.delete("v1", "ConfigMap", "before", NAMESPACE)
    eventually(lambda: "before" not in mirror.names, "what was deleted")
    assert mirror.relists == 1
    kube.delete("v1", "ConfigMap", "after", NAMESPACE)
    client.close()
    assert mirror.closed.wait(30)


def test_a_watch_that_ends_goes_on_where_it_was(kube: Kube, client: Kube, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.kube.client._WATCH_SECONDS", 1)
    mirror = Mirror(client, "ConfigMap")
    eventually(lambda: mirror.relists == 1, "the start")
    for name in ("one", "two", "three"):
        kube.apply(config_map(name), manager="test")
        eventually(lambda n=name: n in mirror.names, name)  # type: ignore[misc]
        kube.delete("v1", "ConfigMap", name, NAMESPACE)
        eventually(lambda n=name: n not in mirror.names, name)  # type: ignore[misc]
    assert mirror.relists == 1


@contextmanager
def answering(*parts: bytes) -> Iterator[Transport]:
    """Connect to a server that says these parts and breaks off."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(2**16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)

        thread = threading.Thread(target=answer)
        thread.start()
        yield Transport(f"http://127.0.0.1:{server.getsockname()[1]}", None, {})
        thread.join()


WHOLE = b'{"type": "ADDED", "object": {}}\n'


def test_half_a_line_is_none() -> None:
    """As of an API server that is killed."""
    with answering(WHOLE, b'{"type": "MODI') as transport:
        lines = transport.lines("/", {}, 10)
        assert next(lines) == WHOLE
        with pytest.raises(KubeError, match="does not respond"):
            next(lines)


def test_what_is_read_after_the_client_was_closed_is_not_looked_at() -> None:
    """Of a TLS socket that was shut down, Python hands on what is not decrypted."""
    with answering(WHOLE, WHOLE) as transport:
        lines = transport.lines("/", {}, 10)
        assert next(lines) == WHOLE
        transport.close()
        with pytest.raises(ClosedError):
            next(lines)


def test_too_old_a_version_is_made_up_for(kube: Kube, client: Kube, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers 410 where it does not know a version any more; then everything is looked at again."""
    watched = client.watch
    refusals = [KubeError(410, "Expired", "too old resource version")]

    def watch(api_version: str, kind: str, since: str, _: str = "") -> Iterator[tuple[str, dict[str, object]]]:
        if refusals:
            kube.apply(config_map("missed"), manager="test")
            raise refusals.pop()
        return watched(api_version, kind, since)

    monkeypatch.setattr(client, "watch", watch)
    mirror = Mirror(client, "ConfigMap")
    eventually(lambda: mirror.relists == 2, "a second look at everything")
    eventually(lambda: "missed" in mirror.names, "what was missed")
    assert mirror.pauses == [0]
    kube.delete("v1", "ConfigMap", "missed", NAMESPACE)


def test_a_refused_version(client: Kube) -> None:
    """What the real server says to a version that cannot be; it must not be taken for an object."""
    with pytest.raises(KubeError) as error:
        list(client.watch("v1", "ConfigMap", "no version"))
    assert error.value.status == 500
    assert "resourceVersion: Invalid value" in error.value.message


def test_a_kind_that_is_not_served_has_no_objects(client: Kube) -> None:
    mirror = Mirror(client, "Nothing")
    eventually(lambda: mirror.relists > 1, "a second look")
    assert mirror.names == set()
    assert set(mirror.pauses) == {2.0}
