"""The front door: one gateway for all models, a load balancer for each, or no external access."""

from collections.abc import Iterable
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, errors
from ...fleet.combining import headless_services
from ...fleet.endpoints import Endpoint
from ...fleet.objects import BALANCED, Object, is_core_service, tcp_ports
from ...fleet.rendered import Fleet
from .balancers import Balancing, balanced_spec, check_ranges
from .losses import lost_without_gateway
from .models import Models, by_model, place_of
from .rollout_checks import check_rollout
from .settings import (
    CERT_MANAGER,
    ENVOY_AI_GATEWAY,
    ENVOY_GATEWAY,
    ENVOY_NAMESPACE,
    Auth,
    Door,
    Tls,
    check_door,
)
from .words import Exposure, TlsKind

__all__ = [
    "ADDRESS",
    "CERT_MANAGER",
    "ENVOY_AI_GATEWAY",
    "ENVOY_GATEWAY",
    "ENVOY_NAMESPACE",
    "AddressOf",
    "Auth",
    "Door",
    "FrontDoorPlan",
    "OutsideEndpoint",
    "Tls",
    "front_door",
]

ADDRESS = "{address}"
"""Placeholder in a URL for the address of an object that is not created yet."""
_SUFFIX = "-in"
"""As long as the suffix ``-lb`` of Services, so that it fits every name of a workload."""
_ServiceKey = tuple[str, str]
"""Namespace and name of a Service."""


class AddressOf(NamedTuple):
    """An object whose status will hold an address, and the possible fields of the status."""

    api_version: str
    kind: str
    namespace: str
    name: str
    fields: tuple[str, ...]


class OutsideEndpoint(NamedTuple):
    """An endpoint outside the cluster.

    Attributes:
        name: Name of the resource.
        model: Name that clients request.
        url: Base URL of the API, with ``{address}`` until the address is known.
        address_of: Where the address will appear; None if the host is set.
    """

    name: str
    namespace: str
    model: str
    api: str
    url: str
    address_of: AddressOf | None = None

    def at(self, address: str) -> str:
        return self.url.replace(ADDRESS, address)


class FrontDoorPlan(NamedTuple):
    """The Kubernetes objects of a front door.

    Attributes:
        objects: Objects in the order in which to apply them.
        needs: Required charts, such as ``envoy-gateway``.
        problems: Problems; with an error there are no objects.
        secrets: Namespace and name of the Secrets that must exist.
        gateway: Where the address of the gateway will appear; None without a gateway.
    """

    objects: tuple[Object, ...] = ()
    endpoints: tuple[OutsideEndpoint, ...] = ()
    needs: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    gateway: AddressOf | None = None


def front_door(
    fleet: Fleet,
    door: Door,
    file: str = "settings",
    balancing: Balancing | None = None,
    others: Iterable[Object] = (),
) -> FrontDoorPlan:
    """Build the objects that expose the models of a fleet.

    Args:
        fleet: The models.
        door: Settings of the front door.
        file: File of the settings, for messages.
        balancing: Load balancers of the environment; None for unknown ones.
        others: Objects of other APIs, which may set variables of the models' servers.
    """
    balancing = balancing or Balancing()
    balancers = balancing.balancers
    problems = [*check_door(door, file, balancers), *check_ranges(door, file), *check_rollout(door, file, balancers)]
    models = by_model(fleet)
    if door.expose == Exposure.GATEWAY:
        from .engine_keys import check_engine_keys
        from .routes import check_models

        problems += check_models(models)
        problems += check_engine_keys(fleet, door, others)
    else:
        problems += lost_without_gateway(models)
    if door.expose == Exposure.LOAD_BALANCER:
        problems += _check_services(fleet, models)
    if errors(problems) or door.expose == Exposure.NONE or not models:
        return FrontDoorPlan(problems=tuple(problems))
    if door.expose == Exposure.GATEWAY:
        return _gateway(models, door, balancing, tuple(problems))
    return _load_balancers(fleet, models, door, balancing, tuple(problems))


def _gateway(models: Models, door: Door, balancing: Balancing, problems: tuple[Problem, ...]) -> FrontDoorPlan:
    from .gateway import gateway_objects
    from .rate_limits import backend_policy
    from .routes import route_objects

    needs = {ENVOY_GATEWAY, ENVOY_AI_GATEWAY, balancing.balancers.controller}
    if door.tls.kind == TlsKind.CERT_MANAGER:
        needs.add(CERT_MANAGER)
    scheme = "http" if door.tls.kind == TlsKind.NONE else "https"
    source = AddressOf("gateway.networking.k8s.io/v1", "Gateway", door.namespace, door.name, ("addresses[0].value",))
    url = f"{scheme}://{door.host or ADDRESS}/v1"
    return FrontDoorPlan(
        objects=(*gateway_objects(door, balancing), backend_policy(door), *route_objects(models, door)),
        endpoints=tuple(_outside(endpoint, url, None if door.host else source) for endpoint in _endpoints(models)),
        needs=frozenset(needs),
        problems=problems,
        secrets=tuple((door.namespace, name) for name in door.auth.secrets),
        gateway=source,
    )


