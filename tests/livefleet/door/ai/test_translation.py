"""What becomes of the AI gateway's own kinds: expected values are those of its controller, v1.1.0."""

from copy import deepcopy
from typing import Any

import pytest

from livefleet.door.ai.alteration import Xds, altered
from livefleet.door.ai.config import AiBackend, processor_config, read_config, written
from livefleet.door.ai.translation import translated
from toolkit.errors import UserError

Object = dict[str, Any]
HOME, AWAY = "gateways", "models"


def backend(name: str = "m", **spec: Any) -> Object:
    reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": name}
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIServiceBackend",
        "metadata": {"name": name, "namespace": AWAY},
        "spec": {"schema": {"name": "OpenAI"}, "backendRef": reference, **spec},
    }


def grant(**target: str) -> Object:
    route = {"group": "aigateway.envoyproxy.io", "kind": "AIGatewayRoute", "namespace": HOME}
    to = {"group": "aigateway.envoyproxy.io", "kind": "AIServiceBackend", **target}
    metadata = {"name": "g", "namespace": AWAY}
    spec = {"from": [route], "to": [to]}
    return {
        "apiVersion": "gateway.networking.k8s.io/v1beta1",
        "kind": "ReferenceGrant",
        "metadata": metadata,
        "spec": spec,
    }


def match(model: str) -> Object:
    return {"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": model}]}


def route(*references: Object, **spec: Any) -> Object:
    rule = {"matches": [match("m")], "backendRefs": [*references]}
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": {"name": "r", "namespace": HOME},
        "spec": {"parentRefs": [{"name": "g"}], "rules": [rule], **spec},
    }


THERE = {"name": "m", "namespace": AWAY}


def test_a_route_becomes_one_that_envoy_gateway_knows() -> None:
    rewrite, not_found, http = (
        body for body in translated([backend(), grant(), route(THERE)]) if body["kind"] != "ReferenceGrant"
    )
    assert (rewrite["kind"], rewrite["metadata"]) == (
        "HTTPRouteFilter",
        {"name": "ai-eg-host-rewrite-r", "namespace": HOME},
    )
    assert rewrite["spec"] == {"urlRewrite": {"hostname": {"type": "Backend"}}}
    assert not_found["metadata"]["name"] == "ai-eg-route-not-found-response-r"
    assert not_found["spec"]["directResponse"]["statusCode"] == 404
    assert http["kind"] == "HTTPRoute"
    assert http["metadata"]["annotations"]["gateway.envoyproxy.io/ai-gateway-generated"] == "true"
    rule, last = http["spec"]["rules"]
    assert rule["matches"] == [{"path": {"type": "PathPrefix", "value": "/"}, **match("m")}]
    assert rule["timeouts"] == {"request": "60s"}, "unless the rule says another"
    assert [each["name"] for each in rule["backendRefs"]] == ["m"]
    assert rule["backendRefs"][0]["namespace"] == AWAY
    assert (last["name"], last["matches"]) == ("route-not-found", [{"path": {"type": "PathPrefix", "value": "/"}}])


