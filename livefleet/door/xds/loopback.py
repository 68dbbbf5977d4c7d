"""Adapt Envoy Gateway's configuration so that its proxy runs on loopback without a cluster.

These are all changes:

- The gateway's listener is on 127.0.0.1, at a persistent port, instead of port 10080 (or 10443) of all addresses:
  Envoy Gateway adds 10000 to privileged ports (v1.9.0 ``internal/gatewayapi/translator.go``, wellKnownPortShift).
  The listeners for the kubelet (``/ready``) and for Prometheus are left out.
- A cluster that resolves the name of a Service connects to an internal listener instead, which chooses a random Ready
  pod for each connection, like the address of a Service and kube-proxy in a cluster. The name of a headless Service
  is replaced by its Ready pods, as DNS would do.
- The address of a Service that a route references directly is replaced by its Ready pods. Envoy Gateway's controller
  reads them from EndpointSlices, which it does not load from files (v1.9.0 ``internal/gatewayapi/resource/load.go``).
- The configuration comes through a socket in the private folder, instead of over the network with TLS.
- Logs go to a file that is kept small, instead of standard output.
- The bootstrap leaves out the node's locality and the cluster of the proxies themselves; the administration interface
  listens on a socket in the private folder.
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
        assignments: Endpoints by cluster. Their addresses are still those of Services, or their names.
        services: Services with an internal listener; each has an assignment of its own, under ``str(service)``.
        certificates: Names of the certificates that listeners use.
    """

    xds: Xds
    assignments: dict[str, Object] = field(default_factory=dict)
    services: set[ServicePort] = field(default_factory=set)
    certificates: set[str] = field(default_factory=set)


