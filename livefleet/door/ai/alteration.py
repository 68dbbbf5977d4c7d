"""Add the AI gateway's external processor to Envoy's configuration.

A stand-in for ai-gateway v1.1.0 ``internal/extensionserver/post_translate_modify.go``, the extension server that
Envoy Gateway calls after its translation. It changes three things:

- the filter chain of each listener with an AI route gets the processor's filter, disabled (``insertRouterLevel...``)
- each route generated from an AIGatewayRoute enables the filter and carries its name (``enableRouterLevel...``)
- each cluster of such a route gets the processor in its upstream chain, and each endpoint the name of its backend
  (``maybeModifyCluster``); one more cluster leads to the processor
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import TypedDict

from ...fleet import Object
from .filters import (
    BACKEND_NAME,
    INTERNAL,
    PROCESSOR,
    processor_cluster,
    router_filter,
    upstream_filters,
    upstream_options,
)
from .translation import ai_routes, place_of

_BEFORE = (
    "envoy.filters.http.ext_proc",
    "envoy.filters.http.wasm",
    "envoy.filters.http.lua",
    "envoy.filters.http.rbac",
    "envoy.filters.http.local_ratelimit",
    "envoy.filters.http.ratelimit",
    "envoy.filters.http.custom_response",
    "envoy.filters.http.credential_injector",
    "envoy.filters.http.compressor",
    "envoy.filters.http.router",
)
"""The processor's filter comes before the first of these (``afterExtProcFilterPrefixes``): after authentication, and
before rate limits, which may depend on the model."""
_BUFFER = "envoy.filters.http.buffer"
_MANAGER = "envoy.filters.network.http_connection_manager"
_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
_Place = tuple[str, str]


class Xds(TypedDict):
    """Envoy's resources as proto3 JSON, each with its ``@type``: what the translator prints."""

    listeners: list[Object]
    routes: list[Object]
    clusters: list[Object]


def altered(xds: Xds, objects: Iterable[Object], processor: tuple[str, int]) -> Xds:
    """Return the configuration with the external processor in the chains of the AI gateway's routes.

    Call it with the clusters as Envoy Gateway translated them: their names and the order of their localities identify
    the backends. Addresses and types of clusters may change afterwards, the metadata of endpoints may not.

    Args:
        xds: Envoy Gateway's translation.
        objects: The rendered objects, before their translation.
        processor: Loopback address of the external processor (:mod:`.server`); the real one is a sidecar on a socket.
    """
    routes = {place_of(route): route for route in ai_routes(objects)}
    changed = deepcopy(xds)
    for cluster in changed["clusters"]:
        _alter_cluster(cluster, routes)
    enabled = {configuration["name"] for configuration in changed["routes"] if _enable(configuration, routes)}
    for listener in changed["listeners"]:
        default = listener.get("defaultFilterChain")
        chains = [*listener.get("filterChains", ()), *([default] if default else ())]
        filters = [network_filter for chain in chains for network_filter in chain.get("filters", ())]
        managers = [body["typedConfig"] for body in filters if body["name"] == _MANAGER]
        if any(manager.get("rds", {}).get("routeConfigName") in enabled for manager in managers):
            for manager in managers:
                _insert_filter(manager)
    changed["clusters"].append(processor_cluster(*processor))
    return changed


def _enable(configuration: Object, routes: dict[_Place, Object]) -> bool:
    """Enable the filter on the AI gateway's routes; return whether there are any."""
    # The real one looks for an annotation in the route's metadata. Envoy Gateway drops annotations (v1.9.0
    # internal/gatewayapi/resource/load.go), so routes are identified by name, as in the real one's standalone mode
    # (``isRouteGeneratedByAIGateway``).
    has_ai_routes = False
    for host in configuration.get("virtualHosts", ()):
        for route in host.get("routes", ()):
            metadata = route.get("metadata", {}).get("filterMetadata", {})
            resources = metadata.get("envoy-gateway", {}).get("resources", ())
            places = [(resource.get("namespace", ""), resource.get("name", "")) for resource in resources]
            if not any(place in routes for place in places):
                continue
            has_ai_routes = True
            # An empty filter configuration on a route overrides ``disabled`` of the listener's filter.
            route.setdefault("typedPerFilterConfig", {})[PROCESSOR] = {
                "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig",
                "config": {},
            }
            metadata.setdefault(INTERNAL, {})["aigw_route_name"] = "/".join(places[0])
    return has_ai_routes


def _insert_filter(manager: Object) -> None:
    """Add the processor's filter to the chain of an HTTP connection manager."""
    names = [http_filter["name"] for http_filter in manager["httpFilters"]]
    index = next(number for number, name in enumerate(names) if name.startswith(_BEFORE))
    buffer = max((number for number, name in enumerate(names) if name.startswith(_BUFFER)), default=-1)
    # After the buffer filter: before it, the processor would reject bodies above the smaller limit of connections
    # (``insertAIGatewayExtProcFilter``).
    manager["httpFilters"].insert(buffer + 1 if buffer >= index else index, router_filter())
    manager["schemeHeaderTransformation"] = {"matchUpstream": True}


def _alter_cluster(cluster: Object, routes: dict[_Place, Object]) -> None:
    parts = cluster["name"].split("/")
    # httproute/<namespace>/<name>/rule/<index>, and /backend/<index> where each backend has a cluster of its own.
    if len(parts) not in (5, 7) or parts[0] != "httproute" or parts[3] != "rule":
        return
    route, number = routes.get((parts[1], parts[2])), int(parts[4])
    if route is None or number >= len(route["spec"]["rules"]):
        return
    references = route["spec"]["rules"][number]["backendRefs"]
    if len(parts) == 7:
        indices = [int(parts[6])] * len(cluster["loadAssignment"].get("endpoints", ()))
    else:
        # Envoy Gateway leaves out backends of weight 0.
        indices = [index for index, reference in enumerate(references) if reference.get("weight", 1)]
    for locality, index in zip(cluster["loadAssignment"].get("endpoints", ()), indices, strict=True):
        name = backend_name(route, number, index)
        for endpoint in locality.get("lbEndpoints", ()):
            metadata = endpoint.setdefault("metadata", {}).setdefault("filterMetadata", {})
            metadata.setdefault(INTERNAL, {})[BACKEND_NAME] = name
    options = cluster.setdefault("typedExtensionProtocolOptions", {}).setdefault(_OPTIONS, upstream_options())
    # The codec is always the last one.
    given = options.get("httpFilters", [])
    options["httpFilters"] = [*given[:-1], *upstream_filters(given[-1] if given else None)]


def backend_name(route: Object, rule: int, reference: int) -> str:
    """Return the name of a rule's backend (``PerRouteRuleRefBackendName``).

    The namespace is the route's, even for a backend in another one.
    """
    namespace, name = place_of(route)
    backend = route["spec"]["rules"][rule]["backendRefs"][reference]["name"]
    return f"{namespace}/{backend}/route/{name}/rule/{rule}/ref/{reference}"
