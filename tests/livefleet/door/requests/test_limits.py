"""How much a client may ask for, and what Prometheus reads of it.

Limits in a Redis, and so all limits of tokens, are out of reach here.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from components import families
from components.checks.front_door.limits import RateLimit
from components.checks.front_door.words import LimitUnit
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.livefleet.door.requests.doors import DoorFactory, StoodDoor, chat
from tests.livefleet.door.requests.planned import DOOR, KEYS, SECRET, models, planned

MOST = 5
FACTS = ClusterFacts(present=frozenset({"prometheus", "envoy-gateway", "ai-gateway"}), monitoring=True)
LIMITED = Environment(door=replace(DOOR, rate_limit=RateLimit(requests=2)), watched=True, cluster=FACTS)
ROW = (
    "envoy_http_downstream_rq_xx",
    "envoy_http_downstream_rq_time_bucket",
    "envoy_http_local_rate_limit_rate_limited",
)
"""Of Envoy's own page, what the dashboard's row of the front door reads (``components/engines/gateways.yaml``)."""


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    limit = RateLimit(requests=MOST, unit=LimitUnit.HOUR)
    objects = planned(*models("one", "two", "three", "four"), rate_limit=limit).door.objects
    with stand(objects, [SECRET]) as found:
        yield found


def statuses(door: StoodDoor, client: str, model: str, count: int, **headers: str) -> list[int]:
    with door.client(KEYS.get(client, client)) as found:
        asked = (found.post("/v1/chat/completions", json=chat(model), headers=headers) for _ in range(count))
        return [answer.status_code for answer in asked]


def test_each_client_has_its_own_limit_for_each_model(door: StoodDoor) -> None:
    """By itself: that alice has none left is no matter to bob. A proxy counts for each route, as the settings say."""
    before = len(door.engines.arrived)
    assert statuses(door, "alice", "one", MOST + 3) == [200] * MOST + [429] * 3
    assert len(door.engines.since(before)) == MOST
    assert statuses(door, "bob", "one", MOST + 1) == [200] * MOST + [429]
    assert statuses(door, "alice", "two", 2) == [200] * 2


def test_the_limit_is_not_of_the_name_that_a_client_gives_itself(door: StoodDoor) -> None:
    found = [
        status
        for number in range(MOST + 1)
        for status in statuses(door, "alice", "three", 1, **{"x-client-id": f"alice-{number}"})
    ]
    assert found == [200] * MOST + [429]


def test_what_is_refused_before_costs_nothing(door: StoodDoor) -> None:
    assert set(statuses(door, "guessed", "two", MOST + 1)) == {401}
    assert set(statuses(door, "bob", "nobodys", MOST + 1)) == {404}
    assert statuses(door, "bob", "two", MOST) == [200] * MOST


def test_who_is_refused_is_told_when_there_is_more(door: StoodDoor) -> None:
    """Headers of the draft that Envoy Gateway asks for (``enableXRatelimitHeaders``)."""
    statuses(door, "bob", "three", MOST)
    with door.client(KEYS["bob"]) as client:
        answer = client.post("/v1/chat/completions", json=chat("three"))
    assert answer.status_code == 429
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert 0 < int(answer.headers["x-ratelimit-reset"]) <= 3600


def test_a_refusal_is_in_the_log_with_its_client(door: StoodDoor) -> None:
    with door.logging() as lines:
        statuses(door, "alice", "four", MOST + 1)
    refused = [each for each in lines if each["response_code"] == 429]
    assert refused
    assert {(each["client"], each["model"]) for each in refused} == {("alice", "four")}


def test_the_page_of_the_monitor_has_what_the_dashboard_reads(stand: DoorFactory) -> None:
    """Envoy's own page, as the rendered PodMonitor names it."""
    found = plan(families.objects(models("m")), LIMITED)
    monitors = found.monitoring
    (monitor,) = [body for body in monitors if body["metadata"]["name"].endswith(".proxies")]
    paths = {each["port"]: each["path"] for each in monitor["spec"]["podMetricsEndpoints"]}
    with stand(found.door.objects, [SECRET]) as door:
        assert statuses(door, "alice", "m", 4) == [200, 200, 429, 429]
        page = door.admin.request("GET", paths["metrics"]) or ""
    assert {name for name in ROW if f"\n{name}{{" in f"\n{page}"} == set(ROW)
    label = r'envoy_http_conn_manager_prefix="(https?-[0-9]+)"'
    assert re.search(rf'envoy_http_downstream_rq_xx{{envoy_response_code_class="4",{label}}} 2\n', page)
    assert re.search(r"envoy_http_local_rate_limit_rate_limited\{[^}]*\} 2\n", page)
