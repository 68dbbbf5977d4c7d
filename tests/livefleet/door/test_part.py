"""The door as ``up`` starts it, beside a real API server: it follows the cluster, and outlives commands."""

import contextlib
import http.client
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from livefleet.door.keys import KEY
from livefleet.door.part import DoorPart
from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from tests.livefleet.door.objects import backend, gateway, route, to_backend
from tests.livefleet.door.pods import Backends, PodInTest
from tests.livefleet.door.running import endpoint_slice
from tests.monitoring.programs.daemon import eventually
from toolkit.errors import UserError
from toolkit.kube import Kube
from toolkit.process import saved

Object = dict[str, Any]
NAMESPACE = "envoy-gateway-system"
CLIENTS = {
    "apiVersion": "gateway.envoyproxy.io/v1alpha1",
    "kind": "SecurityPolicy",
    "metadata": {"name": "eg", "namespace": NAMESPACE},
    "spec": {
        "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "eg"}],
        "apiKeyAuth": {
            "credentialRefs": [{"group": "", "kind": "Secret", "name": "door-clients"}],
            "extractFrom": [{"headers": ["Authorization"]}],
        },
    },
}


def fleet(*more: Object) -> LiveFleet:
    own = (*gateway(NAMESPACE), backend("door-m", 80, NAMESPACE), route(to_backend("door-m"), namespace=NAMESPACE))
    return LiveFleet("t", door=(*own, CLIENTS, *more))


def up(folder: LiveFolder, of: LiveFleet) -> str:
    folder.write_fleet(of)
    DoorPart().start(folder, of, lambda _: None)
    return folder.addresses().door


def asked(folder: LiveFolder, path: str = "/", key: str | None = None) -> tuple[int, str]:
    url = folder.addresses().door
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    given = (folder.path / KEY).read_text() if key is None else key
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {given}"} if given else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def put_pods(kube: Kube, *pods: str) -> None:
    kube.apply(endpoint_slice("door-m", *pods, namespace=NAMESPACE), manager="test")


def pid(folder: LiveFolder, name: str) -> int:
    process = saved(folder.pid_file(name))
    assert process
    return process.pid


def test_it_follows_pods_and_takes_the_key_that_it_made(folder: LiveFolder, kube: Kube, backends: Backends) -> None:
    with PodInTest("one", keeps=False) as one, PodInTest("two", keeps=False) as two:
        backends.at = {"10.244.9.1:8080": one.address, "10.244.9.2:8080": two.address}
        put_pods(kube, "10.244.9.1")
        up(folder, fleet())
        eventually(lambda: asked(folder) == (200, "one"), "the pod answers")
        assert asked(folder, key="")[0] == 401
        assert asked(folder, key="another")[0] == 401
        put_pods(kube, "10.244.9.2")
        eventually(lambda: asked(folder) == (200, "two"), "the other pod answers")
    backends.at = {}
    put_pods(kube)
    eventually(lambda: asked(folder)[0] == 503, "503 without a pod")
    key = folder.path / KEY
    assert key.stat().st_mode & 0o077 == 0
    written = [file for file in folder.path.rglob("*") if file.is_file() and file != key]
    assert not [file for file in written if key.read_bytes() in file.read_bytes()]


def test_a_secret_that_is_there_is_not_touched(folder: LiveFolder, kube: Kube) -> None:
    metadata = {"name": "door-clients", "namespace": NAMESPACE}
    given = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"me": "my-own-key"}}
    kube.create(given)
    up(folder, fleet())
    assert (folder.path / KEY).read_text() == "my-own-key"
    assert list(kube.get("v1", "Secret", "door-clients", NAMESPACE)["data"]) == ["me"]
    assert asked(folder, key="my-own-key")[0] == 503


def test_what_was_killed_is_started_again_at_the_same_address(folder: LiveFolder) -> None:
    url = up(folder, fleet())
    first = {name: pid(folder, name) for name in ("envoy", "door")}
    assert up(folder, fleet()) == url
    assert {name: pid(folder, name) for name in first} == first
    os.kill(first["envoy"], signal.SIGKILL)
    eventually(lambda: _ended(first["envoy"]), "Envoy has ended")
    assert up(folder, fleet()) == url
    assert pid(folder, "envoy") != first["envoy"]
    assert pid(folder, "door") == first["door"]
    os.kill(first["door"], signal.SIGKILL)
    eventually(lambda: _ended(first["door"]), "the process has ended")
    # Envoy works on with what it was told last.
    assert asked(folder)[0] == 503
    assert up(folder, fleet()) == url
    assert set(DoorPart().stop(folder)) == {"envoy", "door"}
    assert folder.addresses().door == ""
    assert DoorPart().stop(folder) == ()
    assert up(folder, fleet()) == url


def _ended(number: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(number, os.WNOHANG)
    return not Path(f"/proc/{number}").exists()


def test_a_broken_object_is_named_and_changes_nothing(folder: LiveFolder, kube: Kube, backends: Backends) -> None:
    with PodInTest("one", keeps=False) as one:
        backends.at = {"10.244.9.1:8080": one.address}
        put_pods(kube, "10.244.9.1")
        up(folder, fleet())
        eventually(lambda: asked(folder) == (200, "one"), "the pod answers")
        listener = {"name": "http", "protocol": "HTTP", "port": 99999}
        broken = [*gateway(NAMESPACE)]
        broken[1]["spec"]["listeners"] = [listener]
        others = [each for each in fleet().door if each["kind"] != "Gateway"]
        with pytest.raises(UserError) as error:
            up(folder, replace(fleet(), door=(*others, broken[1])))
        assert "as it was before" in str(error.value)
        assert 'Gateway.gateway.networking.k8s.io "eg" is invalid: spec.listeners[0].port' in str(error.value)
        assert asked(folder) == (200, "one")
        missing = route(to_backend("absent"), name="other", path="/other", namespace=NAMESPACE)
        with pytest.raises(UserError, match=rf"HTTPRoute {NAMESPACE}/other: ResolvedRefs is False, BackendNotF"):
            up(folder, fleet(missing))
        assert asked(folder) == (200, "one")


def test_no_request_is_lost_while_routes_change(folder: LiveFolder, kube: Kube, backends: Backends) -> None:
    with PodInTest("one") as one:
        backends.at = {"10.244.9.1:8080": one.address}
        put_pods(kube, "10.244.9.1")
        up(folder, fleet())
        eventually(lambda: asked(folder) == (200, "one"), "the pod answers")
        found: list[tuple[int, str]] = []
        end = threading.Event()

        def ask_on() -> None:
            while not end.is_set():
                found.append(asked(folder))

        clients = [threading.Thread(target=ask_on) for _ in range(2)]
        for each in clients:
            each.start()
        try:
            for number in range(3):
                more = route(to_backend("door-m"), name=f"a{number}", path=f"/a{number}", namespace=NAMESPACE)
                up(folder, fleet(more))
                assert asked(folder, f"/a{number}") == (200, "one")
        finally:
            end.set()
            for each in clients:
                each.join()
        assert len(found) > 50
        assert set(found) == {(200, "one")}
