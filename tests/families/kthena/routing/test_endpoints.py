"""Routes become endpoints at the Services of roles: names, weights, headers and adapters (Kthena spec 5)."""

import pytest

from components.fleet.words import HeaderKind, Realization, Routing
from tests.families.kthena.routing.routes import (
    ROUTER,
    endpoints,
    model_route,
    model_server,
    pool,
    routed,
    rule,
)
from tests.families.kthena.serving.support import LABEL, Object, model_serving, role, told, warned
from tests.fleets import fleet_of

ONE = (pool("s"), model_server("s", model="org/name"))
TWO = (pool("a", replicas=4), pool("b"), model_server("a", model="org/name"), model_server("b", model="org/name"))


def test_a_route_leads_to_the_services_of_the_selected_pods() -> None:
    """Upstream's sample ModelRouteSimple: one rule, one target."""
    (endpoint,) = endpoints(*ONE, model_route(rule("s", name="default"))).values()
    assert (endpoint.name, endpoint.model) == ("r", "m")
    assert endpoint.url == "http://s-leader.ns.svc.cluster.local:8000/v1"
    assert [(b.service, b.port, b.workload) for b in endpoint.backends] == [("s-leader", 8000, "s")]
    assert endpoint.backends[0].served_name == "org/name"


def test_a_serving_behind_a_route_has_no_endpoint_of_its_own() -> None:
    fleet = fleet_of(*ONE, model_route(rule("s")))
    owners = {item.kind: [e.name for e in item.endpoints] for item in fleet.rendered}
    assert owners == {"ModelRoute": ["r"], "ModelServing": []}
    services = [b["metadata"]["name"] for b in fleet.objects if b["kind"] == "Service"]
    assert services == ["s-leader"], "its Service stays, whoever leads there"


def test_neither_becomes_an_object_natively() -> None:
    kinds = {body["kind"] for body in fleet_of(*ONE, model_route(rule("s"))).objects}
    assert kinds == {"LeaderWorkerSet", "Service"}


def test_weights_divide_the_requests() -> None:
    """Upstream's sample ModelRouteSubset: 70 and 30."""
    (endpoint,) = endpoints(*TWO, model_route(rule(("a", 70), ("b", 30)))).values()
    assert [(b.service, b.weight) for b in endpoint.backends] == [("a-leader", 70), ("b-leader", 30)]
    assert [b.share for b in endpoint.backends] == [4, 1]
    assert Routing.WEIGHTS in {each.routing for each in endpoint.gateway_features}


@pytest.mark.parametrize(
    ("weights", "services"), [((0, 1), ["b-leader", "a-leader"]), ((1, 0), ["a-leader", "b-leader"])]
)
def test_what_is_never_asked_is_not_the_address(weights: tuple[int, int], services: list[str]) -> None:
    (endpoint,) = endpoints(*TWO, model_route(rule(("a", weights[0]), ("b", weights[1])))).values()
    assert [b.service for b in endpoint.backends] == services
    assert endpoint.url.startswith(f"http://{services[0]}.")


def test_the_weight_of_a_server_is_divided_among_its_roles() -> None:
    """One ModelServer over pods of two ModelServings, of 4 groups and 1."""
    both = model_server("both", model="org/name", workloadSelector={"matchLabels": {"app": "x"}})
    documents = (
        pool("a", app="x", replicas=4),
        pool("b", app="x"),
        pool("c"),
        model_server("c", model="org/name"),
        both,
    )
    (endpoint,) = endpoints(*documents, model_route(rule(("both", 50), ("c", 50)))).values()
    weights = {b.service: b.weight for b in endpoint.backends}
    assert weights == {"a-leader": 40, "b-leader": 10, "c-leader": 50}


def test_pods_are_selected_by_the_labels_of_kthena_too() -> None:
    selector = {"matchLabels": {f"{LABEL}/name": "ms", f"{LABEL}/role": "b"}}
    documents = (
        model_serving("ms", role("a"), role("b")),
        model_server("s", workloadSelector=selector, model="org/name"),
    )
    (endpoint,) = endpoints(*documents, model_route(rule("s"))).values()
    assert [(b.service, b.workload) for b in endpoint.backends] == [("ms-b", "ms-b")]