def _load_balancers(
    fleet: Fleet, models: Models, door: Door, balancing: Balancing, problems: tuple[Problem, ...]
) -> FrontDoorPlan:
    services = _services(fleet)
    used = {_service(endpoint): services[_service(endpoint)] for endpoint in _endpoints(models)}
    bodies = {place: _load_balancer(name, body, door, balancing) for place, (name, body) in used.items()}
    endpoints = []
    for endpoint in _endpoints(models):
        metadata = bodies[_service(endpoint)]["metadata"]
        source = AddressOf("v1", "Service", metadata["namespace"], metadata["name"], BALANCED)
        endpoints.append(_outside(endpoint, f"http://{ADDRESS}:{endpoint.port}{endpoint.path}", source))
    return FrontDoorPlan(
        objects=tuple(bodies.values()),
        endpoints=tuple(endpoints),
        needs=frozenset({balancing.balancers.controller}),
        problems=problems,
    )


def _services(fleet: Fleet) -> dict[_ServiceKey, tuple[str, Object]]:
    """Return every created Service, and the name that its load balancer derives from.

    That is the endpoint that owns the Service, or the Service itself if several endpoints share it.
    """
    bodies = {
        (item.namespace, str(body["metadata"]["name"])): body
        for item in fleet.rendered
        for body in item.objects
        if is_core_service(body)
    }
    owners = {_service(endpoint): endpoint.name for _, endpoint in fleet.endpoints if endpoint.body is not None}
    return {place: (owners.get(place, place[1]), body) for place, body in bodies.items()}


def _service(endpoint: Endpoint) -> _ServiceKey:
    return endpoint.backends[0].namespace, endpoint.service


def _endpoints(models: Models) -> list[Endpoint]:
    return sorted((endpoint for endpoints in models.values() for endpoint in endpoints), key=place_of)


def _outside(endpoint: Endpoint, url: str, source: AddressOf | None) -> OutsideEndpoint:
    return OutsideEndpoint(
        name=endpoint.name,
        namespace=endpoint.namespace,
        model=endpoint.model,
        api=endpoint.api,
        url=url,
        address_of=source,
    )


def _load_balancer(name: str, service: Object, door: Door, balancing: Balancing) -> Object:
    """Return a second Service, so that the model's own keeps its address when the front door changes."""
    own = service["spec"]
    metadata = {
        "name": name + _SUFFIX,
        "namespace": service["metadata"]["namespace"],
        "annotations": balancing.balancers.annotations(
            internal=door.internal, seconds=door.balancer_seconds(balancing.balancers), tcp_ports=tcp_ports(own)
        ),
    }
    spec = balanced_spec({"ports": own["ports"], "selector": own["selector"]}, balancing)
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _check_services(fleet: Fleet, models: Models) -> list[Problem]:
    """Reject models whose pods an operator selects, and names of Services that are taken."""
    taken = {
        (item.namespace, body["metadata"]["name"])
        for item in fleet.rendered
        for body in item.objects
        if body["kind"] == "Service"
    }
    taken |= {(item.namespace, name) for item in fleet.rendered for name in headless_services(item.objects)}
    problems, services = [], _services(fleet)
    for endpoint in _endpoints(models):
        if _service(endpoint) not in services:
            router = endpoint.backends[0].router
            if router:
                reason = (
                    f"is served by a router in namespace {router.namespace!r}, for which no load balancer can be "
                    "created; use expose 'gateway'"
                )
            else:
                reason = (
                    "is run by an operator, whose pods a load balancer cannot select; use expose 'gateway', or "
                    "realization 'native'"
                )
            problems.append(endpoint.origin.problem(reason, rule=RuleId.ACCESS_UNROUTABLE))
            continue
        name = services[_service(endpoint)][0] + _SUFFIX
        if (endpoint.namespace, name) in taken:
            reason = (
                f"its load balancer would be named {name!r}, but a Service with that name already exists; rename "
                "one of the two"
            )
            problems.append(endpoint.origin.source.problem("metadata.name", reason, rule=RuleId.NAMES_TAKEN))
    return problems
