"""The front door as exact objects: kinds and fields are those of the upstream APIs named in the modules."""

from dataclasses import replace
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.families import parse
from components.fleet.rendered import Fleet
from components.fleet.words import Realization, WorkloadChoice
from components.front_door.door import Auth, FrontDoor, FrontDoorPlan, Tls, front_door
from components.plan.rendering import render_fleet
from components.prerequisites.charts import charts
from tests.fleets import GPU, fleet_of, open_model, playground

Object = dict[str, Any]
ARN = "arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012"
KEYS = Auth("api-key", secrets=("team-keys",))
TOKENS = Auth("jwt", issuer="https://id.example.com", jwks_uri="https://id.example.com/keys", audiences=("models",))
ISSUED = Tls("cert-manager", issuer="letsencrypt")
PUBLIC = FrontDoor("gateway", host="models.example.com", tls=ISSUED, auth=KEYS)
PRIVATE = FrontDoor("gateway", internal=True, allow_anonymous=True)
BALANCERS = FrontDoor("load-balancer", internal=True)
GATEWAY = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "inference-gateway"}
BALANCED = ("loadBalancer.ingress[0].hostname", "loadBalancer.ingress[0].ip")
"""Of a Service's status (core/v1 LoadBalancerIngress): a cloud sets one of the two."""
HERE = {"name": "inference-gateway", "namespace": "envoy-gateway-system"}
AWS = "service.beta.kubernetes.io/aws-load-balancer"


def fleet(*names: str, namespace: str = "models") -> Fleet:
    """One Playground per model, each named after it."""
    documents = [body for name in names for body in (open_model(name, flavors=[GPU]), playground(name, name))]
    return fleet_of(*documents, namespace=namespace)


def made(door: FrontDoor, of: Fleet | None = None) -> FrontDoorPlan:
    plan = front_door(of or fleet("m"), door)
    assert not [p for p in plan.problems if p.severity == "error"], [str(p) for p in plan.problems]
    return plan


def one(plan: FrontDoorPlan, kind: str) -> Object:
    (body,) = [body for body in plan.objects if body["kind"] == kind]
    return body


def kinds(plan: FrontDoorPlan) -> list[str]:
    return [body["kind"] for body in plan.objects]


def wrong(door: FrontDoor, of: Fleet | None = None, severity: str = "error") -> list[tuple[str, str]]:
    plan = front_door(of or fleet("m"), door)
    if severity == "error":
        assert (plan.objects, plan.endpoints, plan.needs) == ((), (), frozenset())
    return [(p.path, p.reason) for p in plan.problems if p.severity == severity]


def test_a_closed_door_is_nothing() -> None:
    assert front_door(fleet("m"), FrontDoor()) == FrontDoorPlan()


def test_a_door_without_models_is_nothing() -> None:
    assert made(PUBLIC, fleet()).objects == ()


def test_what_is_made_and_in_which_order() -> None:
    """A policy comes before the first route: at no moment is a model open."""
    assert kinds(made(PUBLIC)) == [
        "GatewayClass",
        "EnvoyProxy",
        "Certificate",
        "ClientTrafficPolicy",
        "SecurityPolicy",
        "Gateway",
        "Backend",
        "AIServiceBackend",
        "ReferenceGrant",
        "AIGatewayRoute",
    ]


def test_what_the_cluster_must_offer() -> None:
    base = {"envoy-gateway", "ai-gateway", "load-balancer-controller"}
    assert base <= set(charts())
    assert made(PUBLIC).needs == base | {"cert-manager"}
    assert made(PRIVATE).needs == base
    assert made(BALANCERS).needs == {"load-balancer-controller"}
    assert made(PUBLIC).secrets == (("envoy-gateway-system", "team-keys"),)


def test_class_and_gateway() -> None:
    plan = made(PUBLIC)
    assert one(plan, "GatewayClass") == {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": "inference-gateway"},
        "spec": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
    }
    assert one(plan, "Gateway") == {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": HERE,
        "spec": {
            "gatewayClassName": "inference-gateway",
            "infrastructure": {
                "parametersRef": {"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": "inference-gateway"}
            },
            "listeners": [
                {
                    "name": "https",
                    "protocol": "HTTPS",
                    "port": 443,
                    "hostname": "models.example.com",
                    "allowedRoutes": {"namespaces": {"from": "Same"}},
                    "tls": {
                        "mode": "Terminate",
                        "certificateRefs": [{"group": "", "kind": "Secret", "name": "inference-gateway-tls"}],
                    },
                }
            ],
        },
    }


