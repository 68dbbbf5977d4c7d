"""Endpoints that need more of a gateway than the model's name: weights, headers, other names, routers."""

from dataclasses import replace
from typing import Any

from components.fleet.endpoints import Backend, Endpoint, GatewayFeature, HeaderMatch, Router
from components.fleet.origins import Origin
from components.fleet.rendered import Fleet
from components.fleet.words import HeaderKind, Routing
from tests.checks.front_door.doors import Object, fleet, made, one

KINDS = {"exact": HeaderKind.EXACT, "prefix": HeaderKind.PREFIX, "regex": HeaderKind.REGEX}


def backend(service: str, share: int = 1, weight: int | None = None, **more: Any) -> Backend:
    return Backend(service, "models", 8080, service, share, weight, **more)


def shared(*groups: list[Backend], **changes: Any) -> Fleet:
    """A model that one resource serves through several endpoints."""
    return endpoints(*({"backends": tuple(group), **changes} for group in groups))


def endpoints(*written: Object) -> Fleet:
    """A fleet of one resource with these endpoints, which are otherwise that of a Playground; ``on`` its headers."""
    (item,) = fleet("m").rendered
    (usual,) = item.endpoints
    found = tuple(_endpoint(usual, number, dict(changes)) for number, changes in enumerate(written))
    return Fleet((replace(item, endpoints=found),), ())


def _endpoint(usual: Endpoint, number: int, changes: Object) -> Endpoint:
    on = changes.pop("on", {})
    routed = changes.pop("routed", ())
    source = usual.origin.source
    headers = tuple(
        HeaderMatch(name, KINDS[kind], value, Origin(source, f"spec.rules[{number}].{name}"))
        for name, (kind, value) in on.items()
    )
    lost = tuple(GatewayFeature(Routing(word), Origin(source, f"spec.{word}")) for word in routed)
    name = f"m-{number}" if number else "m"
    origin = Origin(source, f"spec.rules[{number}]")
    return replace(
        usual,
        **{"name": name, "order": number, "headers": headers, "gateway_features": lost, "origin": origin, **changes},
    )


def rules(of: Fleet, door: Any) -> list[Object]:
    found: list[Object] = one(made(door, of), "AIGatewayRoute")["spec"]["rules"]
    return found


ROUTER = Router("routers", {"app": "router"}, ("m-prefill", "m-decode"))
