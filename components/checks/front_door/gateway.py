"""The gateway: class, proxies, listener, certificate and client policies.

Kinds and fields: Gateway API v1, Envoy Gateway v1.9 (``gateway.envoyproxy.io/v1alpha1``), cert-manager v1.
"""

from ...contract.texts.durations import duration_text
from ...fleet.demand import ZONE_LABEL
from ...fleet.objects import Object
from .balancers import Balancing, source_ranges
from .concurrency import processor_bounds
from .settings import Door
from .words import AuthKind, TlsKind

GATEWAY_API = "gateway.networking.k8s.io"
ENVOY_API = "gateway.envoyproxy.io"
_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
CLIENT_HEADER = "x-client-id"
"""Identifies the client in the log and for limits. Values sent by clients are dropped when they authenticate
(``setCopy`` in Envoy's api_key_auth.cc, ``sanitizeHeaders`` in its jwt_authn/extractor.cc)."""
_KEEPALIVE = {"idleTime": "60s", "interval": "60s", "probes": 5}
"""TLS listeners of Network Load Balancers drop connections that are idle for 350 seconds, which may happen during a
long answer; so do the network interfaces of newer nodes ("Best Practices for TCP Connection Management on EC2")."""
_OWNERS = "gateway.envoyproxy.io/owning-gateway"
"""Labels of proxies with their Gateway (gateway v1.9.0, internal/gatewayapi/translator.go)."""
TOKEN_COSTS = (("llm_input_token", "InputToken"), ("llm_output_token", "OutputToken"))
ALL_TOKENS = ("llm_total_token", "TotalToken")
"""Metadata keys of token counts, and their kinds."""
COUNTS = "io.envoy.ai_gateway"
"""Namespace of these keys in Envoy's metadata."""
_LOGGED = {
    "start_time": "%START_TIME%",
    "request_id": "%REQ(X-REQUEST-ID)%",
    "method": "%REQ(:METHOD)%",
    # Clients may put a token into the query by mistake.
    "path": "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    "model": "%REQ(X-AI-EG-MODEL)%",
    "backend": "%DYNAMIC_METADATA(io.envoy.ai_gateway:backend_name)%",
    **{metadata: f"%DYNAMIC_METADATA(io.envoy.ai_gateway:{metadata})%" for metadata, _ in TOKEN_COSTS},
    "response_code": "%RESPONSE_CODE%",
    "response_flags": "%RESPONSE_FLAGS%",
    "duration_ms": "%DURATION%",
    "bytes_sent": "%BYTES_SENT%",
    "client_address": "%DOWNSTREAM_REMOTE_ADDRESS%",
}


def gateway_objects(door: Door, balancing: Balancing) -> tuple[Object, ...]:
    """Return the gateway's objects. Policies precede routes, so that no model is ever exposed without them."""
    certificate: list[Object] = []
    if door.tls.kind == TlsKind.CERT_MANAGER:
        if door.acme:
            # The solver uses the credentials of cert-manager's pod.
            account = {
                "server": door.acme.server,
                **({"email": door.acme.email} if door.acme.email else {}),
                "privateKeySecretRef": {"name": f"{door.tls.issuer}-account"},
                "solvers": [{"selector": {"dnsNames": [door.host]}, **door.acme.solver}],
            }
            cluster_issuer = {
                "apiVersion": "cert-manager.io/v1",
                "kind": "ClusterIssuer",
                "metadata": {"name": door.tls.issuer},
                "spec": {"acme": account},
            }
            certificate.append(cluster_issuer)
        issuer = {"group": "cert-manager.io", "kind": door.tls.issuer_kind.value, "name": door.tls.issuer}
        spec = {"secretName": _certificate_name(door), "dnsNames": [door.host], "issuerRef": issuer}
        certificate.append(_object("cert-manager.io/v1", "Certificate", door, spec))
    security = () if door.auth.kind == AuthKind.NONE else (_security_policy(door),)
    gateway_class = {
        "apiVersion": f"{GATEWAY_API}/v1",
        "kind": "GatewayClass",
        "metadata": {"name": door.name},
        "spec": {"controllerName": _CONTROLLER},
    }
    parameters = {"group": ENVOY_API, "kind": "EnvoyProxy", "name": door.name}
    gateway_spec = {
        "gatewayClassName": door.name,
        "infrastructure": {"parametersRef": parameters},
        "listeners": [_listener(door)],
    }
    gateway = _object(f"{GATEWAY_API}/v1", "Gateway", door, gateway_spec)
    if door.awaited:
        # Makes Pulumi's provider wait, so that resources that need the address know it.
        gateway["metadata"]["annotations"] = {"pulumi.com/waitFor": "jsonpath={.status.addresses[0].value}"}
    proxies, clients = _proxies(door, balancing), _client_policy(door, balancing)
    return (gateway_class, proxies, *certificate, clients, *security, gateway)


