"""Translate the AI gateway's kinds to routes that Envoy Gateway understands.

A stand-in for ai-gateway v1.1.0 ``internal/controller/ai_gateway_route.go``. It leaves out the kinds that the front
door never renders: InferencePools, BackendSecurityPolicies, GatewayConfigs, MCPRoutes and QuotaPolicies.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from toolkit.errors import UserError

from ...fleet import Object

AI_API = "aigateway.envoyproxy.io"
ENVOY_API = "gateway.envoyproxy.io"
GATEWAY_API = "gateway.networking.k8s.io"
GENERATED = "ai-gateway-generated"
"""Annotation of generated routes. It has Envoy Gateway's domain, whose annotations become metadata of Envoy's routes
(``internal/internalapi/internalapi.go``)."""
_ROOT = {"type": "PathPrefix", "value": "/"}
"""Path of every rule (flag ``rootPrefix``): rules differ by headers alone."""
_TIMEOUT = "60s"
"""``defaultRequestTimeout``, ``api/v1beta1/ai_gateway_route_helper.go``."""
_NOT_FOUND = (
    "No matching route found. It is likely because the model specified in your request is not configured in the "
    "Gateway."
)
_Place = tuple[str, str]


def translated(objects: Iterable[Object]) -> tuple[Object, ...]:
    """Return the objects with an HTTPRoute and its filters in place of each AIGatewayRoute.

    AIServiceBackends are dropped: Envoy Gateway does not know the kind, and the objects contain their Backends.

    Raises:
        UserError: a route references a backend that does not exist, or that no ReferenceGrant lets it use.
    """
    rendered = tuple(objects)
    backends = service_backends(rendered)
    translation: list[Object] = []
    for body in rendered:
        if _is(body, "AIGatewayRoute"):
            translation += [*_filters(body), _http_route(body, backends, rendered)]
        elif not _is(body, "AIServiceBackend"):
            translation.append(body)
    return tuple(translation)


def ai_routes(objects: Iterable[Object]) -> list[Object]:
    return [body for body in objects if _is(body, "AIGatewayRoute")]


def service_backends(objects: Iterable[Object]) -> dict[_Place, Object]:
    """Return the AIServiceBackends by namespace and name."""
    return {place_of(body): body for body in objects if _is(body, "AIServiceBackend")}


def place_of(body: Object) -> _Place:
    """Return the namespace and name of an object."""
    return body["metadata"]["namespace"], body["metadata"]["name"]


def _is(body: Object, kind: str) -> bool:
    return bool(body["kind"] == kind and body["apiVersion"].startswith(f"{AI_API}/"))


def _names(route: Object) -> tuple[str, str]:
    """Return the names of a route's two filters."""
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
    """Return the HTTPRoute: a rule for each of the AIGatewayRoute, and one that responds 404 to everything else."""
    metadata, spec = route["metadata"], route["spec"]
    rewrite, not_found = _names(route)
    rules = [
        {
            "backendRefs": [_reference(reference, route, backends, objects) for reference in rule["backendRefs"]],
            "matches": [{"path": dict(_ROOT), "headers": match["headers"]} for match in rule.get("matches", ())],
            "filters": [_use(rewrite)],
            "timeouts": {"request": _TIMEOUT, **rule.get("timeouts", {})},
        }
        for rule in spec["rules"]
    ]
    rules.append({"name": "route-not-found", "matches": [{"path": dict(_ROOT)}], "filters": [_use(not_found)]})
    annotations = {**metadata.get("annotations", {}), f"{ENVOY_API}/{GENERATED}": "true"}
    generated = {"name": metadata["name"], "namespace": metadata["namespace"], "annotations": annotations}
    if metadata.get("labels"):
        generated["labels"] = dict(metadata["labels"])
    body: Object = {"parentRefs": spec["parentRefs"], "rules": rules}
    if spec.get("hostnames"):
        body["hostnames"] = spec["hostnames"]
    return {"apiVersion": f"{GATEWAY_API}/v1", "kind": "HTTPRoute", "metadata": generated, "spec": body}


def _reference(
    reference: Object, route: Object, backends: Mapping[_Place, Object], objects: tuple[Object, ...]
) -> Object:
    """Return the reference to the Backend of an AIServiceBackend, with the weight that the route gives it."""
    home = route["metadata"]["namespace"]
    place = reference.get("namespace", home), reference["name"]
    title = f"AIGatewayRoute {home}/{route['metadata']['name']}"
    if place not in backends:
        raise UserError(f"{title}: there is no AIServiceBackend {place[1]!r} in namespace {place[0]!r}")
    if place[0] != home and not any(_grants(body, home, place) for body in objects):
        raise UserError(
            f"{title}: no ReferenceGrant in namespace {place[0]!r} lets it use the AIServiceBackend {place[1]!r}"
        )
    backend: dict[str, Any] = dict(backends[place]["spec"]["backendRef"])
    if place[0] != home:
        backend.setdefault("namespace", place[0])
    return {**backend, "weight": reference.get("weight", 1)}


def _grants(body: Object, home: str, place: _Place) -> bool:
    """Tell whether an object grants routes of a namespace the use of an AIServiceBackend (``referencegrant.go``)."""
    if body["kind"] != "ReferenceGrant" or body["metadata"]["namespace"] != place[0]:
        return False
    source = {"group": AI_API, "kind": "AIGatewayRoute", "namespace": home}
    targets = [to for to in body["spec"]["to"] if (to["group"], to["kind"]) == (AI_API, "AIServiceBackend")]
    return source in body["spec"]["from"] and any(to.get("name", place[1]) == place[1] for to in targets)
