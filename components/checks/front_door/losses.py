"""Routing features that have no effect without a gateway: clients call Services directly."""

from collections.abc import Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.endpoints import Endpoint
from ...fleet.words import Routing
from .models import Models


def lost_without_gateway(models: Models) -> Iterator[Problem]:
    """Warn about each setting that only a gateway would apply."""
    for endpoints in models.values():
        for endpoint in endpoints:
            for feature in endpoint.gateway_features:
                consequence = _consequence(endpoint, feature.routing)
                reason = (
                    f"has no effect without a gateway in front of the models: {consequence}; set frontDoor.expose to "
                    "'gateway', or let clients choose"
                )
                yield feature.origin.problem(reason, Severity.WARNING, rule=RuleId.ACCESS_ROUTES_LOST)


def _consequence(endpoint: Endpoint, routing: Routing) -> str:
    model, service = endpoint.model, endpoint.service
    match routing:
        case Routing.WEIGHTS:
            others = ", ".join(backend.service for backend in endpoint.backends[1:])
            unused = f", and none reach {others}" if others else ""
            return f"all requests to Service {service!r} reach that backend{unused}"
        case Routing.HEADERS:
            return f"Service {service!r} serves every request for {model!r}, whatever its headers"
        case Routing.ADAPTERS:
            return f"only backends with {model!r} serve it, such as Service {service!r}"
        case Routing.NAMES:
            known = endpoint.backends[0].served_name or model
            return f"the engine behind Service {service!r} serves the model only as {known!r}, not as {model!r}"