def test_the_certificate_is_the_one_that_the_listener_serves() -> None:
    assert one(made(PUBLIC), "Certificate") == {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": HERE,
        "spec": {
            "secretName": "inference-gateway-tls",
            "dnsNames": ["models.example.com"],
            "issuerRef": {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "letsencrypt"},
        },
    }


def test_with_acm_the_load_balancer_encrypts() -> None:
    plan = made(replace(PUBLIC, tls=Tls("acm", certificate_arn=ARN)))
    (listener,) = one(plan, "Gateway")["spec"]["listeners"]
    assert (listener["protocol"], listener["port"], "tls" in listener) == ("HTTP", 443, False)
    service = one(plan, "EnvoyProxy")["spec"]["provider"]["kubernetes"]["envoyService"]
    assert service == {
        "type": "LoadBalancer",
        "annotations": {
            f"{AWS}-type": "external",
            f"{AWS}-nlb-target-type": "ip",
            f"{AWS}-scheme": "internet-facing",
            f"{AWS}-ssl-cert": ARN,
            f"{AWS}-ssl-ports": "443",
            f"{AWS}-ssl-negotiation-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
        },
    }
    assert plan.endpoints[0].url == "https://models.example.com/v1"


@pytest.mark.parametrize("tls", [ISSUED, Tls("acm", certificate_arn=ARN)])
def test_where_tls_is_on_nothing_listens_in_clear(tls: Tls) -> None:
    listeners = one(made(replace(PUBLIC, tls=tls)), "Gateway")["spec"]["listeners"]
    assert [listener["port"] for listener in listeners] == [443]


