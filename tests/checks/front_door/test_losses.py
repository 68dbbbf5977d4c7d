"""What clients lose without a gateway in front of the models, told where somebody asks for it."""

from dataclasses import replace

import pytest

from components.checks.front_door.door import Door, front_door
from tests.checks.front_door.doors import BALANCERS, PUBLIC, wrong
from tests.checks.front_door.routed import ROUTER, backend, endpoints, shared

CLOSED = Door()
BOTH = pytest.mark.parametrize("door", [CLOSED, BALANCERS], ids=["none", "load-balancer"])
WORDS = {
    "weights": "all requests to Service 'a' reach that backend, and none reach b",
    "headers": "Service 'a' serves every request for 'm', whatever its headers",
    "adapters": "only backends with 'm' serve it, such as Service 'a'",
    "names": "the engine behind Service 'a' serves the model only as 'other', not as 'm'",
}
BACKENDS = (backend("a", 1, 70, served_name="other"), backend("b", 1, 30))


@BOTH
@pytest.mark.parametrize("word", WORDS)
def test_what_is_lost_is_told_at_its_field(word: str, door: Door) -> None:
    of = endpoints({"backends": BACKENDS, "routed": (word,)})
    ((path, reason),) = [(p.path, p.reason) for p in front_door(of, door).problems if p.severity == "warning"]
    assert path == f"spec.{word}"
    assert WORDS[word] in reason
    assert "frontDoor.expose" in reason


def test_each_thing_is_told() -> None:
    of = endpoints({"backends": BACKENDS, "routed": tuple(WORDS)})
    assert [path for path, _ in wrong(CLOSED, of, "warning")] == [f"spec.{word}" for word in WORDS]


def test_nothing_is_lost_behind_the_gateway() -> None:
    assert wrong(PUBLIC, endpoints({"backends": BACKENDS, "routed": tuple(WORDS)}), "warning") == []


def test_a_load_balancer_is_not_put_before_a_router() -> None:
    of = shared([replace(backend("router"), namespace="routers", router=ROUTER)], body=None)
    ((_, reason),) = wrong(BALANCERS, of)
    assert "a router in namespace 'routers'" in reason
    assert "expose 'gateway'" in reason
