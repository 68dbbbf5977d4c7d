"""Services behind the door: which pods answer for them, and at which loopback address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...fleet import Object

SERVICE_NAME = "kubernetes.io/service-name"
_ROUTES = ("HTTPRoute", "GRPCRoute")
_DOMAIN = ".svc.cluster.local"
Address = tuple[str, int]


@dataclass(frozen=True, slots=True, order=True)
class ServicePort:
    """What the name and the port of a Service say."""

    namespace: str
    name: str
    port: int

    def __str__(self) -> str:
        """Return how configurations name it."""
        return f"service/{self.namespace}/{self.name}:{self.port}"

    @property
    def host(self) -> str:
        """Its DNS name."""
        return f"{self.name}.{self.namespace}{_DOMAIN}"


def service_at(host: str, port: int) -> ServicePort | None:
    """Return the Service that a DNS name is of; nothing for hosts outside the cluster."""
    name, _, namespace = host.removesuffix(_DOMAIN).partition(".")
    if not host.endswith(_DOMAIN) or not namespace or "." in namespace:
        return None
    return ServicePort(namespace, name, port)


def routed_services(objects: Iterable[Object]) -> set[tuple[str, str]]:
    """Return namespace and name of every Service that routes name by itself, without a Backend between."""
    found: set[tuple[str, str]] = set()
    for each in objects:
        namespace, spec = each["metadata"].get("namespace", ""), each.get("spec") or {}
        for rule in spec.get("rules", ()) if each["kind"] in _ROUTES else ():
            for reference in rule.get("backendRefs", ()):
                if not reference.get("group") and reference.get("kind", "Service") == "Service":
                    found.add((reference.get("namespace", namespace), reference["name"]))
    return found


@dataclass(frozen=True, slots=True, order=True)
class PodPort:
    """Where a pod of a Service listens.

    Attributes:
        pod: Namespace and name; empty where the EndpointSlice does not say whose address it is.
    """

    address: str
    port: int
    pod: str = ""

    def on_loopback(self, backends: Mapping[str, str]) -> Address | None:
        """Return where it listens on loopback; None as long as it does not.

        A pod is found by its name rather than by its address, which another one may have as well: kwok does not know
        which it has given when it starts again.
        """
        at = backends.get(f"{self.pod or self.address}:{self.port}")
        return None if at is None else parsed(at)


def pods_of(place: ServicePort, service: Object | None, slices: Iterable[Object]) -> list[PodPort]:
    """Return the pods that take new connections to a Service, as kube-proxy and the cluster's DNS choose them.

    Those that are Ready; where none is, those that end and serve to the last (Kubernetes, KEP-1669). A Service
    without an address of its own translates no port: who resolves its name connects to the pod's port of that number.
    """
    if service is None:
        return []
    headless = service["spec"].get("clusterIP") == "None"
    names = {each.get("name", "") for each in service["spec"].get("ports", ()) if each["port"] == place.port}
    ready: set[PodPort] = set()
    ending: set[PodPort] = set()
    for each in slices:
        ports = [place.port] if headless else _ports(each, names)
        for endpoint in each.get("endpoints") or ():
            found = {PodPort(endpoint["addresses"][0], port, _pod(endpoint)) for port in ports}
            conditions = endpoint.get("conditions") or {}
            if conditions.get("ready") is not False:
                ready |= found
            elif conditions.get("serving") and conditions.get("terminating"):
                ending |= found
    return sorted(ready or ending)


def _pod(endpoint: Object) -> str:
    target = endpoint.get("targetRef") or {}
    return f"{target['namespace']}/{target['name']}" if target.get("kind") == "Pod" else ""


def _ports(part: Object, names: set[str]) -> list[int]:
    known = [each for each in part.get("ports") or () if (each.get("name") or "") in names]
    return [each["port"] for each in known if each.get("port")]


def parsed(address: str) -> Address:
    """Return ``host:port`` in its parts."""
    host, _, port = address.rpartition(":")
    return host, int(port)
