"""From the name of a model to its Service, and the addresses that clients get."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.front_door.door import front_door
from components.families import parse
from components.plan.rendering import render_fleet
from tests.checks.front_door.doors import (
    BALANCERS,
    GATEWAY,
    HERE,
    PRIVATE,
    PUBLIC,
    Object,
    fleet,
    kinds,
    made,
    one,
    with_endpoints,
    wrong,
)
from tests.fleets import GPU, fleet_of, open_model, playground


def test_from_the_name_of_a_model_to_its_service() -> None:
    plan = made(PUBLIC)
    there = {"name": "m", "namespace": "models"}
    assert one(plan, "Backend") == {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": there,
        "spec": {"endpoints": [{"fqdn": {"hostname": "m-lb.models.svc.cluster.local", "port": 8080}}]},
    }
    assert one(plan, "AIServiceBackend") == {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIServiceBackend",
        "metadata": there,
        "spec": {
            "schema": {"name": "OpenAI"},
            "backendRef": {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": "m"},
        },
    }
    assert one(plan, "AIGatewayRoute") == {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": HERE,
        "spec": {
            "parentRefs": [GATEWAY],
            "hostnames": ["models.example.com"],
            "rules": [
                {
                    "matches": [{"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": "m"}]}],
                    "backendRefs": [{"name": "m", "namespace": "models"}],
                    "timeouts": {"request": "10m"},
                }
            ],
            "llmRequestCosts": [
                {"metadataKey": "llm_input_token", "type": "InputToken"},
                {"metadataKey": "llm_output_token", "type": "OutputToken"},
            ],
        },
    }


def test_both_references_into_another_namespace_are_granted() -> None:
    """The AIGatewayRoute's to the AIServiceBackend, and that of the HTTPRoute made of it to the Backend."""
    assert one(made(PUBLIC), "ReferenceGrant") == {
        "apiVersion": "gateway.networking.k8s.io/v1beta1",
        "kind": "ReferenceGrant",
        "metadata": {"name": "inference-gateway", "namespace": "models"},
        "spec": {
            "from": [
                {
                    "group": "aigateway.envoyproxy.io",
                    "kind": "AIGatewayRoute",
                    "namespace": "envoy-gateway-system",
                },
                {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "envoy-gateway-system"},
            ],
            "to": [
                {"group": "aigateway.envoyproxy.io", "kind": "AIServiceBackend"},
                {"group": "gateway.envoyproxy.io", "kind": "Backend"},
            ],
        },
    }


def test_within_one_namespace_nothing_is_granted() -> None:
    plan = made(replace(PUBLIC, namespace="models"))
    assert "ReferenceGrant" not in kinds(plan)
    (rule,) = one(plan, "AIGatewayRoute")["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": "m"}]


def test_ollama_is_asked_by_its_tag() -> None:
    documents = (open_model("m", "ollama://qwen2:0.5b"), playground(backendRuntimeConfig={"backendName": "ollama"}))
    plan = made(PUBLIC, fleet_of(*documents))
    (rule,) = one(plan, "AIGatewayRoute")["spec"]["rules"]
    assert rule["matches"][0]["headers"][0]["value"] == "qwen2:0.5b"
    assert plan.endpoints[0].model == "qwen2:0.5b"


@pytest.mark.parametrize(
    ("url", "schema"),
    [
        ("http://m-lb.models.svc:8080/v1", {"name": "OpenAI"}),
        ("http://m-lb.models.svc:8080/v1/", {"name": "OpenAI"}),
        ("http://m-lb.models.svc:8080/openai/v1", {"name": "OpenAI", "prefix": "/openai/v1"}),
        ("http://m-lb.models.svc:8080", {"name": "OpenAI", "prefix": "/"}),
    ],
)
def test_an_api_under_another_path_is_found_there(url: str, schema: Object) -> None:
    """``VersionedAPISchema.prefix``: what stands before ``/chat/completions``."""
    moved = with_endpoints(fleet("m"), url=url)
    assert one(made(PUBLIC, moved), "AIServiceBackend")["spec"]["schema"] == schema
    # A load balancer passes on what it gets; the gateway's own API is under /v1 whatever is behind it.
    assert made(BALANCERS, moved).endpoints[0].at("x") == "http://x:8080" + schema.get("prefix", "/v1").rstrip("/")
    assert made(PUBLIC, moved).endpoints[0].url == "https://models.example.com/v1"


