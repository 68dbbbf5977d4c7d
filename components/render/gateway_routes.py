"""From the name of a model to its Service: routes, backends, and the grants between namespaces.

Kinds and fields: Envoy AI Gateway v1.1 (``aigateway.envoyproxy.io/v1beta1``), llmaz spec 4.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from ..api.problems import Problem
from .gateway_objects import ENVOY_API, GATEWAY_API, TOKEN_COSTS, gateway_reference
from .gateway_settings import FrontDoor
from .types import Endpoint, Object, Rendered

AI_API = "aigateway.envoyproxy.io"
_MODEL_HEADER = "x-ai-eg-model"
"""The gateway reads the model's name out of the request and routes by this header."""
_SCHEMAS = {"openai": "OpenAI"}
_USUAL_PREFIX = "/v1"
MOST_RULES = 15
"""Rules of one AIGatewayRoute; further ones go into further routes of the same gateway (its API documentation)."""


@dataclass(frozen=True, slots=True)
class Served:
    """One rendered resource and where it answers."""

    item: Rendered
    endpoint: Endpoint

    @property
    def place(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.item.namespace, self.item.name

    @property
    def path(self) -> str:
        """Path of the API, such as ``/v1``; empty at the root."""
        path = self.endpoint.url.partition("://")[2].partition("/")[2].rstrip("/")
        return f"/{path}" if path else ""


def served_by_model(rendered: Iterable[Rendered]) -> dict[str, list[Served]]:
    """Return what serves, by the name that clients ask for; the order does not depend on that of the input."""
    served = [Served(item, item.endpoint) for item in rendered if item.endpoint]
    ordered = sorted(served, key=lambda each: (each.endpoint.model, *each.place))
    return {model: list(group) for model, group in groupby(ordered, key=lambda each: each.endpoint.model)}


def check_models(models: dict[str, list[Served]]) -> list[Problem]:
    """Report what cannot be behind one name, or behind the gateway at all."""
    problems = []
    for model, served in models.items():
        first = served[0]
        for each in served:
            if each.endpoint.api != first.endpoint.api:
                reason = (
                    f"serves model {model!r} with the API {each.endpoint.api!r}, and {first.item.kind}/"
                    f"{first.item.name} serves it with {first.endpoint.api!r}; give one of the models another name"
                )
                problems.append(each.item.source.problem("", reason))
            elif each.endpoint.api not in _SCHEMAS:
                known = ", ".join(_SCHEMAS)
                reason = f"speaks the API {each.endpoint.api!r}, which the gateway cannot route; it routes {known}"
                problems.append(each.item.source.problem("", reason))
            elif _weights(each.item) != _weights(first.item):
                reason = (
                    f"serves model {model!r}, and so does {first.item.kind}/{first.item.name} in namespace "
                    f"{first.item.namespace} with another resource: requests go to both; give one of the models "
                    "another name unless their weights are the same"
                )
                problems.append(each.item.source.problem("", reason, "warning"))
    return problems


def _weights(item: Rendered) -> tuple[str, str, str]:
    """Return which resource says what the weights are: llmaz's are of the cluster, LLMKube's of a namespace."""
    if item.kind == "InferenceService":
        return "Model", item.namespace, item.model
    return "OpenModel", "", item.model


def route_objects(models: dict[str, list[Served]], door: FrontDoor) -> tuple[Object, ...]:
    """Return backends, grants and routes, in the order in which they can be applied."""
    served = sorted((each for group in models.values() for each in group), key=lambda each: each.place)
    backends = [body for each in served for body in (_backend(each), _service_backend(each))]
    others = sorted({each.item.namespace for each in served} - {door.namespace})
    grants = [_grant(namespace, door) for namespace in others]
    return (*backends, *grants, *_routes([_rule(model, group, door) for model, group in models.items()], door))


def _backend(served: Served) -> Object:
    """Return the address of the model's Service: an AIServiceBackend refers to nothing but a Backend."""
    endpoint = served.endpoint
    hostname = f"{endpoint.service}.{endpoint.namespace}.svc.cluster.local"
    spec = {"endpoints": [{"fqdn": {"hostname": hostname, "port": endpoint.port}}]}
    return _object(f"{ENVOY_API}/v1alpha1", "Backend", served.item.name, served.item.namespace, spec)


def _service_backend(served: Served) -> Object:
    schema = {"name": _SCHEMAS[served.endpoint.api]}
    if served.path != _USUAL_PREFIX:
        schema["prefix"] = served.path or "/"
    spec = {"schema": schema, "backendRef": {"group": ENVOY_API, "kind": "Backend", "name": served.item.name}}
    return _object(f"{AI_API}/v1beta1", "AIServiceBackend", served.item.name, served.item.namespace, spec)


def _grant(namespace: str, door: FrontDoor) -> Object:
    """Let the gateway's routes use the backends of a namespace.

    The AI gateway makes an HTTPRoute of each AIGatewayRoute, and that refers to the Backend by itself.
    """
    spec = {
        "from": [
            {"group": AI_API, "kind": "AIGatewayRoute", "namespace": door.namespace},
            {"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": door.namespace},
        ],
        "to": [{"group": AI_API, "kind": "AIServiceBackend"}, {"group": ENVOY_API, "kind": "Backend"}],
    }
    return _object(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", door.name, namespace, spec)


def _rule(model: str, served: list[Served], door: FrontDoor) -> Object:
    return {
        "matches": [{"headers": [{"type": "Exact", "name": _MODEL_HEADER, "value": model}]}],
        "backendRefs": [_backend_reference(each, served, door) for each in served],
        "timeouts": {"request": door.request_timeout},
    }


def _backend_reference(each: Served, served: list[Served], door: FrontDoor) -> Object:
    """Return a reference to a backend; several share the requests by their replicas."""
    elsewhere = {"namespace": each.item.namespace} if each.item.namespace != door.namespace else {}
    reference: Object = {"name": each.item.name, **elsewhere}
    if len(served) > 1:
        # All at rest without a pod: weights of 0 only would refuse requests even once one is started.
        none_runs = not any(other.item.replicas for other in served)
        reference["weight"] = 1 if none_runs else each.item.replicas
    return reference


def _routes(rules: list[Object], door: FrontDoor) -> list[Object]:
    parts = [rules[start : start + MOST_RULES] for start in range(0, len(rules), MOST_RULES)]
    return [_route(part, number, door) for number, part in enumerate(parts, 1)]


def _route(rules: list[Object], number: int, door: FrontDoor) -> Object:
    spec: Object = {"parentRefs": [gateway_reference(door)]}
    if door.host:
        spec["hostnames"] = [door.host]
    spec["rules"] = rules
    if door.access_log:
        spec["llmRequestCosts"] = [{"metadataKey": key, "type": kind} for key, kind in TOKEN_COSTS]
    name = door.name if number == 1 else f"{door.name}-{number}"
    return _object(f"{AI_API}/v1beta1", "AIGatewayRoute", name, door.namespace, spec)


def _object(api_version: str, kind: str, name: str, namespace: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
