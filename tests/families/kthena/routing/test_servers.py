"""ModelServers: pods that they do not find, and fields without effect (Kthena spec 2.6, 5 and 10)."""

from typing import Any

import pytest

from components.fleet.words import Realization
from tests.families.kthena.routing.routes import model_route, model_server, pair, pair_server, pool, rule
from tests.families.kthena.serving.support import LABEL, Object, engine, model_serving, pods, role, told, warned
from tests.fleets import errors, fleet_of, warnings

ROUTE = model_route(rule("s"), model="org/name")
SELECTOR = "spec.workloadSelector"


def of_server(*documents: Object, severity: str = "error", **options: Any) -> dict[str, str]:
    """What is said of ModelServers."""
    fleet = fleet_of(*documents, **options)
    found = errors(fleet) if severity == "error" else warnings(fleet)
    return {problem.path: problem.reason for problem in found if problem.kind == "ModelServer"}


def server(**spec: Any) -> tuple[Object, ...]:
    return pool("s"), model_server("s", **spec), ROUTE


def test_pods_that_are_not_there_are_refused() -> None:
    wrong = {"matchLabels": {"app": "t"}}
    reason = of_server(*server(workloadSelector=wrong))[f"{SELECTOR}.matchLabels"]
    assert "app=t" in reason
    assert "role 'leader' of ModelServing 's'" in reason, "what there is"


def test_pods_of_others_may_be_left_to_the_operator() -> None:
    """Upstream's samples select the pods of Deployments."""
    wrong = server(workloadSelector={"matchLabels": {"app": "t"}})
    options: dict[str, Any] = {"realization": Realization.OPERATOR}
    assert not of_server(*wrong, **options)
    assert "created elsewhere" in of_server(*wrong, severity="warning", **options)[f"{SELECTOR}.matchLabels"]


def test_labels_must_say_something() -> None:
    empty: list[Object] = [{}, {"matchLabels": {}}]
    for nothing in empty:
        assert "every pod" in of_server(*server(workloadSelector=nothing))[f"{SELECTOR}.matchLabels"]


def test_it_must_listen_where_it_is_asked() -> None:
    assert "8000" in of_server(*server(port=9000))["spec.workloadPort.port"]
    declared = engine(ports=[{"containerPort": 8000}, {"containerPort": 9000}])
    entry = pods(declared, metadata={"labels": {"app": "s"}})
    documents = (model_serving("s", role(entryTemplate=entry)), model_server("s", port=9000), ROUTE)
    assert not of_server(*documents)
    (endpoint,) = [e for item in fleet_of(*documents).rendered for e in item.endpoints]
    assert endpoint.url == "http://s-leader.ns.svc.cluster.local:9000/v1"


def test_a_port_may_be_left_out_natively_only() -> None:
    documents = server(port=None)
    assert not of_server(*documents)
    (endpoint,) = [e for item in fleet_of(*documents).rendered for e in item.endpoints]
    assert endpoint.port == 8000
    assert "port 0" in of_server(*documents, realization=Realization.OPERATOR)["spec.workloadPort"]
    assert "port 0" in of_server(pair(), pair_server(port=None), model_route(rule("pd")))["spec.workloadPort"]


@pytest.mark.parametrize("realization", list(Realization))
def test_pods_are_asked_without_encryption(realization: Realization) -> None:
    """The router does not read the protocol."""
    secured = server(workloadPort={"port": 8000, "protocol": "https"})
    assert "plain HTTP" in of_server(*secured, realization=realization)["spec.workloadPort.protocol"]


@pytest.mark.parametrize(
    ("policy", "field"), [({"timeout": "10s"}, "timeout"), ({"retry": {"attempts": 5}}, "retry")]
)
def test_what_the_router_does_not_read_is_told(policy: Object, field: str) -> None:
    found = of_server(*server(trafficPolicy=policy), severity="warning")
    assert "has no effect" in found[f"spec.trafficPolicy.{field}"]


