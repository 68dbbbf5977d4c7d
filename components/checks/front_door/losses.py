"""What clients of a model lose where no gateway routes their requests: each of them calls a Service by itself."""

from collections.abc import Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.endpoints import Endpoint, GatewayFeature
from ...fleet.words import Routing
from .routes import Models


def lost_without_gateway(models: Models) -> Iterator[Problem]:
    """Yield a warning for each thing that a gateway would do, at the field that asks for it."""
    for endpoints in models.values():
        for endpoint in endpoints:
            for each in endpoint.gateway_features:
                yield each.origin.problem(_reason(endpoint, each), Severity.WARNING, rule=RuleId.ACCESS_ROUTES_LOST)


def _reason(endpoint: Endpoint, each: GatewayFeature) -> str:
    return (
        f"has no effect without a gateway in front of the models: {_lost(endpoint, each.routing)}; set "
        "frontDoor.expose to 'gateway', or let clients choose"
    )


def _lost(endpoint: Endpoint, what: Routing) -> str:
    model, service = endpoint.model, endpoint.service
    match what:
        case Routing.WEIGHTS:
            others = ", ".join(backend.service for backend in endpoint.backends[1:])
            besides = f", and none the others ({others})" if others else ""
            return f"all requests to Service {service!r} reach that backend{besides}"
        case Routing.HEADERS:
            return f"Service {service!r} answers every request for {model!r}, whatever its headers"
        case Routing.ADAPTERS:
            return f"only backends that have {model!r} answer for it, such as Service {service!r}"
        case Routing.NAMES:
            known = endpoint.backends[0].served_name or model
            return f"the engine behind Service {service!r} knows the model as {known!r} alone, not as {model!r}"
