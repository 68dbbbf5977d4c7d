"""What only Kthena's router does is left to it: pairs, limits of tokens, paths (Kthena spec 5)."""

from typing import Any

import pytest

from components.plan.prerequisites.charts import charts
from components.resources.prerequisites.operators import ROUTER_SERVICE
from tests.families.kthena.routing.routes import (
    ROUTER,
    model_route,
    model_server,
    pair,
    pair_server,
    pool,
    routed,
    rule,
)
from tests.families.kthena.serving.support import Object, told, warned
from tests.fleets import fleet_of

PAIR = (pair(), pair_server())
ONE = (pool("s"), model_server("s", model="org/name"))
LIMIT = {"inputTokensPerUnit": 10, "unit": "minute"}


def test_a_pair_has_one_endpoint_at_the_router() -> None:
    item = routed(*PAIR, model_route(rule("pd")))
    (endpoint,) = item.endpoints
    assert (endpoint.url, endpoint.model) == (ROUTER, "m")
    assert item.requires == {"kthena-router"}
    (backend,) = endpoint.backends
    assert backend.router is not None
    assert backend.router.workloads == ("pd-prefill", "pd-decode")
    assert backend.router.namespace == "kthena-system"


def test_the_router_is_told_by_objects() -> None:
    server, route = pair_server(), model_route(rule("pd"))
    bodies = {body["kind"]: body for body in fleet_of(pair(), server, route).objects}
    assert bodies["ModelServer"] == server
    assert bodies["ModelRoute"] == route


def test_a_server_of_two_routes_is_created_once() -> None:
    fleet = fleet_of(*PAIR, model_route(rule("pd")), model_route(rule("pd"), name="q", model="other"))
    kinds = [body["kind"] for body in fleet.objects]
    assert (kinds.count("ModelServer"), kinds.count("ModelRoute")) == (1, 2)


def test_a_route_with_a_pair_leads_to_all_its_targets_by_the_router() -> None:
    documents = (*PAIR, *ONE, model_route(rule(("pd", 50), ("s", 50))))
    (endpoint,) = routed(*documents).endpoints
    assert endpoint.backends[0].router is not None
    assert endpoint.backends[0].router.workloads == ("pd-prefill", "pd-decode", "s")
    kinds = [body["kind"] for body in fleet_of(*documents).objects]
    assert kinds.count("ModelServer") == 2


# A route, and whether a gateway in front of the models could do it.
ROUTES: list[tuple[dict[str, Any], bool]] = [
    ({}, False),
    ({"rateLimit": LIMIT}, True),
    ({"rateLimit": {**LIMIT, "global": {"redis": {"address": "r:6379"}}}}, True),
]
MATCHES: list[tuple[Object, bool]] = [
    ({"uri": {"prefix": "/v1"}}, False),
    ({"uri": {"prefix": "/"}}, False),
    ({"uri": {}}, False),
    ({"uri": {"prefix": "/v1/chat"}}, True),
    ({"uri": {"exact": "/v1/chat/completions"}}, True),
    ({"uri": {"regex": "chat"}}, True),
    ({"headers": {"a": {"exact": "b"}}}, False),
]


@pytest.mark.parametrize(("spec", "needed"), ROUTES)
def test_limits_of_tokens_need_it(spec: dict[str, Any], *, needed: bool) -> None:
    item = routed(*ONE, model_route(rule("s"), **spec))
    assert (item.requires == {"kthena-router"}) is needed
    assert (item.endpoints[0].url == ROUTER) is needed


@pytest.mark.parametrize(("match", "needed"), MATCHES)
def test_paths_need_it(match: Object, *, needed: bool) -> None:
    """No gateway of the front door matches paths; those of requests all begin with /v1/."""
    item = routed(*ONE, model_route(rule("s", modelMatch=match), rule("s")))
    assert (item.requires == {"kthena-router"}) is needed


def test_two_routes_of_one_model_are_refused() -> None:
    """The router knows routes by the name of the model, of all namespaces: the last one wins (Kthena spec 5)."""
    found = told(*PAIR, model_route(rule("pd")), model_route(rule("pd"), name="q"))
    assert "one route per model" in found["spec.modelName"]
    assert not told(*PAIR, model_route(rule("pd")), model_route(rule("pd"), name="q", model="other"))


def test_an_adapter_called_like_a_model_is_refused() -> None:
    """Of the two the model would answer (Kthena spec 5)."""
    routes = (model_route(rule("pd")), model_route(rule("pd"), name="q", model="other", loraAdapters=["m"]))
    assert "one route per model" in told(*PAIR, *routes)["spec.modelName"]


def test_routes_that_the_router_does_not_know_may_share_a_model() -> None:
    """The gateway sends requests to both, and says so."""
    documents = (*ONE, pool("t"), model_server("t", model="org/name"))
    assert not told(*documents, model_route(rule("s")), model_route(rule("t"), name="q"))


def test_the_router_is_where_its_chart_puts_it() -> None:
    chart = charts()["kthena-router"]
    assert f"http://{ROUTER_SERVICE}.{chart.namespace}.svc.cluster.local:80/v1" == ROUTER


def test_pods_of_a_pair_are_warned_of_nothing() -> None:
    """With a router before them, prefill is reached."""
    found = warned(*PAIR, model_route(rule("pd")))
    assert not [path for path in found if path.startswith("spec.template.roles")]
