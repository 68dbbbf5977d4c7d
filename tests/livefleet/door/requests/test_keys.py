"""Who may ask, by key: what the gateway refuses, and what of a request reaches engine and log."""

from collections.abc import Iterator
from copy import deepcopy

import pytest

from components.checks.front_door.door import Auth
from tests.livefleet.door.requests.doors import DoorFactory, StoodDoor, chat, secret
from tests.livefleet.door.requests.planned import KEYS, SECRET, models, planned

ALICE, BOB = KEYS["alice"], KEYS["bob"]


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    objects = planned(*models("m")).door.objects
    others = secret("clients-of-others", {"mallory": "mallorys-key"})
    with stand(objects, [SECRET, others]) as found:
        yield found


REFUSED = {
    "none": {},
    "empty": {"authorization": ""},
    "no key": {"authorization": "Bearer"},
    "another": {"authorization": "Bearer guessed"},
    "the client's name": {"authorization": "Bearer alice"},
    "a beginning": {"authorization": f"Bearer {ALICE[:-1]}"},
    "too long": {"authorization": f"Bearer {ALICE}0"},
    "upper case": {"authorization": f"Bearer {ALICE.upper()}"},
    "lower case": {"authorization": f"bearer {ALICE}"},
    "basic": {"authorization": f"Basic {ALICE}"},
    "two": {"authorization": f"Bearer {ALICE}, Bearer {BOB}"},
    "another header": {"x-api-key": ALICE},
    "the name alone": {"x-client-id": "alice"},
    "of a Secret that the settings do not name": {"authorization": "Bearer mallorys-key"},
}


@pytest.mark.parametrize("headers", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/metrics", "/v1/nothing"])
def test_without_a_key_nothing_is_to_be_had(door: StoodDoor, path: str, headers: dict[str, str]) -> None:
    """Neither a model nor a name of one, nor whether a path exists."""
    before = len(door.engines.arrived)
    with door.client() as client:
        answer = client.post(path, json=chat("m"), headers=headers)
    assert answer.status_code == 401
    assert "m-lb" not in answer.text
    assert door.engines.since(before) == []


def test_a_key_in_the_query_is_none_and_is_not_logged(door: StoodDoor) -> None:
    with door.logging() as lines, door.client() as client:
        query = f"?key={ALICE}&api_key={ALICE}&authorization={ALICE}&access_token={ALICE}"
        assert client.post(f"/v1/chat/completions{query}", json=chat("m")).status_code == 401
    assert [line["path"] for line in lines] == ["/v1/chat/completions"]


def test_the_key_stays_at_the_gateway(door: StoodDoor) -> None:
    """Engines log headers. The client's name goes on in its place."""
    with door.client(ALICE) as client:
        assert client.post("/v1/chat/completions", json=chat("m")).status_code == 200
    assert "authorization" not in door.engines.last.headers
    assert ALICE not in str(door.engines.last)
    assert door.engines.last.headers["x-client-id"] == "alice"


@pytest.mark.parametrize("name", ["bob", "alice", "root", ""])
def test_nobody_takes_the_name_of_another(door: StoodDoor, name: str) -> None:
    with door.logging() as lines, door.client(ALICE) as client:
        assert client.post("/v1/chat/completions", json=chat("m"), headers={"x-client-id": name}).status_code == 200
    assert door.engines.last.headers["x-client-id"] == "alice"
    assert [line["client"] for line in lines] == ["alice"]


def test_the_log_says_who_asked_for_what_and_what_it_took(door: StoodDoor) -> None:
    with door.logging() as lines, door.client(BOB) as client:
        client.post("/v1/chat/completions?trace=1", json=chat("m", secret="a prompt"))
        client.post("/v1/chat/completions", json=chat("nobodys"))
        client.get("/v1/models")
    served, missed, listed = lines
    assert {key: served[key] for key in ("method", "path", "model", "client", "response_code")} == {
        "method": "POST",
        "path": "/v1/chat/completions",
        "model": "m",
        "client": "bob",
        "response_code": 200,
    }
    assert (served["llm_input_token"], served["llm_output_token"]) == (7, 5)
    assert served["backend"] == "envoy-gateway-system/m/route/inference-gateway/rule/0/ref/0"
    assert served["client_address"].startswith("127.0.0.1:")
    assert (missed["model"], missed["client"], missed["response_code"]) == ("nobodys", "bob", 404)
    assert (missed["backend"], missed["llm_input_token"]) == (None, None)
    assert (listed["path"], listed["response_code"]) == ("/v1/models", 200)


def test_neither_keys_nor_prompts_are_written_anywhere(door: StoodDoor) -> None:
    """Not to the log, and not to what Envoy and the processor say of themselves."""
    with door.client(ALICE) as client:
        client.post("/v1/chat/completions", json=chat("m", messages=[{"role": "user", "content": "of my illness"}]))
        client.post("/v1/chat/completions", content=b'{"model": "of my illness')
    assert len(door.logged()) >= 2
    written = {file.name: file.read_text(errors="replace") for file in door.log.parent.glob("*.log")}
    assert {"access.log", "envoy.log", "processor.log"} <= written.keys()
    assert not [name for name, text in written.items() if any(word in text for word in (ALICE, BOB, "illness"))]


def test_what_leaks_a_key_would_be_noticed(stand: DoorFactory) -> None:
    """The policy without ``sanitize``, as a mutation of what is rendered."""
    objects = deepcopy(planned(*models("m")).door.objects)
    (policy,) = [body for body in objects if body["kind"] == "SecurityPolicy"]
    policy["spec"]["apiKeyAuth"]["sanitize"] = False
    with stand(objects, [SECRET]) as leaking, leaking.client(ALICE) as client:
        assert client.post("/v1/chat/completions", json=chat("m")).status_code == 200
        assert ALICE in str(leaking.engines.last)


def test_a_gateway_that_checks_nothing_takes_nothing_away(stand: DoorFactory) -> None:
    """The engine itself may ask for a key."""
    objects = planned(*models("m"), auth=Auth(), allow_anonymous=True).door.objects
    with stand(objects) as door, door.client("the-engines-own") as client:
        answer = client.post("/v1/chat/completions", json=chat("m"))
        assert (answer.status_code, door.engines.last.headers["authorization"]) == (200, "Bearer the-engines-own")