def test_inside_a_private_network_http_will_do() -> None:
    plan = made(PRIVATE)
    (listener,) = one(plan, "Gateway")["spec"]["listeners"]
    assert listener == {
        "name": "http",
        "protocol": "HTTP",
        "port": 80,
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    service = one(plan, "EnvoyProxy")["spec"]["provider"]["kubernetes"]["envoyService"]
    assert service["annotations"][f"{AWS}-scheme"] == "internal"
    assert "SecurityPolicy" not in kinds(plan)
    assert "Certificate" not in kinds(plan)


def test_api_keys() -> None:
    assert one(made(PUBLIC), "SecurityPolicy") == {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": HERE,
        "spec": {
            "targetRefs": [GATEWAY],
            "apiKeyAuth": {
                "credentialRefs": [{"group": "", "kind": "Secret", "name": "team-keys"}],
                "extractFrom": [{"headers": ["Authorization"]}],
                "forwardClientIDHeader": "x-client-id",
                "sanitize": True,
            },
        },
    }


def test_tokens() -> None:
    assert one(made(replace(PUBLIC, auth=TOKENS)), "SecurityPolicy")["spec"] == {
        "targetRefs": [GATEWAY],
        "jwt": {
            "providers": [
                {
                    "name": "clients",
                    "issuer": "https://id.example.com",
                    "audiences": ["models"],
                    "remoteJWKS": {"uri": "https://id.example.com/keys"},
                }
            ]
        },
    }


def test_everybody_only_where_it_is_said() -> None:
    door = replace(PUBLIC, auth=Auth(), allow_anonymous=True)
    assert "SecurityPolicy" not in kinds(made(door))


def test_long_answers_are_waited_for_everywhere() -> None:
    """The route's deadline, Envoy's silence of five minutes, and the load balancer's of 350 seconds."""
    plan = made(replace(PUBLIC, request_timeout="30m"))
    assert one(plan, "AIGatewayRoute")["spec"]["rules"][0]["timeouts"] == {"request": "30m"}
    assert one(plan, "ClientTrafficPolicy") == {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "ClientTrafficPolicy",
        "metadata": HERE,
        "spec": {
            "targetRefs": [GATEWAY],
            "tcpKeepalive": {"idleTime": "60s", "interval": "60s", "probes": 5},
            "connection": {"bufferLimit": "50Mi"},
            "timeout": {"http": {"streamIdleTimeout": "30m"}},
        },
    }


def test_the_log_names_model_tokens_and_client_and_no_key() -> None:
    plan = made(PUBLIC)
    log = one(plan, "EnvoyProxy")["spec"]["telemetry"]["accessLog"]
    (setting,) = log["settings"]
    assert setting["sinks"] == [{"type": "File", "file": {"path": "/dev/stdout"}}]
    assert setting["format"]["type"] == "JSON"
    fields = setting["format"]["json"]
    assert fields["model"] == "%REQ(X-AI-EG-MODEL)%"
    assert fields["client"] == "%REQ(X-CLIENT-ID)%"
    assert fields["llm_output_token"] == "%DYNAMIC_METADATA(io.envoy.ai_gateway:llm_output_token)%"
    assert "AUTHORIZATION" not in "".join(fields.values()).upper()
    # The log prints what the route counts.
    costs = {cost["metadataKey"]: cost["type"] for cost in one(plan, "AIGatewayRoute")["spec"]["llmRequestCosts"]}
    assert costs == {"llm_input_token": "InputToken", "llm_output_token": "OutputToken"}
    assert set(costs) <= set(fields)


def test_without_log() -> None:
    plan = made(replace(PUBLIC, access_log=False))
    assert one(plan, "EnvoyProxy")["spec"]["telemetry"]["accessLog"] == {"disable": True}
    assert "llmRequestCosts" not in one(plan, "AIGatewayRoute")["spec"]


@pytest.mark.parametrize(("replicas", "budget"), [(1, None), (2, {"maxUnavailable": 1})])
def test_proxies(replicas: int, budget: Object | None) -> None:
    """A budget for a single proxy would block the drain of its node."""
    kubernetes = one(made(replace(PUBLIC, replicas=replicas)), "EnvoyProxy")["spec"]["provider"]["kubernetes"]
    assert kubernetes["envoyDeployment"] == {"replicas": replicas}
    assert kubernetes.get("envoyPDB") == budget


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


def with_endpoints(of: Fleet, name: str = "", **changes: Any) -> Fleet:
    """The endpoints of one resource, or of all, with something else in them."""
    items = tuple(
        replace(item, endpoints=tuple(replace(endpoint, **changes) for endpoint in item.endpoints))
        if name in ("", item.name)
        else item
        for item in of.rendered
    )
    return replace(of, rendered=items)


def test_one_name_with_two_apis_is_refused() -> None:
    both = fleet_of(open_model(flavors=[GPU]), playground("a"), playground("b"))
    plan = front_door(with_endpoints(both, "b", api="kserve"), PUBLIC)
    (problem,) = plan.problems
    assert (problem.kind, problem.name, problem.file) == ("Playground", "b", "fleet.yaml")
    assert "with the API 'kserve', and Playground/a serves it with 'openai'" in problem.reason


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
    assert "'kserve', which the gateway cannot route; it routes openai" in reason


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


def test_a_load_balancer_per_model() -> None:
    of = fleet("a", "b")
    plan = made(BALANCERS, of)
    assert kinds(plan) == ["Service", "Service"]
    own = next(body for body in of.rendered[0].objects if body["kind"] == "Service")
    assert plan.objects[0] == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "a-in",
            "namespace": "models",
            "annotations": {
                f"{AWS}-type": "external",
                f"{AWS}-nlb-target-type": "ip",
                f"{AWS}-scheme": "internal",
            },
        },
        "spec": {
            "type": "LoadBalancer",
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 8080}],
            "selector": own["spec"]["selector"],
        },
    }
    for body in plan.objects:
        kubernetes_validate.validate(body, "1.36", strict=True)
    assert [e.at("x") for e in plan.endpoints] == ["http://x:8080/v1"] * 2
    sources = [e.address_of for e in plan.endpoints if e.address_of]
    assert [(s.kind, s.namespace, s.name, s.fields) for s in sources] == [
        ("Service", "models", "a-in", BALANCED),
        ("Service", "models", "b-in", BALANCED),
    ]


def test_a_load_balancer_whose_name_is_taken() -> None:
    other = playground("p-in")
    of = fleet_of(open_model(flavors=[GPU]), playground("p"), other, workload=WorkloadChoice.LWS)
    ((path, reason),) = wrong(BALANCERS, of)
    assert path == "metadata.name"
    assert "would be the Service 'p-in', which is taken" in reason