def test_another_engine_than_the_pods_run_is_told() -> None:
    assert "vllm" in of_server(*server(inferenceEngine="SGLang"), severity="warning")["spec.inferenceEngine"]
    assert not of_server(*server(), severity="warning")


def test_one_that_no_route_leads_to_is_told() -> None:
    assert "no ModelRoute" in of_server(pool("s"), model_server("s"), severity="warning")[""]
    operated = {"realization": Realization.OPERATOR}
    assert "" not in of_server(pool("s"), model_server("s"), severity="warning", **operated)


def test_a_connector_without_a_pair_is_told() -> None:
    found = of_server(*server(kvConnector={"type": "nixl"}), severity="warning")
    assert "pdGroup" in found["spec.kvConnector"]


PAIRS = {
    "prefillLabels": {f"{LABEL}/role": "prefill"},
    "decodeLabels": {f"{LABEL}/role": "decode"},
    "groupKey": f"{LABEL}/group-name",
}


def paired(**group: Any) -> Object:
    selector = {"matchLabels": {f"{LABEL}/name": "pd"}, "pdGroup": {**PAIRS, **group}}
    return {**pair_server(), "spec": {**pair_server()["spec"], "workloadSelector": selector}}


@pytest.mark.parametrize(
    ("group", "field", "word"),
    [
        ({"prefillLabels": {"x": "z"}}, "prefillLabels", "selects no pods"),
        ({"decodeLabels": {"x": "z"}}, "decodeLabels", "selects no pods"),
        ({"decodeLabels": {f"{LABEL}/role": "prefill"}}, "decodeLabels", "also selects"),
        ({"groupKey": "other"}, "groupKey", f"use {LABEL}/group-name"),
    ],
)
def test_a_pair_that_is_none_is_refused(group: Object, field: str, word: str) -> None:
    found = of_server(pair(), paired(**group), model_route(rule("pd")))
    assert word in found[f"{SELECTOR}.pdGroup.{field}"]


def test_prefill_and_decode_are_of_one_group() -> None:
    """They are paired by the name of the serving group (Kthena spec 5)."""
    both = [
        model_serving(f"x-{name}", role(name, entryTemplate=pods(engine(), metadata={"labels": {"app": "x"}})))
        for name in ("prefill", "decode")
    ]
    selector = {"matchLabels": {"app": "x"}, "pdGroup": PAIRS}
    apart = {**pair_server("x"), "spec": {**pair_server("x")["spec"], "workloadSelector": selector}}
    assert (
        "different ModelServings" in of_server(*both, apart, model_route(rule("x")))[f"{SELECTOR}.pdGroup.groupKey"]
    )


# What the engines hand over by, what the router is told, and what is wrong.
SPOKEN: list[tuple[str, str | None, str, str]] = [
    ("NixlConnector", "nixl", "", ""),
    ("NixlConnector", "http", "spec.kvConnector.type", "nixl"),
    ("NixlConnector", None, "spec.kvConnector.type", "nixl"),
    ("LMCacheConnectorV1", "lmcache", "", ""),
    ("LMCacheConnectorV1", "http", "", ""),
    ("MooncakeConnector", "mooncake", f"{SELECTOR}.pdGroup", "does not support"),
]


@pytest.mark.parametrize(("connector", "spoken", "path", "word"), SPOKEN)
def test_the_router_must_speak_as_the_engines_do(connector: str, spoken: str | None, path: str, word: str) -> None:
    """What each needs: vLLM's examples of disaggregated serving; the router's own: pkg/kthena-router/connectors."""
    document = pair_server(kvConnector={"type": spoken})
    if spoken is None:
        document["spec"].pop("kvConnector")
    found = of_server(pair(connector=connector), document, model_route(rule("pd")))
    assert word in found[path] if path else not found


def test_nothing_is_told_of_a_good_one() -> None:
    documents = (pool("s"), model_server("s", model="org/name"), model_route(rule("s")))
    assert not told(*documents)
    assert not warned(*documents)
