"""Services and addresses that the objects of a gateway reference."""

from collections.abc import Iterable, Mapping

from ..fleet import LiveFleet, Object
from ..folder import Addresses
from .xds.services import Address, ServicePort, parsed, routed_services, service_at

_GROUPS = ("gateway.networking.k8s.io", "gateway.envoyproxy.io", "aigateway.envoyproxy.io", "cert-manager.io")


def door_objects(fleet: LiveFleet) -> tuple[Object, ...]:
    """Return the objects of the gateway, without Services and Secrets, which are read from the cluster."""
    return tuple(each for each in fleet.door if each["apiVersion"].partition("/")[0] in _GROUPS)


def service_places(objects: Iterable[Object]) -> set[tuple[str, str]]:
    """Return namespace and name of every Service that backends and routes reference."""
    given = tuple(objects)
    found = routed_services(given)
    for each in given:
        for endpoint in (each.get("spec") or {}).get("endpoints", ()):
            fqdn = endpoint.get("fqdn", {})
            place = service_at(fqdn.get("hostname", ""), fqdn.get("port", 0))
            found |= {(place.namespace, place.name)} if place else set()
    return found


def stand_ins(fleet: LiveFleet, addresses: Addresses) -> Mapping[ServicePort, Address]:
    """Return the loopback addresses of the Services of routers, whose pods have no simulated server."""
    found: dict[ServicePort, Address] = {}
    for endpoint in fleet.endpoints:
        if not endpoint.stand_in:
            continue
        url = addresses.endpoints.get(endpoint.title, "")
        place = _place(endpoint.url)
        if url and place:
            found.setdefault(place, parsed(_authority(url)))
    return found


def _place(url: str) -> ServicePort | None:
    host, _, port = _authority(url).partition(":")
    return service_at(host, int(port or 80))


def _authority(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