def test_a_load_balancer_needs_pods_that_are_known() -> None:
    of = fleet_of(open_model(flavors=[GPU]), playground(), realization=Realization.OPERATOR)
    ((_, reason),) = wrong(BALANCERS, of)
    assert "is run by an operator" in reason
    assert kinds(made(PUBLIC, of))[-1] == "AIGatewayRoute", "a gateway does not need them"


ROWS: list[tuple[str, FrontDoor, str, str]] = [
    ("word", FrontDoor("gatway"), "expose", "found 'gatway'; did you mean 'gateway'?"),
    ("no tls", replace(PUBLIC, tls=Tls()), "tls", "set it to 'cert-manager' or 'acm', or set internal to true"),
    ("no auth", replace(PUBLIC, auth=Auth()), "auth", "set it to 'api-key' or 'jwt'"),
    ("both", replace(PUBLIC, allow_anonymous=True), "allowAnonymous", "contradicts auth 'api-key'"),
    ("no host", replace(PUBLIC, host=None), "host", "is required with tls 'cert-manager'"),
    ("bare host", replace(PUBLIC, host="models"), "host", "must be a DNS name such as models.example.com"),
    ("wild host", replace(PUBLIC, host="*.example.com"), "host", "must be a DNS name"),
    ("address", replace(PUBLIC, host="10.0.0.1"), "host", "must be a DNS name"),
    ("upper case", replace(PUBLIC, host="Models.example.com"), "host", "must be a DNS name"),
    ("url", replace(PUBLIC, host="https://models.example.com"), "host", "must be a DNS name"),
    ("no issuer", replace(PUBLIC, tls=Tls("cert-manager")), "tls.issuer", "name the issuer"),
    ("bad issuer", replace(PUBLIC, tls=Tls("cert-manager", issuer="A b")), "tls.issuer", "must be the name"),
    (
        "issuer kind",
        replace(PUBLIC, tls=Tls("cert-manager", issuer="a", issuer_kind="clusterissuer")),
        "tls.issuerKind",
        "did you mean 'ClusterIssuer'?",
    ),
    ("issuer idle", replace(PUBLIC, tls=Tls("acm", "a", certificate_arn=ARN)), "tls.issuer", "has no effect"),
    ("no arn", replace(PUBLIC, tls=Tls("acm")), "tls.certificateArn", "give the ARN"),
    ("bad arn", replace(PUBLIC, tls=Tls("acm", certificate_arn="x")), "tls.certificateArn", "must be of the form"),
    (
        "arn idle",
        replace(PUBLIC, tls=replace(ISSUED, certificate_arn=ARN)),
        "tls.certificateArn",
        "has no effect with tls 'cert-manager'",
    ),
    ("tls word", replace(PUBLIC, tls=Tls("ACM")), "tls.kind", "did you mean 'acm'?"),
    ("auth word", replace(PUBLIC, auth=Auth("apikey")), "auth.kind", "did you mean 'api-key'?"),
    ("no secret", replace(PUBLIC, auth=Auth("api-key")), "auth.secrets", "name a Secret"),
    ("bad secret", replace(PUBLIC, auth=Auth("api-key", ("A",))), "auth.secrets[0]", "must be the name of a Secret"),
    ("twice", replace(PUBLIC, auth=Auth("api-key", ("a", "a"))), "auth.secrets[1]", "is there twice"),
    ("keys idle", replace(PUBLIC, auth=replace(TOKENS, secrets=("a",))), "auth.secrets", "have no effect"),
    ("token idle", replace(PUBLIC, auth=replace(KEYS, issuer="a")), "auth.issuer", "has no effect with auth"),
    ("no signer", replace(PUBLIC, auth=replace(TOKENS, issuer=None)), "auth.issuer", "is required with jwt"),
    ("long signer", replace(PUBLIC, auth=replace(TOKENS, issuer="a" * 254)), "auth.issuer", "at most 253"),
    ("no keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri=None)), "auth.jwksUri", "is required with jwt"),
    ("plain keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri="http://a/b")), "auth.jwksUri", "must be an https"),
    ("bad keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri="https://[a")), "auth.jwksUri", "must be an https"),
    ("no host of keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri="https:///a")), "auth.jwksUri", "must be an"),
    ("anybody's", replace(PUBLIC, auth=replace(TOKENS, audiences=())), "auth.audiences", "is required with jwt"),
    ("too many", replace(PUBLIC, auth=replace(TOKENS, audiences=("a",) * 9)), "auth.audiences", "at most 8, found 9"),
    ("seconds", replace(PUBLIC, request_timeout="600"), "requestTimeout", "must be a time such as 10m"),
    ("zero", replace(PUBLIC, request_timeout="0s"), "requestTimeout", "must be a time such as 10m"),
    ("days", replace(PUBLIC, request_timeout="1d"), "requestTimeout", "must be a time such as 10m"),
    ("name", replace(PUBLIC, name="1st"), "name", "found '1st'"),
    ("space", replace(PUBLIC, namespace="A"), "namespace", "found 'A'"),
    ("proxies", replace(PUBLIC, replicas=0), "replicas", "must be at least 1, found 0"),
    ("public bytes", FrontDoor("load-balancer"), "internal", "must be true with expose 'load-balancer'"),
    ("bytes and keys", replace(BALANCERS, auth=KEYS), "auth", "'api-key' needs expose 'gateway'"),
    (
        "bytes and tls",
        replace(BALANCERS, tls=Tls("acm", certificate_arn=ARN)),
        "tls",
        "'acm' needs expose 'gateway'",
    ),
    ("bytes and host", replace(BALANCERS, host="a.example.com"), "host", "has no effect with expose 'load-balancer'"),
]


@pytest.mark.parametrize(("door", "path", "reason"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_wrong_names_field_and_remedy(door: FrontDoor, path: str, reason: str) -> None:
    ((found, text),) = wrong(door)
    assert found == f"frontDoor.{path}"
    assert reason in text


def test_everything_is_told_at_once() -> None:
    door = FrontDoor("gateway", host="x", tls=Tls("acm"), auth=Auth("jwt"), request_timeout="", replicas=0)
    assert [path.removeprefix("frontDoor.") for path, _ in wrong(door)] == [
        "host",
        "requestTimeout",
        "replicas",
        "tls.certificateArn",
        "auth.issuer",
        "auth.jwksUri",
        "auth.audiences",
    ]


def test_problems_name_the_file_of_the_settings() -> None:
    (problem,) = front_door(fleet("m"), FrontDoor("all"), "Pulumi.prod.yaml").problems
    known = "must be one of none, gateway, load-balancer, found 'all'"
    assert str(problem) == f"Pulumi.prod.yaml: frontDoor.expose: {known}"


@pytest.mark.parametrize(
    ("door", "path"),
    [
        (replace(PRIVATE, allow_anonymous=False), "frontDoor.auth"),
        (FrontDoor("gateway", internal=True, auth=KEYS), "frontDoor.tls"),
    ],
)
def test_what_is_risky_within_a_private_network_is_a_warning(door: FrontDoor, path: str) -> None:
    ((found, _),) = wrong(door, severity="warning")
    assert found == path
    assert made(door).objects


@pytest.mark.parametrize("door", [PUBLIC, replace(PUBLIC, auth=TOKENS), PRIVATE, BALANCERS])
def test_what_is_right_is_not_complained_about(door: FrontDoor) -> None:
    assert front_door(fleet("m"), door).problems == ()


@given(
    st.sampled_from(["gateway", "load-balancer"]),
    st.sampled_from([None, "models.example.com", "x"]),
    st.sampled_from([Tls(), ISSUED, Tls("acm", certificate_arn=ARN), Tls("acm")]),
    st.sampled_from([Auth(), KEYS, TOKENS, Auth("jwt")]),
    st.booleans(),
    st.booleans(),
)
def test_no_model_is_ever_public_without_tls_and_without_a_key_by_accident(
    expose: str, host: str | None, tls: Tls, auth: Auth, internal: bool, anonymous: bool
) -> None:
    door = FrontDoor(expose, host=host, tls=tls, auth=auth, internal=internal, allow_anonymous=anonymous)
    plan = front_door(fleet("m"), door)
    if not plan.objects:
        assert [p for p in plan.problems if p.severity == "error"]
        return
    texts = str(plan.objects)
    if "internet-facing" in texts:
        assert plan.endpoints[0].url.startswith("https://")
        assert "SecurityPolicy" in kinds(plan) or anonymous