def test_a_prefix_of_the_engine_is_a_prefix_of_the_api() -> None:
    """llama.cpp serves every path under ``--api-prefix`` (its issue 22474)."""
    started = {"backendName": "llamacpp", "args": ["--api-prefix", "/chat"]}
    of = fleet_of(open_model("m", flavors=[GPU]), playground("m", "m", backendRuntimeConfig=started))
    assert one(made(PUBLIC, of), "AIServiceBackend")["spec"]["schema"] == {"name": "OpenAI", "prefix": "/chat/v1"}
    assert made(BALANCERS, of).endpoints[0].at("x") == "http://x:8080/chat/v1"
    ((_, workload),) = of.workloads
    (container,) = [c for c in workload.body["spec"]["template"]["spec"]["containers"] if "readinessProbe" in c]
    probes = [container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")]
    assert probes == ["/chat/health"] * 3


@pytest.mark.parametrize(
    ("replicas", "weights"), [((3, 1), [3, 1]), ((2, 0), [2, 0]), ((0, 0), [1, 1])], ids=["share", "rest", "none"]
)
def test_one_name_served_twice_is_shared_by_replicas(replicas: tuple[int, int], weights: list[int]) -> None:
    first, second = playground("a", replicas=replicas[0]), playground("b", replicas=replicas[1])
    second["metadata"]["namespace"] = "other"
    plan = made(PUBLIC, fleet_of(open_model(flavors=[GPU]), first, second))
    (rule,) = one(plan, "AIGatewayRoute")["spec"]["rules"]
    assert rule["backendRefs"] == [
        {"name": "a", "namespace": "default", "weight": weights[0]},
        {"name": "b", "namespace": "other", "weight": weights[1]},
    ]
    grants = [body["metadata"]["namespace"] for body in plan.objects if body["kind"] == "ReferenceGrant"]
    assert grants == ["default", "other"]


def test_one_name_with_two_apis_is_refused() -> None:
    both = fleet_of(open_model(flavors=[GPU]), playground("a"), playground("b"))
    plan = front_door(with_endpoints(both, "b", api="kserve"), PUBLIC)
    (problem,) = plan.problems
    assert (problem.kind, problem.name, problem.file) == ("Playground", "b", "fleet.yaml")
    assert "with the API 'kserve', but Playground/a serves it with 'openai'" in problem.reason


SERVED = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: m, namespace: NAMESPACE}
spec: {source: https://example.com/m.gguf}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: NAME, namespace: NAMESPACE}
spec: {modelRef: m, skipModelInit: true, resources: {cpu: "1", memory: 1Gi}}
"""


@pytest.mark.parametrize(
    ("second", "warned"), [(("b", "two"), ["InferenceService/a in namespace one"]), (("b", "one"), [])]
)
def test_one_name_for_two_sets_of_weights_is_warned_of(second: tuple[str, str], warned: list[str]) -> None:
    """LLMKube's Models belong to a namespace: one name does not make them one model."""
    texts = [SERVED.replace("NAMESPACE", space).replace("NAME", name) for name, space in (("a", "one"), second)]
    read = parse("---\n".join(texts)).resources
    unique = {(r.resource.kind, r.resource.metadata.name, r.resource.metadata.namespace): r for r in read}
    problems = front_door(render_fleet(unique.values()), PRIVATE).problems
    found = [p for p in problems if "requests go to both" in p.reason]
    assert [p.severity for p in found] == ["warning"] * len(warned)
    assert all(text in p.reason for text, p in zip(warned, found, strict=True))


def test_an_api_that_the_gateway_does_not_know_is_refused() -> None:
    ((_, reason),) = wrong(PUBLIC, with_endpoints(fleet("m"), api="kserve"))
    assert "'kserve', which the gateway cannot route; it supports openai" in reason


@given(st.integers(0, 70))
def test_a_route_has_at_most_fifteen_rules_and_no_model_is_lost(count: int) -> None:
    """``AIGatewayRouteSpec.rules``: at most 15, further ones in further routes."""
    of = fleet("m")
    (item,) = of.rendered
    (endpoint,) = item.endpoints
    items = tuple(
        replace(item, name=f"m{n}", endpoints=(replace(endpoint, name=f"m{n}", model=f"m{n}"),))
        for n in reversed(range(count))
    )
    plan = made(PUBLIC, replace(of, rendered=items))
    routes = [body for body in plan.objects if body["kind"] == "AIGatewayRoute"]
    assert len(routes) == -(-count // 15)
    assert all(0 < len(route["spec"]["rules"]) <= 15 for route in routes)
    assert len({route["metadata"]["name"] for route in routes}) == len(routes)
    asked = [r["matches"][0]["headers"][0]["value"] for route in routes for r in route["spec"]["rules"]]
    assert sorted(asked) == sorted(f"m{n}" for n in range(count))
    assert plan == made(PUBLIC, replace(of, rendered=items[::-1])), "order of the input does not matter"


def test_addresses() -> None:
    (endpoint,) = made(PUBLIC).endpoints
    assert (endpoint.name, endpoint.namespace, endpoint.model, endpoint.api) == ("m", "models", "m", "openai")
    assert (endpoint.url, endpoint.address_of) == ("https://models.example.com/v1", None)


def test_an_address_that_the_cloud_gives_is_filled_in_later() -> None:
    (endpoint,) = made(PRIVATE).endpoints
    assert endpoint.address_of
    assert (endpoint.address_of.kind, endpoint.address_of.namespace, endpoint.address_of.name) == (
        "Gateway",
        "envoy-gateway-system",
        "inference-gateway",
    )
    assert endpoint.address_of.fields == ("addresses[0].value",)
    assert endpoint.at("lb-1.elb.amazonaws.com") == "http://lb-1.elb.amazonaws.com/v1"
