"""What the AI gateway's controller makes of its own kinds: routes that Envoy Gateway understands.

A stand-in for ai-gateway v1.1.0 ``internal/controller/ai_gateway_route.go``. What it leaves out are the kinds that
the front door never renders: InferencePools, BackendSecurityPolicies, GatewayConfigs, MCPRoutes and QuotaPolicies.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from toolkit.errors import UserError

from ...fleet import Object

AI_API = "aigateway.envoyproxy.io"
ENVOY_API = "gateway.envoyproxy.io"
GATEWAY_API = "gateway.networking.k8s.io"
GENERATED = "ai-gateway-generated"
"""Annotation of generated routes, below Envoy Gateway's domain, which hands it on to Envoy as metadata
(``internal/internalapi/internalapi.go``)."""
_ROOT = {"type": "PathPrefix", "value": "/"}
"""Path of every rule (flag ``rootPrefix``): nothing but headers tells rules apart."""
_TIMEOUT = "60s"
"""``defaultRequestTimeout``, ``api/v1beta1/ai_gateway_route_helper.go``."""
_NOT_FOUND = (
    "No matching route found. It is likely because the model specified in your request is not configured in the "
    "Gateway."
)
_Place = tuple[str, str]


def translated(objects: Iterable[Object]) -> tuple[Object, ...]:
    """Return the objects with an HTTPRoute and its filters in place of each AIGatewayRoute.

    AIServiceBackends go: Envoy Gateway does not know them, and their Backends are among the objects.

    Raises:
        UserError: a route names a backend that is not there, or that no grant lets it use.
    """
    given = tuple(objects)
    backends = service_backends(given)
    found: list[Object] = []
    for body in given:
        if _is(body, "AIGatewayRoute"):
            found += [*_filters(body), _http_route(body, backends, given)]
        elif not _is(body, "AIServiceBackend"):
            found.append(body)
    return tuple(found)


def ai_routes(objects: Iterable[Object]) -> list[Object]:
    """Return the AIGatewayRoutes among objects."""
    return [body for body in objects if _is(body, "AIGatewayRoute")]


def service_backends(objects: Iterable[Object]) -> dict[_Place, Object]:
    """Return the AIServiceBackends among objects, by namespace and name."""
    return {place_of(body): body for body in objects if _is(body, "AIServiceBackend")}


def place_of(body: Object) -> _Place:
    """Return namespace and name of an object."""
    return body["metadata"]["namespace"], body["metadata"]["name"]


def _is(body: Object, kind: str) -> bool:
    return bool(body["kind"] == kind and body["apiVersion"].startswith(f"{AI_API}/"))


def _names(route: Object) -> tuple[str, str]:
    """Return what the two filters of a route are called."""
    name = route["metadata"]["name"]
    return f"ai-eg-host-rewrite-{name}", f"ai-eg-route-not-found-response-{name}"


def _filters(route: Object) -> list[Object]:
    rewrite, not_found = _names(route)
    answer = {"statusCode": 404, "body": {"type": "Inline", "inline": _NOT_FOUND}}
    return [
        _filter(route, rewrite, {"urlRewrite": {"hostname": {"type": "Backend"}}}),
        _filter(route, not_found, {"directResponse": answer}),
    ]


def _filter(route: Object, name: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": route["metadata"]["namespace"]}
    return {"apiVersion": f"{ENVOY_API}/v1alpha1", "kind": "HTTPRouteFilter", "metadata": metadata, "spec": spec}


def _use(name: str) -> Object:
    reference = {"group": ENVOY_API, "kind": "HTTPRouteFilter", "name": name}
    return {"type": "ExtensionRef", "extensionRef": reference}


def _http_route(route: Object, backends: Mapping[_Place, Object], objects: tuple[Object, ...]) -> Object:
    """Return a rule for each of the route's, and one for what matches none of them."""
    metadata, spec = route["metadata"], route["spec"]
    rewrite, not_found = _names(route)
    rules = [_rule(rule, rewrite, route, backends, objects) for rule in spec["rules"]]
    rules.append({"name": "route-not-found", "matches": [{"path": dict(_ROOT)}], "filters": [_use(not_found)]})
    annotations = {**metadata.get("annotations", {}), f"{ENVOY_API}/{GENERATED}": "true"}
    generated = {"name": metadata["name"], "namespace": metadata["namespace"], "annotations": annotations}
    if metadata.get("labels"):
        generated["labels"] = dict(metadata["labels"])
    body: Object = {"parentRefs": spec["parentRefs"], "rules": rules}
    if spec.get("hostnames"):
        body["hostnames"] = spec["hostnames"]
    return {"apiVersion": f"{GATEWAY_API}/v1", "kind": "HTTPRoute", "metadata": generated, "spec": body}


def _rule(
    rule: Object, rewrite: str, route: Object, backends: Mapping[_Place, Object], objects: tuple[Object, ...]
) -> Object:
    matches = [{"path": dict(_ROOT), "headers": match["headers"]} for match in rule.get("matches", ())]
    timeouts = {"request": _TIMEOUT, **rule.get("timeouts", {})}
    references = [_reference(each, route, backends, objects) for each in rule["backendRefs"]]
    return {"backendRefs": references, "matches": matches, "filters": [_use(rewrite)], "timeouts": timeouts}


def _reference(
    reference: Object, route: Object, backends: Mapping[_Place, Object], objects: tuple[Object, ...]
) -> Object:
    """Return the Backend of an AIServiceBackend, with the weight that the route gives it."""
    home = route["metadata"]["namespace"]
    place = reference.get("namespace", home), reference["name"]
    title = f"AIGatewayRoute {home}/{route['metadata']['name']}"
    if place not in backends:
        raise UserError(f"{title}: there is no AIServiceBackend {place[1]!r} in namespace {place[0]!r}")
    if place[0] != home and not any(_grants(body, home, place) for body in objects):
        raise UserError(
            f"{title}: no ReferenceGrant in namespace {place[0]!r} lets it use the AIServiceBackend {place[1]!r}"
        )
    found: dict[str, Any] = dict(backends[place]["spec"]["backendRef"])
    if place[0] != home:
        found.setdefault("namespace", place[0])
    return {**found, "weight": reference.get("weight", 1)}


def _grants(body: Object, home: str, place: _Place) -> bool:
    """Tell whether an object lets routes of a namespace use an AIServiceBackend (``referencegrant.go``)."""
    if body["kind"] != "ReferenceGrant" or body["metadata"]["namespace"] != place[0]:
        return False
    asks = {"group": AI_API, "kind": "AIGatewayRoute", "namespace": home}
    allowed = [each for each in body["spec"]["to"] if (each["group"], each["kind"]) == (AI_API, "AIServiceBackend")]
    return asks in body["spec"]["from"] and any(each.get("name", place[1]) == place[1] for each in allowed)
