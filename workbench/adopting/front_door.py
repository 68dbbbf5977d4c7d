"""The front door of a cluster: a gateway that a stack would create becomes settings, and other routes are listed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from components.checks.front_door.settings import CERT_MANAGER, ENVOY_AI_GATEWAY, ENVOY_GATEWAY, Door
from components.checks.front_door.words import AuthKind, Exposure, TlsKind
from components.families import objects
from components.fleet.objects import Object
from components.plan.plan import plan
from toolkit.kube import Kube, KubeError, MalformedObject, NoSuchKindError

from ..inspecting.describing import value_at
from ..inspecting.snapshot import ClusterSnapshot, identity_of, owner_reference
from .candidates import title_of
from .decisions import Adoption, differences
from .settings import environment_of

Lookup = Callable[[str, str, str, str], Object | None]
_GATEWAY = ("gateway.networking.k8s.io/v1", "Gateway")
_ROUTE = ("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute")
_CERTIFICATE = ("cert-manager.io/v1", "Certificate")
_ENVOY = "gateway.envoyproxy.io/v1alpha1"
_OTHER_ROUTES = (("gateway.networking.k8s.io/v1", "HTTPRoute"), ("networking.k8s.io/v1", "Ingress"))
_USUAL = Door()


def door_settings(lookup: Lookup) -> dict[str, Any] | None:
    """Return the setting ``frontDoor`` that a cluster's gateway suggests; None without a gateway of a stack's name.

    Whether a stack with the setting creates the same objects must be checked (``door_differences``).
    """

    def named(api_version: str, kind: str) -> Object:
        return lookup(api_version, kind, _USUAL.namespace, _USUAL.name) or {}

    gateway = named(*_GATEWAY)
    if not gateway:
        return None
    listener = _first(value_at(gateway, "spec.listeners"))
    route = _first(value_at(named(*_ROUTE), "spec.rules"))
    proxy, traffic = named(_ENVOY, "EnvoyProxy"), named(_ENVOY, "ClientTrafficPolicy")
    issuer = value_at(named(*_CERTIFICATE), "spec.issuerRef") or {}
    auth = _auth_settings(value_at(named(_ENVOY, "SecurityPolicy"), "spec") or {})
    settings = {
        "host": listener.get("hostname"),
        "tls": {"kind": TlsKind.CERT_MANAGER.value, "issuer": issuer.get("name"), "issuerKind": issuer.get("kind")}
        if issuer
        else None,
        "auth": auth,
        "allowAnonymous": None if auth else True,
        "requestTimeout": _unusual(value_at(route, "timeouts.request"), _USUAL.request_timeout),
        "maxBodySize": _unusual(value_at(traffic, "spec.connection.bufferLimit"), _USUAL.max_body_size),
        "replicas": _unusual(value_at(proxy, "spec.provider.kubernetes.envoyDeployment.replicas"), _USUAL.replicas),
        "accessLog": False if value_at(proxy, "spec.telemetry.accessLog.disable") else None,
    }
    return {"expose": Exposure.GATEWAY.value, **{key: value for key, value in settings.items() if value is not None}}


def door_charts(door: Mapping[str, Any]) -> frozenset[str]:
    """Return the charts that a running front door proves to be in the cluster."""
    certificates = {CERT_MANAGER} if "tls" in door else set()
    return frozenset({ENVOY_GATEWAY, ENVOY_AI_GATEWAY, *certificates})


def _auth_settings(policy: Mapping[str, Any]) -> dict[str, Any] | None:
    keys = value_at(policy, "apiKeyAuth.credentialRefs")
    if keys:
        return {"kind": AuthKind.API_KEY.value, "secrets": [str(secret.get("name")) for secret in keys]}
    tokens = _first(value_at(policy, "jwt.providers"))
    if not tokens:
        return None
    claim = _first(tokens.get("claimToHeaders")).get("claim")
    settings = {
        "issuer": tokens.get("issuer"),
        "jwksUri": value_at(tokens, "remoteJWKS.uri"),
        "audiences": tokens.get("audiences"),
        "clientClaim": _unusual(claim, _USUAL.auth.client_claim),
    }
    return {"kind": AuthKind.JWT.value, **{key: value for key, value in settings.items() if value}}


def _first(values: Any) -> Object:  # noqa: ANN401  any field
    """Return the first object of a list; empty without one."""
    bodies = [value for value in values or () if isinstance(value, dict)]
    return bodies[0] if bodies else {}


def _unusual(value: Any, usual: object) -> Any:  # noqa: ANN401  any field
    return None if value == usual else value


def door_differences(adoption: Adoption, values: Mapping[str, Any], lookup: Lookup) -> tuple[str, ...]:
    """Return how the front door of the adopted fleet would differ from what runs.

    Args:
        adoption: The decisions.
        values: Settings of the stack with ``frontDoor``.
        lookup: Returns an object by API version, kind, namespace and name.
    """
    written = [body for decision in adoption.decisions for body in decision.documents]
    planned = plan(objects(written, "adopted", values.get("releases") or {}), environment_of(values))
    lines = [problem.reason for problem in adoption.problems]
    live: list[Object] = []
    for body in planned.door.objects:
        _, kind, namespace, name = identity_of(body)
        running = lookup(body["apiVersion"], kind, namespace, name)
        if running is None:
            lines.append(f"{title_of(identity_of(body))} does not exist")
        else:
            live.append(running)
    return (*lines, *differences(planned.door.objects, ClusterSnapshot(tuple(live))))


def other_routes(kube: Kube, adoption: Adoption, snapshot: ClusterSnapshot) -> Iterator[str]:
    """Yield notes about routes of other kinds to the adopted models, which stay outside of the project."""
    adopted = {decision.candidate.identity for decision in adoption.decisions}
    services = {
        (namespace, name)
        for body in snapshot.of_kind("", "Service")
        for _, _, namespace, name in (identity_of(body),)
        if identity_of(body) in adopted or identity_of(snapshot.root(body)) in adopted
    }
    pools = {(namespace, name) for _, kind, namespace, name in adopted if kind == "InferencePool"}
    for api_version, kind in _OTHER_ROUTES:
        unread: list[MalformedObject] = []
        try:
            routes = [
                body
                for space in snapshot.namespaces or (None,)
                for body in kube.list(api_version, kind, space, unread=unread)
            ]
        except NoSuchKindError:
            continue
        except KubeError as error:
            yield f"not read: {kind}s, so that routes to the models are not listed ({error.message})"
            continue
        yield from (f"not read, so that its targets are not listed: {each}" for each in unread)
        typed = [{**body, "apiVersion": api_version, "kind": kind} for body in routes]
        for body in sorted(typed, key=identity_of):
            _, _, namespace, name = identity_of(body)
            targets = sorted({name for name in _backends(body) if (namespace, name) in services | pools})
            if targets and owner_reference(body) is None:
                yield (
                    f"{kind} {namespace}/{name} routes to {', '.join(targets)}, and stays as it is outside of the "
                    "project: the front door of a stack is a gateway of its own (frontDoor), which cannot express it"
                )


def _backends(route: Object) -> Iterator[str]:
    """Yield the names of the backends of an HTTPRoute or Ingress in its own namespace."""
    spec = route.get("spec") or {}
    for rule in spec.get("rules") or ():
        yield from (
            str(reference.get("name"))
            for reference in rule.get("backendRefs") or ()
            if not reference.get("namespace")
        )
        for path in value_at(rule, "http.paths") or ():
            yield str(value_at(path, "backend.service.name"))
    yield str(value_at(spec, "defaultBackend.service.name"))


def without_door(values: Mapping[str, Any], reasons: Sequence[str]) -> str:
    """Return the note about a gateway that the settings cannot express."""
    host = values.get("host")
    named = f" of {host}" if host else ""
    return (
        f"Gateway {_USUAL.namespace}/{_USUAL.name}{named} stays outside of the project, because the front door that "
        f"its settings describe would differ: {'; '.join(reasons)}"
    )