def gateway_reference(door: Door) -> Object:
    return {"group": GATEWAY_API, "kind": "Gateway", "name": door.name}


def _proxies(door: Door, balancing: Balancing) -> Object:
    """Return the EnvoyProxy with proxies and their load balancer.

    In an update, no proxy terminates before another one accepts requests, and each waits for its requests: see
    :mod:`.rollout`.
    """
    encrypted, balancers = door.tls.kind == TlsKind.ACM, balancing.balancers
    annotations = balancers.annotations(
        internal=door.internal,
        proxy_protocol=balancing.proxy_protocol,
        seconds=door.balancer_seconds(balancers),
        tcp_ports=() if encrypted else (_listener(door)["port"],),
    )
    if encrypted:
        annotations |= balancers.certificate_annotations(door.tls.certificate_arn or "")
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "25%"}}
    kubernetes: Object = {
        "envoyDeployment": {"replicas": door.replicas, "strategy": strategy},
        # Envoy Gateway's default policy is Local, so nodes preserve the client's address.
        "envoyService": {"type": "LoadBalancer", "annotations": annotations, **source_ranges(door.client_cidrs)},
    }
    if door.replicas > 1:
        labels = {f"{_OWNERS}-name": door.name, f"{_OWNERS}-namespace": door.namespace}
        # New proxies of a rolling update are counted separately from old ones. Zones and nodes with taints that
        # proxies do not tolerate are ignored: nodes with accelerators, drained nodes and unreachable zones.
        common = {
            "maxSkew": 1,
            "labelSelector": {"matchLabels": labels},
            "matchLabelKeys": ["pod-template-hash"],
            "nodeTaintsPolicy": "Honor",
        }
        spread = [
            {"topologyKey": ZONE_LABEL, "whenUnsatisfiable": "DoNotSchedule", **common},
            {"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway", **common},
        ]
        kubernetes["envoyDeployment"]["pod"] = {"topologySpreadConstraints": spread}
        kubernetes["envoyPDB"] = {"maxUnavailable": 1}
    drain = {
        "drainTimeout": duration_text(door.drain_seconds),
        "minDrainDuration": door.rollout.min_drain_duration,
    }
    access_log: Object = {"disable": True}
    if door.access_log:
        # It contains neither prompts nor keys.
        client = {"client": f"%REQ({CLIENT_HEADER.upper()})%"} if door.auth.kind != AuthKind.NONE else {}
        sink = {"type": "File", "file": {"path": "/dev/stdout"}}
        access_log = {"settings": [{"format": {"type": "JSON", "json": {**_LOGGED, **client}}, "sinks": [sink]}]}
    spec = {
        "provider": {"type": "Kubernetes", "kubernetes": kubernetes},
        "shutdown": drain,
        "telemetry": {"accessLog": access_log},
        **processor_bounds(),
    }
    return _object(f"{ENVOY_API}/v1alpha1", "EnvoyProxy", door, spec)


