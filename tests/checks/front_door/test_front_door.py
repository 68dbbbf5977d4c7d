"""The front door as exact objects: kinds and fields are those of the upstream APIs named in the modules."""

from dataclasses import replace

import pytest

from components.checks.front_door.balancers import Balancing
from components.checks.front_door.door import Auth, Door, FrontDoorPlan, Tls, front_door
from components.checks.front_door.words import TlsKind
from components.plan.prerequisites.charts import charts
from tests.checks.front_door.doors import (
    ARN,
    AWS,
    BALANCERS,
    GATEWAY,
    HERE,
    ISSUED,
    KEYS,
    PRIVATE,
    PUBLIC,
    TOKENS,
    Object,
    fleet,
    kinds,
    made,
    one,
)


def test_a_closed_door_is_nothing() -> None:
    assert front_door(fleet("m"), Door()) == FrontDoorPlan()


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
        "BackendTrafficPolicy",
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
    plan = made(replace(PUBLIC, tls=Tls(TlsKind.ACM, certificate_arn=ARN)))
    (listener,) = one(plan, "Gateway")["spec"]["listeners"]
    assert (listener["protocol"], listener["port"], "tls" in listener) == ("HTTP", 443, False)
    service = one(plan, "EnvoyProxy")["spec"]["provider"]["kubernetes"]["envoyService"]
    assert service == {
        "type": "LoadBalancer",
        "annotations": {
            f"{AWS}-type": "external",
            f"{AWS}-nlb-target-type": "ip",
            f"{AWS}-scheme": "internet-facing",
            f"{AWS}-target-group-attributes": (
                "preserve_client_ip.enabled=false,deregistration_delay.timeout_seconds=780"
            ),
            f"{AWS}-attributes": "load_balancing.cross_zone.enabled=true",
            f"{AWS}-ssl-cert": ARN,
            f"{AWS}-ssl-ports": "443",
            f"{AWS}-ssl-negotiation-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
        },
    }
    assert plan.endpoints[0].url == "https://models.example.com/v1"


@pytest.mark.parametrize("tls", [ISSUED, Tls(TlsKind.ACM, certificate_arn=ARN)])
def test_a_load_balancer_that_hides_clients_tells_the_gateway_of_them(tls: Tls) -> None:
    """AWS Load Balancer Controller, target-group-attributes; Envoy Gateway, ClientTrafficPolicy ``proxyProtocol``."""
    door = replace(PUBLIC, tls=tls, client_cidrs=("198.51.100.0/24",))
    plan = made(door, balancing=Balancing(proxy_protocol=True))
    service = one(plan, "EnvoyProxy")["spec"]["provider"]["kubernetes"]["envoyService"]
    attributes = service["annotations"][f"{AWS}-target-group-attributes"].split(",")
    assert attributes[:2] == ["preserve_client_ip.enabled=false", "proxy_protocol_v2.enabled=true"]
    assert service["loadBalancerSourceRanges"] == ["198.51.100.0/24"]
    assert one(plan, "ClientTrafficPolicy")["spec"]["proxyProtocol"] == {"optional": False}
    # Without it Envoy takes the header for the client's first bytes.
    assert "proxyProtocol" not in one(made(door), "ClientTrafficPolicy")["spec"]


@pytest.mark.parametrize("tls", [ISSUED, Tls(TlsKind.ACM, certificate_arn=ARN)])
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
                    "extractFrom": {"headers": [{"name": "Authorization", "valuePrefix": "Bearer "}]},
                    "claimToHeaders": [{"claim": "sub", "header": "x-client-id"}],
                }
            ]
        },
    }


def test_the_claim_that_names_a_client_can_be_another() -> None:
    """Of machines the subject is often a number: their name is ``azp`` or ``client_id``."""
    door = replace(PUBLIC, auth=replace(TOKENS, client_claim="azp"))
    (provider,) = one(made(door), "SecurityPolicy")["spec"]["jwt"]["providers"]
    assert provider["claimToHeaders"] == [{"claim": "azp", "header": "x-client-id"}]


@pytest.mark.parametrize(
    ("auth", "removed"),
    [(TOKENS, {"headerMutation": {"remove": ["authorization"]}}), (KEYS, {}), (Auth(), {})],
    ids=["tokens", "keys", "nobody"],
)
def test_credentials_that_the_gateway_checked_go_no_further(auth: Auth, removed: Object) -> None:
    """Envoy Gateway forwards a token that it has checked, and removes a key where it is told to (``sanitize``).

    Where it checks nothing, the engine may: what a client sends reaches it.
    """
    plan = made(replace(PUBLIC, auth=auth, allow_anonymous=auth == Auth()), fleet("a", "b"))
    backends = [body["spec"] for body in plan.objects if body["kind"] == "AIServiceBackend"]
    assert len(backends) == 2
    assert [{k: v for k, v in spec.items() if k not in ("schema", "backendRef")} for spec in backends] == [
        removed
    ] * 2


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
            "http2": {"initialStreamWindowSize": "50Mi", "initialConnectionWindowSize": "50Mi"},
            "timeout": {"http": {"streamIdleTimeout": "30m", "idleTimeout": "3m"}},
        },
    }


@pytest.mark.parametrize("size", ["64Ki", "1Mi", "500Mi", "500M"])
def test_a_body_has_room_with_each_version_of_http(size: str) -> None:
    """Envoy buffers a stream of HTTP/2 up to its window, and of HTTP/1.1 up to the limit of its connection."""
    spec = one(made(replace(PUBLIC, max_body_size=size)), "ClientTrafficPolicy")["spec"]
    assert spec["connection"]["bufferLimit"] == size
    assert set(spec["http2"].values()) == {size}
    assert spec["http2"].keys() == {"initialStreamWindowSize", "initialConnectionWindowSize"}


@pytest.mark.parametrize(("auth", "client"), [(KEYS, True), (TOKENS, True), (Auth(), False)])
def test_the_log_has_the_client_where_there_is_one_and_no_query(auth: Auth, client: bool) -> None:
    plan = made(replace(PUBLIC, auth=auth, allow_anonymous=not client))
    fields = one(plan, "EnvoyProxy")["spec"]["telemetry"]["accessLog"]["settings"][0]["format"]["json"]
    assert fields.get("client") == ("%REQ(X-CLIENT-ID)%" if client else None)
    assert fields["path"] == "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%"


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
    assert kubernetes["envoyDeployment"]["replicas"] == replicas
    assert kubernetes.get("envoyPDB") == budget
