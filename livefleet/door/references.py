"""Services and addresses that the objects of a gateway reference."""

from collections.abc import Iterable, Mapping

from ..fleet import LiveFleet, Object
from ..folder import Addresses
from .xds.services import Address, ServicePort, parsed, routed_services, service_at

_GROUPS = ("gateway.networking.k8s.io", "gateway.envoyproxy.io", "aigateway.envoyproxy.io", "cert-manager.io")


def door_objects(fleet: LiveFleet) -> tuple[Object, ...]:
    """Return the objects of the gateway, without Services and Secrets, which are read from the cluster."""
    return tuple(body for body in fleet.door if body["apiVersion"].partition("/")[0] in _GROUPS)


def service_places(objects: Iterable[Object]) -> set[tuple[str, str]]:
    """Return namespace and name of every Service that backends and routes reference."""
    rendered = tuple(objects)
    places = routed_services(rendered)
    for body in rendered:
        for endpoint in (body.get("spec") or {}).get("endpoints", ()):
            fqdn = endpoint.get("fqdn", {})
            service = service_at(fqdn.get("hostname", ""), fqdn.get("port", 0))
            if service:
                places.add((service.namespace, service.name))
    return places


def stand_ins(fleet: LiveFleet, addresses: Addresses) -> Mapping[ServicePort, Address]:
    """Return the loopback addresses of the Services of routers, whose pods have no simulated server."""
    by_service: dict[ServicePort, Address] = {}
    for endpoint in fleet.endpoints:
        if not endpoint.stand_in:
            continue
        url = addresses.endpoints.get(endpoint.title, "")
        host, _, port = _authority(endpoint.url).partition(":")
        service = service_at(host, int(port or 80))
        if url and service:
            by_service.setdefault(service, parsed(_authority(url)))
    return by_service


def _authority(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