class Localizer:
    """Changes Envoy's resources to run on loopback.

    Args:
        services: The Services of the cluster, by namespace and name.
        ports: Returns the loopback port of a listener, by its name.
        log: Path of the access log.
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
        """Return a configuration with all changes of this module but those of the bootstrap."""
        local = Local(deepcopy(xds), {name: deepcopy(assignment) for name, assignment in assignments.items()})
        listeners = [listener for listener in local.xds["listeners"] if not listener["name"].startswith(_READY)]
        for listener in listeners:
            address = {"address": LOOPBACK, "portValue": self._ports(listener["name"])}
            listener["address"] = {"socketAddress": address}
        clusters = local.xds["clusters"]
        for cluster in clusters:
            self._localize(cluster, local)
        services = sorted(local.services)
        local.xds["clusters"] = [*clusters, *map(_service_cluster, services)]
        local.xds["listeners"] = [*listeners, *map(_service_listener, services)]
        for service in services:
            local.assignments[str(service)] = {"@type": ASSIGNMENT, "clusterName": str(service)}
        for resource in (*local.xds["listeners"], *local.xds["routes"], *local.xds["clusters"]):
            self._log_to_file(resource, local.certificates)
        return local

    def _localize(self, cluster: Object, local: Local) -> None:
        """Give a cluster endpoints on loopback: static ones, or over EDS if they follow pods."""
        name = cluster["name"]
        assignment = cluster.get("loadAssignment") or local.assignments.get(name) or {}
        localities = assignment.get("endpoints") or ()
        endpoints = [member["endpoint"] for locality in localities for member in locality.get("lbEndpoints") or ()]
        places = [(endpoint, self.place(endpoint)) for endpoint in endpoints]
        if not any(place for _, place in places):
            return
        follows_pods = False
        for endpoint, place in places:
            if place is None:
                follows_pods = True
                continue
            address = endpoint["address"]["socketAddress"]
            # Keeps the header Host of routes with ``auto_host_rewrite``, which would come from the DNS name (Envoy,
            # ``Endpoint.hostname`` in api/envoy/config/endpoint/v3/endpoint_components.proto).
            endpoint.setdefault("hostname", address["address"])
            service = self._services.get((place.namespace, place.name))
            is_headless = service is not None and service["spec"].get("clusterIP") == "None"
            if service_at(address["address"], address["portValue"]) is not None and not is_headless:
                endpoint["address"] = {"envoyInternalAddress": {"serverListenerName": str(place)}}
                local.services.add(place)
            else:
                follows_pods = True
        if not follows_pods:
            _retype(cluster, {"type": "STATIC", "loadAssignment": assignment})
            local.assignments.pop(name, None)
            return
        cluster.pop("loadAssignment", None)
        local.assignments[name] = {"@type": ASSIGNMENT, **assignment, "clusterName": name}
        _retype(cluster, {"type": "EDS", "edsClusterConfig": {"edsConfig": _ADS, "serviceName": name}})

    def place(self, endpoint: Mapping[str, Any]) -> ServicePort | None:
        """Return the Service whose name or address an endpoint has."""
        address = endpoint.get("address", {}).get("socketAddress")
        if not address:
            return None
        host, port = address["address"], address["portValue"]
        return service_at(host, port) or self._by_address.get((host, port))

    def filled(self, local: Local, pods: Callable[[ServicePort], list[Address]]) -> Iterator[Object]:
        """Yield the assignments with the current pods."""
        services = {str(service): service for service in local.services}
        for name, assignment in local.assignments.items():
            if name in services:
                endpoints = [{"endpoint": {"address": _socket(address)}} for address in pods(services[name])]
                yield {**assignment, "endpoints": [{"lbEndpoints": endpoints}]}
            else:
                localities = assignment.get("endpoints") or ()
                yield {**assignment, "endpoints": [self._filled_locality(locality, pods) for locality in localities]}

    def _filled_locality(self, locality: Object, pods: Callable[[ServicePort], list[Address]]) -> Object:
        endpoints: list[Object] = []
        for member in locality.get("lbEndpoints") or ():
            place = self.place(member["endpoint"])
            if place is None:
                endpoints.append(member)
            else:
                rest = {key: value for key, value in member["endpoint"].items() if key != "address"}
                addresses = map(_socket, pods(place))
                endpoints += [{**member, "endpoint": {**rest, "address": address}} for address in addresses]
        return {**locality, "lbEndpoints": endpoints}

    def _log_to_file(self, value: object, certificates: set[str]) -> None:
        """Replace standard output by the log file, at any depth, and collect the names of certificates."""
        if isinstance(value, list):
            for item in value:
                self._log_to_file(item, certificates)
        if not isinstance(value, dict):
            return
        if "ads" in value.get("sdsConfig", {}):
            certificates.add(value["name"])
        if value.get("path") == _STDOUT:
            value["path"] = self._log
        for item in value.values():
            self._log_to_file(item, certificates)


def _retype(cluster: Object, fields: Object) -> None:
    for field_name in ("clusterType", "type", "dnsRefreshRate", "respectDnsTtl", "dnsLookupFamily"):
        cluster.pop(field_name, None)
    cluster.update(fields)


def _service_cluster(service: ServicePort) -> Object:
    """Return the cluster that replaces kube-proxy: a random pod for each connection."""
    return {
        "@type": _CLUSTER,
        "name": str(service),
        "type": "EDS",
        "edsClusterConfig": {"edsConfig": _ADS, "serviceName": str(service)},
        "connectTimeout": "10s",
        "lbPolicy": "RANDOM",
        # kube-proxy has no limit, but a cluster has one of 1024 by default (Envoy, CircuitBreakers.Thresholds).
        "circuitBreakers": {"thresholds": [{"maxConnections": 2**20, "maxPendingRequests": 2**20}]},
    }


def _service_listener(service: ServicePort) -> Object:
    name = str(service)
    proxy = {"@type": _TCP, "statPrefix": name, "cluster": name}
    return {
        "@type": _LISTENER,
        "name": name,
        "internalListener": {},
        "filterChains": [{"filters": [{"name": "envoy.filters.network.tcp_proxy", "typedConfig": proxy}]}],
    }


def _socket(address: Address) -> Object:
    return {"socketAddress": {"address": address[0], "portValue": address[1]}}


def bootstrap_of(bootstrap: Object, socket: str, xds: str) -> Object:
    """Return the bootstrap of Envoy.

    Args:
        bootstrap: The bootstrap of Envoy Gateway's proxies.
        socket: Socket of the administration interface.
        xds: Socket of the configuration server.
    """
    settings: Object = {
        key: deepcopy(bootstrap[key])
        for key in ("layeredRuntime", "overloadManager", "statsConfig", "deferredStatOptions")
        if key in bootstrap
    }
    extension = {"@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener"}
    # Envoy's default is to wait up to 30 s before it reconnects (``RetryMaxDelayMs`` in
    # envoy/config/subscription_factory.h).
    retry = {"retryBackOff": {"baseInterval": "0.1s", "maxInterval": "1s"}}
    service = {"envoyGrpc": {"clusterName": _XDS, "retryPolicy": retry}}
    return {
        **settings,
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
