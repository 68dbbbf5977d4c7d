"""A plain route, translated by Envoy Gateway's own code and carried by a real Envoy."""

import http.client
from typing import Any

import pytest

from tests.livefleet.door.objects import backend, gateway, route, to_backend
from tests.livefleet.door.pods import PodInTest
from tests.livefleet.door.running import DoorInTest, behind, endpoint_slice, service
from tests.monitoring.programs.daemon import eventually

Object = dict[str, Any]


def asked(url: str, path: str = "/") -> tuple[int, str]:
    """Ask on a connection of its own."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


BY_NAME = [*gateway(), backend("m"), route(to_backend("m"))]
BY_SERVICE = [*gateway(), route({"name": "m", "port": 80})]
HEADLESS = service("m", port=8080, clusterIP="None")


@pytest.mark.parametrize(
    ("objects", "service_of_it"),
    [
        pytest.param(BY_NAME, service("m"), id="by name"),
        pytest.param(BY_SERVICE, service("m"), id="by Service"),
        pytest.param(
            [*gateway(), backend("m", 8080), route(to_backend("m"))], HEADLESS, id="by the name of a headless one"
        ),
    ],
)
def test_pods_answer_as_they_come_and_go(door: DoorInTest, objects: list[Object], service_of_it: Object) -> None:
    with PodInTest("one", keeps=False) as one, PodInTest("two", keeps=False) as two:
        at = {"10.244.0.1:8080": one.address, "10.244.0.2:8080": two.address}
        door.configure(objects, [service_of_it], (), behind([endpoint_slice("m", "10.244.0.1")], at))
        with door.running() as url:
            assert asked(url) == (200, "one")
            both = behind([endpoint_slice("m", "10.244.0.1", "10.244.0.2")], at)
            assert door.files.follow(both) == []
            seen: set[str] = set()

            def both_answer() -> bool:
                seen.add(asked(url)[1])
                return seen == {"one", "two"}

            eventually(both_answer, "both pods answer", pause=0)
            door.files.follow(behind([endpoint_slice("m", "10.244.0.2")], at))
            one.end()
            eventually(lambda: asked(url) == (200, "two"), "the other one answers")
            door.files.follow(behind([], at))
            two.end()
            eventually(lambda: asked(url)[0] == 503, "503 without a pod")
            with PodInTest("three") as three:
                again = behind([endpoint_slice("m", "10.244.0.3")], {"10.244.0.3:8080": three.address})
                door.files.follow(again)
                eventually(lambda: asked(url) == (200, "three"), "a pod is back")
