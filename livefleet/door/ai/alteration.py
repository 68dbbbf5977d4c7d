"""What the AI gateway's extension server makes of Envoy's configuration: its external processor goes into it.

A stand-in for ai-gateway v1.1.0 ``internal/extensionserver/post_translate_modify.go``, which Envoy Gateway calls when
it has translated. Three things are altered:

- each listener with such a route has the processor's filter in its chain, switched off (``insertRouterLevel...``)
- each route that was made of an AIGatewayRoute switches it on and says its name (``enableRouterLevel...``)
- each cluster of such a route has the processor in its upstream chain, and each of its backends says which it is
  (``maybeModifyCluster``); one cluster more leads to the processor
"""

from collections.abc import Iterable, Iterator
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
before limits, which may look at the model."""
_BUFFER = "envoy.filters.http.buffer"
_MANAGER = "envoy.filters.network.http_connection_manager"
_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
_Place = tuple[str, str]


class Xds(TypedDict):
    """Envoy's resources as proto3 JSON, each with its ``@type``: what ``egctl x translate --to xds`` prints."""

    listeners: list[Object]
    routes: list[Object]
    clusters: list[Object]


def altered(xds: Xds, objects: Iterable[Object], processor: tuple[str, int]) -> Xds:
    """Return the configuration with the external processor in the chains of the AI gateway's routes.

    To be called with the clusters as Envoy Gateway translates them: their names and the order of their localities say
    which backend is which. Addresses and types of clusters may be changed after it, their endpoints' metadata not.

    Args:
        xds: What Envoy Gateway made.
        objects: The rendered objects, before their translation.
        processor: Loopback address of the external processor (:mod:`.server`); the real one is a sidecar on a socket.
    """
    routes = {place_of(route): route for route in ai_routes(objects)}
    found = deepcopy(xds)
    for cluster in found["clusters"]:
        _alter_cluster(cluster, routes)
    switched = {each["name"] for each in found["routes"] if _switch_on(each, routes)}
    for listener in found["listeners"]:
        managers = list(_managers(listener))
        if any(manager.get("rds", {}).get("routeConfigName") in switched for manager in managers):
            for manager in managers:
                _insert(manager)
    found["clusters"].append(processor_cluster(*processor))
    return found


def _switch_on(configuration: Object, routes: dict[_Place, Object]) -> bool:
    """Switch the filter on for the AI gateway's routes, and tell whether there are any.

    The real one looks for an annotation in the route's metadata; ``egctl`` reads none, so that its standalone mode
    looks at names (``isRouteGeneratedByAIGateway``).
    """
    found = False
    for host in configuration.get("virtualHosts", ()):
        for route in host.get("routes", ()):
            metadata = route.get("metadata", {}).get("filterMetadata", {})
            resources = metadata.get("envoy-gateway", {}).get("resources", ())
            places = [(each.get("namespace", ""), each.get("name", "")) for each in resources]
            if not any(place in routes for place in places):
                continue
            found = True
            switch = {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": {}}
            route.setdefault("typedPerFilterConfig", {})[PROCESSOR] = switch
            metadata.setdefault(INTERNAL, {})["aigw_route_name"] = "/".join(places[0])
    return found


def _managers(listener: Object) -> Iterator[Object]:
    default = listener.get("defaultFilterChain")
    for chain in [*listener.get("filterChains", ()), *([default] if default else ())]:
        for each in chain.get("filters", ()):
            if each["name"] == _MANAGER:
                yield each["typedConfig"]


def _insert(manager: Object) -> None:
    """Put the processor's filter into a chain; after a buffer, whose limit is to hold for it."""
    names = [each["name"] for each in manager["httpFilters"]]
    index = next(number for number, name in enumerate(names) if name.startswith(_BEFORE))
    last = max((number for number, name in enumerate(names) if name.startswith(_BUFFER)), default=-1)
    manager["httpFilters"].insert(last + 1 if last >= index else index, router_filter())
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
        # Envoy Gateway leaves out what has no weight.
        indices = [index for index, each in enumerate(references) if each.get("weight", 1)]
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
    """Return what a backend of a rule is called (``PerRouteRuleRefBackendName``).

    The namespace is the route's even for a backend of another one.
    """
    namespace, name = place_of(route)
    backend = route["spec"]["rules"][rule]["backendRefs"][reference]["name"]
    return f"{namespace}/{backend}/route/{name}/rule/{rule}/ref/{reference}"
