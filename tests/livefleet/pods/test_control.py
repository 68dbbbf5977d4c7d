"""The control address: who may ask, and what it says to what it does not understand."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from livefleet.pods.control.server import ControlCredentials
from livefleet.pods.control.targets import targets_of_monitor
from tests.livefleet.pods.stand import Stand
from tests.monitoring.programs.daemon import eventually

Json = dict[str, Any]


@pytest.fixture
def playing(stand: Stand) -> Iterator[Stand]:
    monitor = {
        "metadata": {"name": "demo", "namespace": stand.namespace},
        "spec": {"selector": {"matchLabels": {"app": "demo"}}, "podMetricsEndpoints": [{"port": "http"}]},
    }
    group = stand.group("gpu", nodes=1, least=1)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,), monitors=(monitor,))):
        yield stand


def asked(stand: Stand, method: str, path: str, body: str = "", token: str | None = None) -> tuple[int, Any]:
    where = stand.folder.addresses()
    parts = urlsplit(where.control)
    assert parts.hostname == "127.0.0.1"
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    try:
        headers = {"Authorization": f"Bearer {where.token if token is None else token}"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("token", ["", "wrong", "é"])
@pytest.mark.parametrize("path", ["/state", "/backends", "/nothing"])
def test_nobody_without_the_token(playing: Stand, path: str, token: str) -> None:
    status, body = asked(playing, "GET", path, token=token.encode().decode("latin-1"))
    assert status == 401
    assert playing.folder.addresses().token not in str(body)


@pytest.mark.parametrize(("path", "body", "error"), [
    ("/speed", "{", "the body is not JSON"),
    ("/speed", "[" * 100_000, "the body is not JSON"),
    ("/speed", "[]", "must be a JSON object"),
    ("/speed", '{"answers": -1}', "answers must be a number"),
    ("/speed", '{"answers": true}', "answers must be a number"),
    ("/speed", '{"starts": NaN}', "starts must be a number"),
    ("/speed", '{"starts": 0, "answers": 3}', "starts must be a number"),
    ("/speed", '{"faster": 3}', "unknown key 'faster'"),
    ("/fault", '{"fault": "fire", "name": "x"}', "found 'fire'"),
    ("/fault", '{"fault": ["node"], "name": "x"}', "must be one of those"),
    ("/fault", '{"fault": "node"}', "name must be that of a node"),
    ("/fault", '{"fault": "pod", "name": ["x"]}', "name must be that of a pod"),
])  # fmt: skip
def test_what_it_does_not_understand_changes_nothing(playing: Stand, path: str, body: str, error: str) -> None:
    before = playing.control.state()
    status, answer = asked(playing, "POST", path, body)
    assert status == 400
    assert error in answer["error"]
    after = playing.control.state()
    assert (after.speed, after.start_speed, after.notes) == (before.speed, before.start_speed, before.notes)


def test_either_speed_alone(playing: Stand) -> None:
    assert asked(playing, "POST", "/speed", '{"answers": 7}') == (200, {"answers": 7.0, "starts": 60.0})
    assert asked(playing, "POST", "/speed", '{"starts": 0.5}') == (200, {"answers": 7.0, "starts": 0.5})
    assert asked(playing, "POST", "/speed", "{}") == (200, {"answers": 7.0, "starts": 0.5})


def test_targets_and_backends_are_the_pods_that_listen(playing: Stand) -> None:
    job = f"{playing.namespace}.demo"
    assert asked(playing, "GET", f"/targets/{job}") == (200, [])
    playing.deploy()
    eventually(lambda: playing.ready() == 1, "a Ready pod")
    (pod,) = playing.pods()
    status, backends = asked(playing, "GET", "/backends")
    name = f"{playing.namespace}/{pod['metadata']['name']}"
    assert (status, backends.keys()) == (200, {f"{pod['status']['podIP']}:8000", f"{name}:8000"})
    (address,) = set(backends.values())
    _, (target,) = asked(playing, "GET", f"/targets/{job}")
    assert target["targets"] == [address]
    meta = "__meta_kubernetes_"
    expected = {
        "namespace": playing.namespace,
        "pod_name": pod["metadata"]["name"],
        "pod_ip": pod["status"]["podIP"],
        "pod_label_app": "demo",
        "pod_labelpresent_app": "true",
        "pod_container_name": "server",
        "pod_container_port_name": "http",
        "pod_container_port_number": "8000",
        "pod_controller_kind": "ReplicaSet",
        "pod_phase": "Running",
    }
    assert {key: target["labels"][meta + key] for key in expected} == expected
    status, answer = asked(playing, "GET", "/targets/nobody")
    assert (status, answer["there"]) == (404, [job])


@pytest.mark.parametrize(("spec", "chosen"), [
    ({"selector": {}}, True),
    ({"selector": {"matchLabels": {"app": "other"}}}, False),
    ({"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["demo"]}]}}, True),
    ({"selector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["demo"]}]}}, False),
    ({"selector": {}, "namespaceSelector": {"matchNames": ["elsewhere"]}}, True),
    ({"selector": {}, "namespaceSelector": {"matchNames": ["here"]}}, False),
    ({"selector": {}, "namespaceSelector": {"any": True}}, True),
])  # fmt: skip
def test_which_pods_a_monitor_selects(spec: Json, chosen: bool) -> None:
    class Port:
        address = "127.0.0.1:1"

    class Live:
        class workload:  # noqa: N801
            port = 80

    class Serving:
        port, live = Port, Live

    pod = {
        "metadata": {"name": "p", "namespace": "elsewhere", "uid": "u", "labels": {"app": "demo"}},
        "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80}, {"containerPort": 81}]}]},
        "status": {},
    }
    own = "elsewhere" if "namespaceSelector" not in spec else "here"
    monitor = {"metadata": {"name": "m", "namespace": own}, "spec": spec}
    found = targets_of_monitor(monitor, [(pod, Serving)])  # type: ignore[list-item]
    assert [each["targets"] for each in found] == ([["127.0.0.1:1"]] if chosen else [])


def test_the_token_is_kept_and_not_shown(tmp_path: Path) -> None:
    kept = ControlCredentials.read(tmp_path / "control.json").listening(1234)
    assert ControlCredentials.read(tmp_path / "control.json") == kept
    assert kept.token not in repr(kept)
    assert (tmp_path / "control.json").stat().st_mode & 0o077 == 0
    (tmp_path / "control.json").write_text("[]")
    assert ControlCredentials.read(tmp_path / "control.json").token != kept.token