def test_weights_and_timeouts_are_those_of_the_rule() -> None:
    given = route({**THERE, "weight": 3}, {"name": "n", "namespace": AWAY, "weight": 0})
    given["spec"]["rules"][0]["timeouts"] = {"request": "10m"}
    *_, http = translated([backend(), backend("n"), grant(), given])
    rule = http["spec"]["rules"][0]
    assert [each["weight"] for each in rule["backendRefs"]] == [3, 0]
    assert rule["timeouts"] == {"request": "10m"}


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ([grant(), route(THERE)], "no AIServiceBackend 'm' in namespace 'models'"),
        ([backend(), route(THERE)], "no ReferenceGrant"),
        ([backend(), grant(name="other"), route(THERE)], "no ReferenceGrant"),
    ],
    ids=["nothing", "no grant", "a grant for another"],
)
def test_a_route_that_leads_nowhere_is_refused(objects: list[Object], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        translated(objects)


def test_a_grant_for_one_name_is_enough() -> None:
    assert translated([backend(), grant(name="m"), route(THERE)])


def test_the_processor_knows_how_each_backend_is_asked() -> None:
    """``PerRouteRuleRefBackendName``: the namespace is the route's."""
    mutation = {"remove": ["Authorization"], "set": [{"name": "X-Team", "value": "a"}]}
    objects = [
        backend(schema={"name": "OpenAI", "prefix": "/chat/v1"}, headerMutation=mutation),
        backend("n", schema={"name": "OpenAI", "prefix": ""}),
        grant(),
        route(
            {**THERE, "modelNameOverride": "own"},
            {"name": "n", "namespace": AWAY},
            llmRequestCosts=[{"metadataKey": "llm_input_token", "type": "InputToken"}],
        ),
    ]
    config = processor_config(objects)
    assert config.models == ("m",)
    assert dict(config.backends) == {
        "gateways/m/route/r/rule/0/ref/0": AiBackend("/chat/v1", "own", ("authorization",), {"x-team": "a"}),
        "gateways/n/route/r/rule/0/ref/1": AiBackend("v1"),
    }
    assert config.costs == {"gateways/r": {"llm_input_token": "InputToken"}}


def test_a_configuration_survives_its_file(tmp_path: Any) -> None:
    config = processor_config([backend(), grant(), route(THERE, hostnames=["a.example.com"])])
    (tmp_path / "config.json").write_bytes(written(config))
    assert read_config(tmp_path / "config.json") == config


def test_a_host_lists_its_own_models_and_those_of_no_host() -> None:
    """``selectModelsForHost``: hosts that no route names get what has no host, and nothing of others."""
    scoped, free = route(THERE, hostnames=["a.example.com"]), route(THERE)
    free["metadata"]["name"] = "free"
    free["spec"]["rules"][0]["matches"] = [match("free")]
    config = processor_config([backend(), grant(), scoped, free])
    assert config.for_host("a.example.com") == ("m", "free")
    assert config.for_host("b.example.com") == ("free",)
    assert processor_config([backend(), grant(), free]).for_host("b.example.com") == ("free",)


def xds(*filters: str, cluster: str = "httproute/gateways/r/rule/0", localities: int = 1) -> Xds:
    manager = {
        "rds": {"routeConfigName": "c"},
        "httpFilters": [{"name": f"envoy.filters.http.{name}"} for name in filters],
    }
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typedConfig": manager}]}
    resources = [{"kind": "HTTPRoute", "name": "r", "namespace": HOME}]
    one = {"name": "one", "metadata": {"filterMetadata": {"envoy-gateway": {"resources": resources}}}}
    endpoints: list[Object] = [{"lbEndpoints": [{"endpoint": {}}]} for _ in range(localities)]
    return {
        "listeners": [{"name": "l", "defaultFilterChain": chain}],
        "routes": [{"name": "c", "virtualHosts": [{"routes": [one, {"name": "other"}]}]}],
        "clusters": [{"name": cluster, "loadAssignment": {"endpoints": endpoints}}],
    }


def chain_of(found: Xds) -> list[str]:
    (chain,) = found["listeners"][0]["defaultFilterChain"]["filters"]
    return [each["name"].removeprefix("envoy.filters.http.") for each in chain["typedConfig"]["httpFilters"]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("router",), ["ext_proc/aigateway", "router"]),
        (
            ("api_key_auth", "local_ratelimit", "router"),
            ["api_key_auth", "ext_proc/aigateway", "local_ratelimit", "router"],
        ),
        (("jwt_authn", "ratelimit", "router"), ["jwt_authn", "ext_proc/aigateway", "ratelimit", "router"]),
        (("lua", "buffer", "router"), ["lua", "buffer", "ext_proc/aigateway", "router"]),
        (("buffer", "lua", "router"), ["buffer", "ext_proc/aigateway", "lua", "router"]),
    ],
)
def test_the_processor_is_after_authentication_and_before_limits(given: tuple[str, ...], expected: list[str]) -> None:
    """``insertAIGatewayExtProcFilter``; after a buffer, whose limit is to hold for it."""
    assert chain_of(altered(xds(*given), [route(THERE)], ("127.0.0.1", 1))) == expected


def test_the_processor_is_switched_on_for_its_routes_alone() -> None:
    found = altered(xds("router"), [route(THERE)], ("127.0.0.1", 1))
    own, other = found["routes"][0]["virtualHosts"][0]["routes"]
    assert list(own["typedPerFilterConfig"]) == ["envoy.filters.http.ext_proc/aigateway"]
    assert own["metadata"]["filterMetadata"]["aigateway.envoy.io"] == {"aigw_route_name": "gateways/r"}
    assert "typedPerFilterConfig" not in other
    assert chain_of(altered(xds("router"), [], ("127.0.0.1", 1))) == ["router"]


def test_each_locality_says_which_backend_it_is() -> None:
    """Envoy Gateway leaves out what has no weight."""
    given = route(
        {**THERE, "weight": 0}, {"name": "n", "namespace": AWAY}, {"name": "o", "namespace": AWAY, "weight": 2}
    )
    before = xds("router", localities=2)
    kept = deepcopy(before)
    found = altered(before, [given], ("127.0.0.1", 7))
    assert before == kept, "what is given is left alone"
    cluster, processor = found["clusters"]
    names = [
        each["lbEndpoints"][0]["metadata"]["filterMetadata"]["aigateway.envoy.io"]["per_route_rule_backend_name"]
        for each in cluster["loadAssignment"]["endpoints"]
    ]
    assert names == ["gateways/n/route/r/rule/0/ref/1", "gateways/o/route/r/rule/0/ref/2"]
    (options,) = cluster["typedExtensionProtocolOptions"].values()
    ends = [each["name"].removeprefix("envoy.filters.http.") for each in options["httpFilters"]]
    assert ends == ["ext_proc/aigateway", "header_mutation", "upstream_codec"]
    assert processor["name"] == "ai-gateway-extproc-uds"


@pytest.mark.parametrize(
    "name", ["httproute/gateways/other/rule/0", "httproute/gateways/r/rule/9", "jwks", "a/b/c/d/e"]
)
def test_other_clusters_are_left_alone(name: str) -> None:
    cluster, _ = altered(xds("router", cluster=name), [route(THERE)], ("127.0.0.1", 1))["clusters"]
    assert "typedExtensionProtocolOptions" not in cluster
