"""What Envoy Gateway makes of objects, and what is changed of it."""

import json
from typing import Any

import pytest

from components.checks.front_door.settings import ENVOY_NAMESPACE
from livefleet.door.ai.translation import translated
from livefleet.door.programs import DoorPrograms
from livefleet.door.xds.loopback import Localizer
from livefleet.door.xds.services import PodPort, ServicePort, pods_of, service_at
from livefleet.door.xds.translator import Translation, TranslationError, translate
from tests.checks.front_door.doors import KEYS, PRIVATE, PUBLIC, fleet, made
from tests.livefleet.door.objects import backend, gateway, route, to_backend
from tests.livefleet.door.running import DoorInTest, endpoint_slice, service
from tests.monitoring.programs.daemon import eventually
from workbench.cluster.gateway import NAMESPACE, gateway_objects

Object = dict[str, Any]
PLAIN = (*gateway(), backend("m"), route(to_backend("m")))
PLACE = ServicePort("models", "m", 80)


@pytest.fixture
def translation(door_tools: DoorPrograms) -> Translation:
    return translate(door_tools.translator, PLAIN)


def localized(translation: Translation, *services: Object) -> str:
    places = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in services}
    local = Localizer(places, lambda _: 20001, "/logs/access.log").localized(translation.xds, translation.assignments)
    return json.dumps([local.xds, local.assignments], sort_keys=True)


def test_it_is_the_same_every_time(translation: Translation, door_tools: DoorPrograms) -> None:
    assert translate(door_tools.translator, PLAIN) == translation
    assert localized(translation, service("m")) == localized(translation, service("m"))


def test_nothing_is_asked_of_a_name_and_nobody_else_is_let_in(translation: Translation) -> None:
    before = json.dumps(translation.xds)
    assert "m.models.svc.cluster.local" in before
    assert "0.0.0.0" in before
    for each in (service("m"), service("m", clusterIP="None")):
        after = localized(translation, each)
        assert "0.0.0.0" not in after
        assert '"envoy.cluster.dns"' not in after
        assert "dnsLookupFamily" not in after
    assert '"address": "m.models.svc.cluster.local"' in localized(translation, service("m", clusterIP="None"))
    assert '"address": "m.models.svc.cluster.local"' not in localized(translation, service("m"))
    assert json.dumps(translation.xds) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"listeners": [{"name": "http", "protocol": "HTTP", "port": 70000}]},
            'Gateway.gateway.networking.k8s.io "eg" is invalid: spec.listeners[0].port',
            id="a port",
        ),
        pytest.param({"gatewayClassName": "another"}, "Envoy Gateway made nothing of the gateway", id="a class"),
    ],
)
def test_what_is_refused_is_named(door_tools: DoorPrograms, change: Object, message: str) -> None:
    broken = [*gateway(), backend("m"), route(to_backend("m"))]
    broken[1]["spec"] |= change
    with pytest.raises(TranslationError) as error:
        translate(door_tools.translator, broken)
    assert message in str(error.value)
    assert "Usage" not in str(error.value)


def test_a_missing_secret_is_a_problem_with_its_name(door_tools: DoorPrograms) -> None:
    plan = made(PRIVATE.__class__(PRIVATE.expose, internal=True, auth=KEYS))
    found = translate(door_tools.translator, translated(plan.objects))
    (problem,) = found.problems
    assert problem.startswith(f"SecurityPolicy {ENVOY_NAMESPACE}/inference-gateway: Accepted is False, Invalid: ")
    assert f"secret {ENVOY_NAMESPACE}/team-keys does not exist" in problem


def test_the_cluster_has_every_kind_of_a_front_door() -> None:
    served = {
        (f"{body['spec']['group']}/{body['spec']['versions'][0]['name']}", body["spec"]["names"]["kind"])
        for body in gateway_objects()
        if body["kind"] == "CustomResourceDefinition"
    }
    limited = made(PUBLIC, fleet("m", namespace="models")).objects
    used = {(body["apiVersion"], body["kind"]) for body in limited}
    assert used <= served
    assert NAMESPACE == ENVOY_NAMESPACE


@pytest.mark.parametrize(
    ("host", "port", "place"),
    [
        ("m.models.svc.cluster.local", 80, PLACE),
        ("m.svc.cluster.local", 80, None),
        ("a.m.models.svc.cluster.local", 80, None),
        ("models.example.com", 443, None),
        ("", 0, None),
    ],
)
def test_services_by_their_names(host: str, port: int, place: ServicePort | None) -> None:
    assert service_at(host, port) == place


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param([endpoint_slice("m", "10.0.0.2", "10.0.0.1")], ["10.0.0.1", "10.0.0.2"], id="ready"),
        pytest.param([endpoint_slice("m", "10.0.0.1", ready=False, serving=False, terminating=True)], [], id="gone"),
        # KEP-1669, ProxyTerminatingEndpoints
        pytest.param(
            [endpoint_slice("m", "10.0.0.1", ready=False, terminating=True)], ["10.0.0.1"], id="the last ones end"
        ),
        pytest.param(
            [endpoint_slice("m", "10.0.0.1", ready=False, terminating=True), endpoint_slice("m", "10.0.0.2")],
            ["10.0.0.2"],
            id="some end",
        ),
    ],
)
def test_pods_that_take_connections(slices: list[Object], expected: list[str]) -> None:
    assert [pod.address for pod in pods_of(PLACE, service("m"), slices)] == expected


def test_ports_are_translated_by_services_with_an_address_alone() -> None:
    slices = [endpoint_slice("m", "10.0.0.1", port=8080)]
    assert pods_of(PLACE, service("m"), slices) == [PodPort("10.0.0.1", 8080)]
    assert pods_of(PLACE, service("m", clusterIP="None"), slices) == [PodPort("10.0.0.1", 80)]
    assert pods_of(ServicePort("models", "m", 81), service("m"), slices) == []
    assert pods_of(PLACE, None, slices) == []


def test_a_pod_is_found_by_its_name_where_it_has_one() -> None:
    """Two pods may have one address after kwok was started again."""
    (named,) = endpoint_slice("m", "10.0.0.1")["endpoints"]
    target = {"kind": "Pod", "namespace": "models", "name": "m-0"}
    part = {**endpoint_slice("m"), "endpoints": [{**named, "targetRef": target}]}
    (pod,) = pods_of(PLACE, service("m"), [part])
    backends = {"10.0.0.1:8080": "127.0.0.1:1", "models/m-0:8080": "127.0.0.1:2"}
    assert pod.on_loopback(backends) == ("127.0.0.1", 2)
    assert pod.on_loopback({"10.0.0.1:8080": "127.0.0.1:1"}) is None


def test_envoy_says_what_it_refuses(door: DoorInTest) -> None:
    door.configure(PLAIN, [service("m")])
    listener = {
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": "broken",
        "address": {"socketAddress": {"address": "no address", "portValue": 1}},
        "filterChains": [{"filters": []}],
    }
    with door.running():
        assert door.files.server.refused == {}
        door.files.server.set_resources("lds", [listener])

        eventually(lambda: "no address" in door.files.server.refused.get("lds", ""), "refused")
