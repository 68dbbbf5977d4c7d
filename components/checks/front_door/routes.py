"""Routes from model names to Services: backends, routes, and grants between namespaces.

Kinds and fields: Envoy AI Gateway v1.1 (``aigateway.envoyproxy.io/v1beta1``), llmaz spec 4.
"""

from collections.abc import Sequence

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.endpoints import Backend, Endpoint
from ...fleet.objects import Object, new_object
from .gateway import ALL_TOKENS, ENVOY_API, GATEWAY_API, TOKEN_COSTS, gateway_reference
from .models import Models, place_of
from .rules import check_headers, matches_of, rules_of, weights_of
from .settings import Door
from .words import AuthKind

AI_API = "aigateway.envoyproxy.io"
_SCHEMAS = {"openai": "OpenAI"}
_DEFAULT_PREFIX = "/v1"
MOST_RULES = 15
"""Maximum of rules in an AIGatewayRoute; further ones need another route of the same gateway (API documentation)."""


def check_models(models: Models) -> list[Problem]:
    """Report models that cannot share a name, or that the gateway cannot route."""
    problems = []
    for model, endpoints in models.items():
        first = endpoints[0]
        title = first.origin.source.title
        for endpoint in endpoints:
            if endpoint.api != first.api:
                reason = (
                    f"serves model {model!r} with the API {endpoint.api!r}, but {title} serves it with "
                    f"{first.api!r}; rename one of the models"
                )
                problems.append(endpoint.origin.problem(reason, rule=RuleId.ACCESS_UNROUTABLE))
            elif endpoint.api not in _SCHEMAS:
                known = ", ".join(_SCHEMAS)
                reason = f"uses the API {endpoint.api!r}, which the gateway cannot route; it supports {known}"
                problems.append(endpoint.origin.problem(reason, rule=RuleId.ACCESS_UNROUTABLE))
            elif endpoint.weights != first.weights:
                reason = (
                    f"serves model {model!r}, and so does {title} in namespace {first.namespace} from another "
                    "resource, so requests go to both; rename one of the models unless their weights are the same"
                )
                problems.append(endpoint.origin.problem(reason, Severity.WARNING, rule=RuleId.ACCESS_SHARED_NAME))
        problems += check_headers(endpoints)
    return problems


def route_objects(models: Models, door: Door) -> tuple[Object, ...]:
    """Return backends, grants and routes, in the order in which to apply them."""
    endpoints = sorted((endpoint for group in models.values() for endpoint in group), key=place_of)
    backends = [
        body
        for endpoint in endpoints
        for backend, name in zip(endpoint.backends, backend_names(endpoint), strict=True)
        for body in (_backend(endpoint, backend, name), _service_backend(endpoint, name, door))
    ]
    others = sorted({endpoint.namespace for endpoint in endpoints} - {door.namespace})
    grants = [_grant(namespace, door) for namespace in others]
    rules = [
        {
            "matches": matches_of(model, rule[0]),
            "backendRefs": _references(rule, door),
            "timeouts": {"request": door.request_timeout},
        }
        for model, group in models.items()
        for rule in rules_of(group)
    ]
    parts = [rules[start : start + MOST_RULES] for start in range(0, len(rules), MOST_RULES)]
    return (*backends, *grants, *(_route(part, number, door) for number, part in enumerate(parts, 1)))


def backend_names(endpoint: Endpoint) -> list[str]:
    """Return the names of an endpoint's backends: the first has its name, others also that of their Service."""
    _, *others = endpoint.backends
    return [endpoint.name, *(f"{endpoint.name}-{other.service}" for other in others)]


def _backend(endpoint: Endpoint, backend: Backend, name: str) -> Object:
    """Return the Backend with the address of the model's Service; an AIServiceBackend can only refer to a Backend."""
    hostname = f"{backend.service}.{backend.namespace}.svc.cluster.local"
    spec = {"endpoints": [{"fqdn": {"hostname": hostname, "port": backend.port}}]}
    return new_object(f"{ENVOY_API}/v1alpha1", "Backend", name, endpoint.namespace, spec)


def _service_backend(endpoint: Endpoint, name: str, door: Door) -> Object:
    """Return the AIServiceBackend with the API of a model.

    Engines log headers and need no token. Envoy Gateway always forwards it (``Forward: true`` in gateway v1.9
    internal/xds/translator/jwt.go), so it is removed here, after validation. API keys are removed by the security
    policy. A gateway without authentication removes nothing, because the engine itself may require a key.
    """
    schema = {"name": _SCHEMAS[endpoint.api]}
    if endpoint.path != _DEFAULT_PREFIX:
        schema["prefix"] = endpoint.path or "/"
    spec: Object = {"schema": schema, "backendRef": {"group": ENVOY_API, "kind": "Backend", "name": name}}
    if door.auth.kind == AuthKind.JWT:
        spec["headerMutation"] = {"remove": ["authorization"]}
    return new_object(f"{AI_API}/v1beta1", "AIServiceBackend", name, endpoint.namespace, spec)


def _grant(namespace: str, door: Door) -> Object:
    """Allow the gateway's routes to use the backends of a namespace.

    The AI gateway creates an HTTPRoute for each AIGatewayRoute, which refers to the Backend directly.
    """
    spec = {
        "from": [
            {"group": AI_API, "kind": "AIGatewayRoute", "namespace": door.namespace},
            {"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": door.namespace},
        ],
        "to": [{"group": AI_API, "kind": "AIServiceBackend"}, {"group": ENVOY_API, "kind": "Backend"}],
    }
    return new_object(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", door.name, namespace, spec)


def _references(endpoints: Sequence[Endpoint], door: Door) -> list[Object]:
    backends = [
        (endpoint, backend, name)
        for endpoint in endpoints
        for backend, name in zip(endpoint.backends, backend_names(endpoint), strict=True)
    ]
    references: list[Object] = []
    for (endpoint, backend, name), weight in zip(backends, weights_of(endpoints), strict=True):
        reference: Object = {"name": name}
        if endpoint.namespace != door.namespace:
            reference["namespace"] = endpoint.namespace
        if len(backends) > 1 or not weight:
            reference["weight"] = weight
        if backend.served_name and backend.served_name != endpoint.model:
            reference["modelNameOverride"] = backend.served_name
        references.append(reference)
    return references


def _route(rules: list[Object], number: int, door: Door) -> Object:
    spec: Object = {"parentRefs": [gateway_reference(door)]}
    if door.host:
        spec["hostnames"] = [door.host]
    spec["rules"] = rules
    counted = [*(TOKEN_COSTS if door.access_log else ()), *((ALL_TOKENS,) if door.rate_limit.tokens else ())]
    if counted:
        spec["llmRequestCosts"] = [{"metadataKey": key, "type": kind} for key, kind in counted]
    name = door.name if number == 1 else f"{door.name}-{number}"
    return new_object(f"{AI_API}/v1beta1", "AIGatewayRoute", name, door.namespace, spec)
