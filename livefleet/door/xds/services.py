"""Services that the gateway routes to: their pods, and the pods' loopback addresses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...fleet import Object

SERVICE_NAME = "kubernetes.io/service-name"
_ROUTES = ("HTTPRoute", "GRPCRoute")
_DOMAIN = ".svc.cluster.local"
Address = tuple[str, int]


@dataclass(frozen=True, slots=True, order=True)
class ServicePort:
    """A port of a Service."""

    namespace: str
    name: str
    port: int

    def __str__(self) -> str:
        """Return its name in Envoy's configuration."""
        return f"service/{self.namespace}/{self.name}:{self.port}"

    @property
    def host(self) -> str:
        """Its DNS name."""
        return f"{self.name}.{self.namespace}{_DOMAIN}"


def service_at(host: str, port: int) -> ServicePort | None:
    """Return the Service of a DNS name; None for hosts outside the cluster."""
    name, _, namespace = host.removesuffix(_DOMAIN).partition(".")
    if not host.endswith(_DOMAIN) or not namespace or "." in namespace:
        return None
    return ServicePort(namespace, name, port)


def routed_services(objects: Iterable[Object]) -> set[tuple[str, str]]:
    """Return namespace and name of every Service that routes reference directly, without a Backend."""
    services: set[tuple[str, str]] = set()
    for route in objects:
        namespace, spec = route["metadata"].get("namespace", ""), route.get("spec") or {}
        for rule in spec.get("rules", ()) if route["kind"] in _ROUTES else ():
            for reference in rule.get("backendRefs", ()):
                if not reference.get("group") and reference.get("kind", "Service") == "Service":
                    services.add((reference.get("namespace", namespace), reference["name"]))
    return services


@dataclass(frozen=True, slots=True, order=True)
class PodPort:
    """Address and port of a Service's pod.

    Attributes:
        pod: Namespace and name; empty if the EndpointSlice does not name the pod of the address.
    """

    address: str
    port: int
    pod: str = ""

    def on_loopback(self, backends: Mapping[str, str]) -> Address | None:
        """Return its loopback address; None while it does not listen."""
        # By name, not by address: two pods may have the same one, since kwok keeps its pool of addresses in memory
        # (v0.8.0 pkg/kwok/controllers/utils.go, ipPool) and loses it when it restarts.
        address = backends.get(f"{self.pod or self.address}:{self.port}")
        return None if address is None else parsed(address)


def pods_of(place: ServicePort, service: Object | None, slices: Iterable[Object]) -> list[PodPort]:
    """Return the pods that get new connections to a Service, as kube-proxy and the cluster's DNS choose them.

    These are the Ready pods or, if there are none, the terminating ones that still serve (Kubernetes, KEP-1669).
    """
    if service is None:
        return []
    is_headless = service["spec"].get("clusterIP") == "None"
    names = {port.get("name", "") for port in service["spec"].get("ports", ()) if port["port"] == place.port}
    ready: set[PodPort] = set()
    terminating: set[PodPort] = set()
    for endpoint_slice in slices:
        if is_headless:
            # A headless Service does not translate ports: clients connect to the pod's port of the same number.
            ports = [place.port]
        else:
            matches = [port for port in endpoint_slice.get("ports") or () if (port.get("name") or "") in names]
            ports = [port["port"] for port in matches if port.get("port")]
        for endpoint in endpoint_slice.get("endpoints") or ():
            target = endpoint.get("targetRef") or {}
            pod = f"{target['namespace']}/{target['name']}" if target.get("kind") == "Pod" else ""
            pod_ports = {PodPort(endpoint["addresses"][0], port, pod) for port in ports}
            conditions = endpoint.get("conditions") or {}
            if conditions.get("ready") is not False:
                ready |= pod_ports
            elif conditions.get("serving") and conditions.get("terminating"):
                terminating |= pod_ports
    return sorted(ready or terminating)


def parsed(address: str) -> Address:
    """Split ``host:port``."""
    host, _, port = address.rpartition(":")
    return host, int(port)
