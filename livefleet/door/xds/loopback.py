"""Every change that is made to what Envoy Gateway makes, so that its proxy runs on loopback without a cluster.

- The gateway's listener is on 127.0.0.1, at a port that is kept, instead of port 10080 (or 10443) of all addresses.
  The listeners for the kubelet (``/ready``) and for Prometheus are left out.
- A cluster that resolves the name of a Service connects to a listener inside the proxy instead, which chooses a Ready
  pod for each connection at random: what the address of a Service and kube-proxy are in a cluster. The name of a
  Service without an address of its own is replaced by its Ready pods, as DNS would.
- An address that a Service has, where a route names the Service itself, is replaced by its Ready pods: egctl does not
  read EndpointSlices, the controller does.
- What the controller sends over the network with TLS is sent through a socket in the private folder.
- Logs go to a file that is kept small, instead of standard output.
- Of the bootstrap, the node's place and the cluster of the proxies themselves are left out; administration is at a
  socket in the private folder.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from toolkit.ports import LOOPBACK

from ...fleet import Object
from ..ai.alteration import Xds
from .services import Address, ServicePort, service_at

_READY = "envoy-gateway-proxy-ready-"
_STDOUT = "/dev/stdout"
_TCP = "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
_CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
_LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener"
ASSIGNMENT = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"

_XDS = "xds_cluster"
_ADS = {"ads": {}, "resourceApiVersion": "V3"}


@dataclass(slots=True)
class Local:
    """A configuration that runs on loopback.

    Attributes:
        xds: Envoy's resources.
        assignments: Endpoints by cluster. An address in them is still that of a Service, or its name.
        services: What they name; each has an assignment of its own as well, under its text.
        certificates: What listeners name.
    """

    xds: Xds
    assignments: dict[str, Object] = field(default_factory=dict)
    services: set[ServicePort] = field(default_factory=set)
    certificates: set[str] = field(default_factory=set)


class Localizer:
    """Makes the changes.

    Args:
        services: The Services of the cluster, by namespace and name.
        ports: The port on loopback by name of the listener.
        log: Where requests are logged.
    """

    def __init__(
        self,
        services: Mapping[tuple[str, str], Object],
        ports: Callable[[str], int],
        log: str,
    ) -> None:
        self._services, self._ports, self._log = services, ports, log
        self._by_address = {
            (address, port["port"]): ServicePort(namespace, name, port["port"])
            for (namespace, name), service in services.items()
            for address in service["spec"].get("clusterIPs", ())
            for port in service["spec"].get("ports", ())
        }

    def localized(self, xds: Xds, assignments: Mapping[str, Object]) -> Local:
        """Return a configuration with all changes."""
        found = Local(deepcopy(xds), {name: deepcopy(each) for name, each in assignments.items()})
        listeners = [each for each in found.xds["listeners"] if not each["name"].startswith(_READY)]
        for listener in listeners:
            address = {"address": LOOPBACK, "portValue": self._ports(listener["name"])}
            listener["address"] = {"socketAddress": address}
        clusters = found.xds["clusters"]
        for cluster in clusters:
            self._localize(cluster, found)
        inside = sorted(found.services)
        found.xds["clusters"] = [*clusters, *map(self._service_cluster, inside)]
        found.xds["listeners"] = [*listeners, *map(_service_listener, inside)]
        for service in inside:
            found.assignments[str(service)] = {"@type": ASSIGNMENT, "clusterName": str(service)}
        for resource in (*found.xds["listeners"], *found.xds["routes"], *found.xds["clusters"]):
            self._log_to_file(resource, found.certificates)
        return found

    def _localize(self, cluster: Object, found: Local) -> None:
        """Give a cluster endpoints that are on loopback, or a file of them where they follow pods."""
        name = cluster["name"]
        assignment = cluster.get("loadAssignment") or found.assignments.get(name) or {}
        places = [(endpoint, self.place(endpoint)) for endpoint in _endpoints(assignment)]
        if not any(place for _, place in places):
            return
        follows = False
        for endpoint, place in places:
            if place:
                # What the name was resolved from still goes into the header Host (``auto_host_rewrite``).
                endpoint.setdefault("hostname", endpoint["address"]["socketAddress"]["address"])
            if place and _is_named(endpoint) and self._has_address(place):
                endpoint["address"] = {"envoyInternalAddress": {"serverListenerName": str(place)}}
                found.services.add(place)
            else:
                follows = True
        if not follows:
            _retype(cluster, {"type": "STATIC", "loadAssignment": assignment})
            found.assignments.pop(name, None)
            return
        cluster.pop("loadAssignment", None)
        found.assignments[name] = {"@type": ASSIGNMENT, **assignment, "clusterName": name}
        _retype(cluster, {"type": "EDS", "edsClusterConfig": {"edsConfig": _ADS, "serviceName": name}})

    def place(self, endpoint: Mapping[str, Any]) -> ServicePort | None:
        """Return the Service whose name or address an endpoint has."""
        address = endpoint.get("address", {}).get("socketAddress")
        if not address:
            return None
        host, port = address["address"], address["portValue"]
        return service_at(host, port) or self._by_address.get((host, port))

    def filled(self, local: Local, pods: Callable[[ServicePort], list[Address]]) -> Iterator[Object]:
        """Yield the assignments with the pods that there are now."""
        inside = {str(service): service for service in local.services}
        for name, assignment in local.assignments.items():
            if name in inside:
                each = [{"endpoint": {"address": _socket(address)}} for address in pods(inside[name])]
                yield {**assignment, "endpoints": [{"lbEndpoints": each}]}
            else:
                parts = assignment.get("endpoints") or ()
                yield {**assignment, "endpoints": [self._filled_part(part, pods) for part in parts]}

    def _filled_part(self, part: Object, pods: Callable[[ServicePort], list[Address]]) -> Object:
        found: list[Object] = []
        for each in part.get("lbEndpoints") or ():
            place = self.place(each["endpoint"])
            if place is None:
                found.append(each)
            else:
                kept = {key: value for key, value in each["endpoint"].items() if key != "address"}
                found += [{**each, "endpoint": {**kept, "address": _socket(address)}} for address in pods(place)]
        return {**part, "lbEndpoints": found}

    def _has_address(self, place: ServicePort) -> bool:
        service = self._services.get((place.namespace, place.name))
        return service is None or service["spec"].get("clusterIP") != "None"

    def _service_cluster(self, service: ServicePort) -> Object:
        """Return what stands for kube-proxy: a pod at random for each connection."""
        return {
            "@type": _CLUSTER,
            "name": str(service),
            "type": "EDS",
            "edsClusterConfig": {"edsConfig": _ADS, "serviceName": str(service)},
            "connectTimeout": "10s",
            "lbPolicy": "RANDOM",
            # Whoever connects has bounds of his own.
            "circuitBreakers": {"thresholds": [{"maxConnections": 2**20, "maxPendingRequests": 2**20}]},
        }

    def _log_to_file(self, value: object, certificates: set[str]) -> None:
        """Replace standard output by the log, at any depth, and note the names of certificates."""
        if isinstance(value, list):
            for each in value:
                self._log_to_file(each, certificates)
        if not isinstance(value, dict):
            return
        if "ads" in value.get("sdsConfig", {}):
            certificates.add(value["name"])
        if value.get("path") == _STDOUT:
            value["path"] = self._log
        for each in value.values():
            self._log_to_file(each, certificates)


def _retype(cluster: Object, wanted: Object) -> None:
    for field_name in ("clusterType", "type", "dnsRefreshRate", "respectDnsTtl", "dnsLookupFamily"):
        cluster.pop(field_name, None)
    cluster.update(wanted)


def _service_listener(service: ServicePort) -> Object:
    name = str(service)
    proxy = {"@type": _TCP, "statPrefix": name, "cluster": name}
    return {
        "@type": _LISTENER,
        "name": name,
        "internalListener": {},
        "filterChains": [{"filters": [{"name": "envoy.filters.network.tcp_proxy", "typedConfig": proxy}]}],
    }


def _endpoints(assignment: Mapping[str, Any]) -> Iterator[Object]:
    for locality in assignment.get("endpoints") or ():
        for each in locality.get("lbEndpoints") or ():
            yield each["endpoint"]


def _is_named(endpoint: Mapping[str, Any]) -> bool:
    address = endpoint["address"]["socketAddress"]
    return service_at(address["address"], address["portValue"]) is not None


def _socket(address: Address) -> Object:
    return {"socketAddress": {"address": address[0], "portValue": address[1]}}


def bootstrap_of(bootstrap: Object, socket: str, xds: str) -> Object:
    """Return what Envoy is started with, from what Envoy Gateway starts its proxies with.

    Args:
        bootstrap: Envoy Gateway's.
        socket: Where Envoy is administered.
        xds: Where it is told its configuration.
    """
    kept: Object = {
        key: deepcopy(bootstrap[key])
        for key in ("layeredRuntime", "overloadManager", "statsConfig", "deferredStatOptions")
        if key in bootstrap
    }
    extension = {"@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener"}
    again = {"retryBackOff": {"baseInterval": "0.1s", "maxInterval": "1s"}}
    service = {"envoyGrpc": {"clusterName": _XDS, "retryPolicy": again}}
    return {
        **kept,
        "node": {"id": "workbench", "cluster": "workbench"},
        "admin": {"address": {"pipe": {"path": socket, "mode": 0o600}}},
        "dynamicResources": {
            "adsConfig": {"apiType": "GRPC", "transportApiVersion": "V3", "grpcServices": [service]},
            "ldsConfig": _ADS,
            "cdsConfig": _ADS,
        },
        "staticResources": {"clusters": [_xds_cluster(xds)]},
        "bootstrapExtensions": [{"name": "envoy.bootstrap.internal_listener", "typedConfig": extension}],
    }


def _xds_cluster(path: str) -> Object:
    options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    http2 = {"@type": f"type.googleapis.com/{options}", "explicitHttpConfig": {"http2ProtocolOptions": {}}}
    endpoint = {"endpoint": {"address": {"pipe": {"path": path}}}}
    return {
        "name": _XDS,
        "type": "STATIC",
        "connectTimeout": "1s",
        "typedExtensionProtocolOptions": {options: http2},
        "loadAssignment": {"clusterName": _XDS, "endpoints": [{"lbEndpoints": [endpoint]}]},
    }