PREMIUM = {"headers": {"user-type": {"exact": "premium"}}}


def test_headers_choose_the_rule() -> None:
    """Upstream's sample ModelRouteMultiModels: premium users have a model of their own."""
    route = model_route(rule("a", name="premium", modelMatch=PREMIUM), rule("b", name="default"))
    found = endpoints(*TWO, route)
    assert list(found) == ["r", "r-rule-premium"], "what every request may be for comes first"
    premium, default = found["r-rule-premium"], found["r"]
    (header,) = premium.headers
    assert (header.name, header.kind, header.value) == ("user-type", HeaderKind.EXACT, "premium")
    assert header.origin.path == "spec.rules[0].modelMatch.headers[user-type]"
    assert (premium.order, default.order, default.headers) == (0, 1, ())
    assert premium.backends[0].service == "a-leader"
    assert Routing.HEADERS in {each.routing for each in premium.gateway_features}


@pytest.mark.parametrize(
    ("match", "kind"),
    [({"exact": "x"}, HeaderKind.EXACT), ({"prefix": "x"}, HeaderKind.PREFIX), ({"regex": "x"}, HeaderKind.REGEX)],
)
def test_ways_to_match(match: Object, kind: HeaderKind) -> None:
    route = model_route(rule("a", modelMatch={"headers": {"h": match}}), rule("b"))
    (header,) = endpoints(*TWO, route)["r-rule-0"].headers
    assert header.kind is kind


def test_rules_after_one_for_all_requests_are_told() -> None:
    found = warned(*TWO, model_route(rule("a"), rule("b", modelMatch=PREMIUM)))
    assert "never matches" in found["spec.rules[1]"]


def test_a_match_of_nothing_is_told() -> None:
    found = warned(*TWO, model_route(rule("a", modelMatch={"headers": {"h": {}}})))
    assert "without one of" in found["spec.rules[0].modelMatch.headers[h]"]


LORA = ("--enable-lora", "--lora-modules", "x=/x", "Big=/y")


def test_adapters_are_models_of_their_own() -> None:
    documents = (pool("s", *LORA), model_server("s", model="org/name"))
    found = endpoints(*documents, model_route(rule("s"), loraAdapters=["x", "Big"]))
    assert {name: (e.model, e.backends[0].served_name) for name, e in found.items()} == {
        "r": ("m", "org/name"),
        "r-lora-x": ("x", ""),
        "r-lora-big-f69fd2": ("Big", ""),
    }, "the router does not rewrite the name of an adapter; names of objects have no capitals"
    assert warned(*documents, model_route(rule("s"), loraAdapters=["x", "Big"])) == {}


def test_an_adapter_alone_is_a_route() -> None:
    """Upstream's sample ModelRouteLora has no modelName (V16)."""
    found = endpoints(pool("s", *LORA), model_server("s"), model_route(rule("s"), model=None, loraAdapters=["x"]))
    assert [(name, e.model) for name, e in found.items()] == [("r-lora-x", "x")]


def test_an_adapter_goes_where_its_rule_says() -> None:
    """As boosters of several backends write it (Kthena spec 2.7): clients without a gateway must know where."""
    documents = (
        pool("a", *LORA),
        pool("b"),
        model_server("a", model="org/name"),
        model_server("b", model="org/name"),
    )
    rules = (rule("a", "b", modelMatch={"body": {"model": "m"}}), rule("a", modelMatch={"body": {"model": "x"}}))
    found = endpoints(*documents, model_route(*rules, loraAdapters=["x"]))
    assert [b.service for b in found["r-lora-x"].backends] == ["a-leader"]
    (lost,) = found["r-lora-x"].gateway_features
    assert (lost.routing, lost.origin.path) == (Routing.ADAPTERS, "spec.loraAdapters[0]")


def test_an_adapter_that_an_engine_lacks_is_told() -> None:
    reason = warned(*ONE, model_route(rule("s"), loraAdapters=["x"]))["spec.rules[0].targetModels[0]"]
    assert "has no adapter 'x'" in reason