def _listener(door: Door) -> Object:
    """Return the only listener. With TLS, port 80 is closed: a redirect would come after a key was sent in clear."""
    host = {"hostname": door.host} if door.host else {}
    # Only routes in the gateway's own namespace, so that others cannot take over a model's name.
    common: Object = {**host, "allowedRoutes": {"namespaces": {"from": "Same"}}}
    if door.tls.kind == TlsKind.NONE:
        return {"name": "http", "protocol": "HTTP", "port": 80, **common}
    if door.tls.kind == TlsKind.ACM:
        # The load balancer terminates TLS.
        return {"name": "https", "protocol": "HTTP", "port": 443, **common}
    secret = {"group": "", "kind": "Secret", "name": _certificate_name(door)}
    tls = {"mode": "Terminate", "certificateRefs": [secret]}
    return {"name": "https", "protocol": "HTTPS", "port": 443, **common, "tls": tls}


def _certificate_name(door: Door) -> str:
    return f"{door.name}-tls"


def _client_policy(door: Door, balancing: Balancing) -> Object:
    """Return the settings of connections from clients.

    The AI gateway buffers each request, and each answer that is not streamed; larger ones fail with 413 or 500. With
    HTTP/1.1, the buffer is the buffer limit of the connection (32 KiB by default); with HTTP/2, the window of the
    stream (64 KiB), regardless of that limit. A smaller window of the connection would block a stream before its own
    window is full (Envoy's FAQ, "How do I configure flow control?"; ``BUFFERED`` in ai-gateway v1.1
    internal/extensionserver/post_translate_modify.go; defaults in gateway v1.9 internal/xds/translator/listener.go).
    """
    limit = door.max_body_size
    spec: Object = {
        "targetRefs": [gateway_reference(door)],
        # For the client address in the log and x-forwarded-for. Connections without the header are refused, so only
        # pods that reach the proxies directly could forge it.
        **({"proxyProtocol": {"optional": False}} if balancing.proxy_protocol else {}),
        "tcpKeepalive": dict(_KEEPALIVE),
        "connection": {"bufferLimit": limit},
        "http2": {"initialStreamWindowSize": limit, "initialConnectionWindowSize": limit},
        # Without streaming, nothing is sent until the answer is complete, and Envoy's default idle timeout is five
        # minutes. A kept-alive connection may start its last request during the drain of a proxy, as late as it may
        # be idle, so it may not be idle for longer than the proxy accepts connections.
        "timeout": {
            "http": {"streamIdleTimeout": door.request_timeout, "idleTimeout": door.rollout.min_drain_duration}
        },
    }
    return _object(f"{ENVOY_API}/v1alpha1", "ClientTrafficPolicy", door, spec)


def _security_policy(door: Door) -> Object:
    """Return the authentication of the whole gateway, so that routes added later are protected too."""
    spec: Object = {"targetRefs": [gateway_reference(door)]}
    if door.auth.kind == AuthKind.API_KEY:
        spec["apiKeyAuth"] = {
            "credentialRefs": [{"group": "", "kind": "Secret", "name": name} for name in door.auth.secrets],
            "extractFrom": [{"headers": ["Authorization"]}],
            "forwardClientIDHeader": CLIENT_HEADER,
            # Engines log headers, and must not see keys.
            "sanitize": True,
        }
    else:
        provider = {
            "name": "clients",
            "issuer": door.auth.issuer,
            "audiences": list(door.auth.audiences),
            "remoteJWKS": {"uri": door.auth.jwks_uri},
            # Not from the query, where Envoy also looks by default: queries are logged on the way.
            "extractFrom": {"headers": [{"name": "Authorization", "valuePrefix": "Bearer "}]},
            "claimToHeaders": [{"claim": door.auth.client_claim, "header": CLIENT_HEADER}],
        }
        spec["jwt"] = {"providers": [provider]}
    return _object(f"{ENVOY_API}/v1alpha1", "SecurityPolicy", door, spec)


def _object(api_version: str, kind: str, door: Door, spec: Object) -> Object:
    metadata = {"name": door.name, "namespace": door.namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
