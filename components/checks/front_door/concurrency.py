"""How many requests a proxy of the gateway has under way: as many as its clients have connections for.

An answer takes minutes, and the engines have queues of their own, with bounds. Envoy's default for everything behind
it is 1,024 at a time (envoy.config.cluster.v3.CircuitBreakers), and what is above it fails at once: for each model
with 503, and for the AI gateway's external processor with 500. That one has a stream for as long as a request takes
and another while it starts: in bursts a proxy would answer far fewer, of all models together (ai-gateway v1.1
internal/extensionserver, whose cluster has no bounds of its own; envoyproxy/gateway issue 9997, envoyproxy/ai-gateway
pull request 1884).

A connection to a model ends after some requests. The AI gateway reaches a model by the name of its Service, so that
a pod is chosen for a connection, not for a request: one that stayed would never reach pods that an autoscaler adds.
"""

import yaml

from ...fleet.objects import Object

MOST = 2**31 - 1
"""As good as none. The bound is what a proxy takes of clients: 50,000 connections (gateway v1.9
internal/xds/bootstrap)."""
REQUESTS_PER_CONNECTION = 10
"""Few, so that load moves to new pods soon; not one, which would use up the ports of a busy proxy."""
_PROCESSOR = "circuit_breakers.ai-gateway-extproc-uds.default"
"""Keys of Envoy's runtime go before what a cluster says (Envoy, "Circuit breaking", runtime)."""


def model_bounds() -> Object:
    """Return the part of a BackendTrafficPolicy for what is behind each route."""
    bounds = dict.fromkeys(("maxConnections", "maxPendingRequests", "maxParallelRequests"), MOST)
    return {"circuitBreaker": {**bounds, "maxRequestsPerConnection": REQUESTS_PER_CONNECTION}}


def processor_bounds() -> Object:
    """Return the part of an EnvoyProxy for the external processor, whose cluster no policy reaches."""
    values = {f"{_PROCESSOR}.{name}": MOST for name in ("max_requests", "max_pending_requests")}
    layers = {"layered_runtime": {"layers": [{"name": "concurrency", "static_layer": values}]}}
    return {"bootstrap": {"type": "Merge", "value": yaml.safe_dump(layers)}}