def test_a_name_that_an_engine_does_not_answer_to_is_told() -> None:
    """vLLM refuses requests for a model of another name."""
    documents = (pool("s"), model_server("s"))
    reason = warned(*documents, model_route(rule("s")))["spec.rules[0].targetModels[0]"]
    assert "serves org/name" in reason
    assert warned(*documents, model_route(rule("s"), model="org/name")) == {}


def test_a_name_for_no_rule_is_told() -> None:
    other = rule("s", modelMatch={"body": {"model": "x"}})
    reason = told(*ONE, model_route(other))["spec.rules"]
    assert "no rule matches requests for 'm'" in reason
    both = (pool("s", *LORA), model_server("s", model="org/name"))
    assert "'m'" in warned(*both, model_route(other, loraAdapters=["x"]))["spec.rules"]


def test_a_model_that_is_none_of_the_route_is_told() -> None:
    found = warned(*ONE, model_route(rule("s"), rule("s", modelMatch={"body": {"model": "z"}})))
    assert "neither modelName nor" in found["spec.rules[1].modelMatch.body.model"]


# The rule and its field; what it leads to must be.
NOWHERE = [
    (rule("none"), "spec.rules[0].targetModels[0].modelServerName", "no ModelServer named 'none'"),
    (rule(("s", 0)), "spec.rules[0].targetModels[0].weight", "above 0"),
    (rule(), "spec.rules[0].targetModels", "at least one target"),
]


@pytest.mark.parametrize("realization", list(Realization))
@pytest.mark.parametrize(("wrong", "path", "word"), NOWHERE)
def test_rules_that_lead_nowhere_are_refused(wrong: Object, path: str, word: str, realization: Realization) -> None:
    """All weights zero crash the router (Kthena spec 2.7)."""
    assert word in told(*ONE, model_route(wrong), realization=realization)[path]


def test_names_that_meet_are_told() -> None:
    rules = (
        rule("a", name="x", modelMatch=PREMIUM),
        rule("a", name="x", modelMatch={"headers": {"b": {"exact": "c"}}}),
    )
    assert "two endpoints" in told(*TWO, model_route(*rules, rule("b")))["spec.rules[1]"]


def test_two_endpoints_of_one_name_are_told() -> None:
    """The front door names its objects after endpoints."""
    clash = told(*ONE, model_route(rule("s"), name="other"), pool("other"))
    assert "Endpoint 'other' is also generated" in clash["metadata.name"]


OPERATOR = {"realization": Realization.OPERATOR}


def test_the_operators_router_answers_for_everything() -> None:
    documents = (pool("s", *LORA), model_server("s", model="org/name"))
    route = model_route(rule("s", modelMatch=PREMIUM), rule("s"), loraAdapters=["x"])
    item = routed(*documents, route, **OPERATOR)
    assert {e.model: e.url for e in item.endpoints} == {"m": ROUTER, "x": ROUTER}
    assert all(not e.headers and not e.gateway_features for e in item.endpoints), "the router does all of it"
    assert item.requires == {"kthena"}
    assert [body["kind"] for body in item.objects] == ["ModelRoute"]
    kinds = [body["kind"] for body in fleet_of(*documents, route, **OPERATOR).objects]
    assert sorted(kinds) == ["ModelRoute", "ModelServer", "ModelServing", "Service"]


@pytest.mark.parametrize("realization", list(Realization))
@pytest.mark.parametrize("field", ["headers", "uri"])
def test_a_pattern_that_no_router_accepts_is_refused(field: str, realization: Realization) -> None:
    condition = {"regex": "(?!x)y"}
    match = {field: condition} if field == "uri" else {field: {"h": condition}}
    path = f"spec.rules[0].modelMatch.{'uri' if field == 'uri' else 'headers[h]'}.regex"
    found = told(*ONE, model_route(rule("s", modelMatch=match)), realization=realization)
    assert "assertion '(?!'" in found[path]
    match = {field: {"regex": "x.*y"}} if field == "uri" else {field: {"h": {"regex": "x.*y"}}}
    assert path not in told(*ONE, model_route(rule("s", modelMatch=match)), realization=realization)
