"""Natively no ModelServer and no ModelRoute is made that nobody reads: what they would say, and what would be wrong
with them, comes out all the same."""

from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.contract.findings.collector import Findings
from components.families import objects as read
from components.families.kthena.booster import expansion
from components.families.kthena.booster.context import ExpansionOptions
from components.fleet.endpoints import Endpoint
from components.plan.plan import plan
from tests.families.kthena.booster.strategies import boosters
from tests.families.kthena.booster.support import POLICY, Object, backend, booster, load, pair, worker
from tests.fleets import fleet_of

IN_PLACE = ExpansionOptions(applied=False)
ADAPTER = {"name": "sql", "artifactURL": "hf://org/sql"}
runs = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
ODD = st.sampled_from(
    [
        {"metadata": {"name": "m" * 46}},
        {"backend": {"name": "b" * 70}},
        {"backend": {"routeWeight": 0}},
        {"backend": {"loraAdapters": [ADAPTER]}},
        {"backend": {"loraAdapters": [{**ADAPTER, "name": f"a{place}"} for place in range(11)]}},
        {"config": {"served-model-name": "z" * 257}},
        {"config": {"port": "65536"}},
        {"config": {"port": "8123"}},
        {"worker": {"image": "lmsysorg/sglang:v0.5.4"}},
        {"spec": {"modelMatch": {"body": {"model": "other"}}}},
        {"spec": {"modelMatch": {"headers": {"x": {}, "y": {"prefix": "a"}}}}},
        {"spec": {"modelMatch": {"uri": {"prefix": "/v1/chat"}}}},
    ]
)


def edited(document: Object, odd: Object) -> Object:
    """A booster with something odd in it."""
    part = document["spec"]["backends"][0]
    first = part["workers"][0]
    document["metadata"] |= odd.get("metadata", {})
    document["spec"] |= odd.get("spec", {})
    part |= odd.get("backend", {})
    first |= odd.get("worker", {})
    if "config" in odd:
        first["config"] = {**(first.get("config") or {}), **odd["config"]}
    return document


def told(document: Object) -> list[Any]:
    """Everything about a booster natively."""
    found = plan(read([document]))
    items = [
        (item.title, item.objects, item.requires, [*map(of_endpoint, item.endpoints)])
        for item in found.fleet.rendered
    ]
    return [[str(problem) for problem in found.problems], items]


def of_endpoint(endpoint: Endpoint) -> tuple[Any, ...]:
    origins = [
        endpoint.origin,
        *(each.origin for each in endpoint.headers),
        *(each.origin for each in endpoint.gateway_features),
    ]
    places = [str(origin.problem("is told")) for origin in origins]
    return (
        endpoint.name,
        endpoint.namespace,
        endpoint.model,
        endpoint.url,
        endpoint.backends,
        endpoint.weights,
        endpoint.order,
        [each.routing for each in endpoint.gateway_features],
        [(each.name, each.kind, each.value) for each in endpoint.headers],
        places,
    )


def is_unwritten(document: Object) -> bool:
    source = load(document)
    return bool(expansion.expand(source, Findings(source), IN_PLACE).fronts)


@runs
@given(boosters(), st.none() | ODD)
def test_all_is_told_as_with_the_resources(document: Object, odd: Object | None) -> None:
    document = edited(document, odd or {})
    with mock.patch.object(expansion, "is_valid", return_value=False):
        written = told(document)
    assert told(document) == written


@pytest.mark.parametrize(
    ("document", "unwritten"),
    [
        (booster("m"), True),
        (booster("m", backend("a", loraAdapters=[ADAPTER]), backend("b")), True),
        (booster("m", backend(maxReplicas=2, autoscalingPolicy=POLICY)), True),
        (booster("m", backend(workers=[worker(config={"served-model-name": "z" * 256})])), True),
        (booster("m", pair()), False),
        (booster("m", modelMatch={"uri": {"prefix": "/v1/chat"}}), False),
    ],
    ids=str,
)
def test_where_they_are_not_made(document: Object, unwritten: bool) -> None:
    assert is_unwritten(document) is unwritten


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (booster("m", backend("b" * 62)), "ModelServer"),
        (
            booster("m", backend(workers=[worker(config={"served-model-name": "z" * 257})])),
            "spec.model of ModelServer",
        ),
        (booster("m", backend(workers=[worker(config={"port": "65536"})])), "spec.workloadPort.port of ModelServer"),
        (booster("m", *(backend(f"b{place}") for place in range(17))), "ModelRoute"),
    ],
    ids=["name", "model", "port", "targets"],
)
def test_what_is_wrong_with_them_is_told(document: Object, reason: str) -> None:
    problems = [str(problem) for problem in fleet_of(document).problems]
    assert any(reason in problem for problem in problems), problems
