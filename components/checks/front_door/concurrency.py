"""Limits of concurrent requests per gateway proxy: none beyond those of client connections.

An answer takes minutes, and the engines have bounded queues of their own. Envoy allows 1,024 concurrent requests per
cluster by default (envoy.config.cluster.v3.CircuitBreakers) and fails further ones at once: with 503 for a model, and
with 500 for the AI gateway's external processor. The processor has one stream for the duration of a request and
another while it starts, so that in bursts a proxy would serve far fewer requests, of all models together (ai-gateway
v1.1 internal/extensionserver, whose cluster has no bounds of its own; envoyproxy/gateway issue 9997,
envoyproxy/ai-gateway pull request 1884).

Connections to models are closed after a number of requests, and take no further request after some seconds. The AI
gateway connects to the model's Service, so a pod is chosen per connection, not per request: permanent connections
would never reach pods that an autoscaler adds, and would bring new requests to a terminating pod until it is killed.
"""

import yaml

from ...engines.draining import QUIET_SECONDS
from ...fleet.objects import Object

MOST = 2**31 - 1
"""Effectively unlimited: a proxy accepts at most 50,000 client connections (gateway v1.9 internal/xds/bootstrap)."""
REQUESTS_PER_CONNECTION = 10
"""Few, so that load moves to new pods quickly; more than one, so that a busy proxy does not run out of ports."""
_CONNECTION_SECONDS = QUIET_SECONDS // 2
"""A terminating pod gets new requests on its connections for as long, after kube-proxy has removed it. A pod finishes
requests of the longest duration that arrive within :data:`QUIET_SECONDS`; the rest of these is for the removal."""
_PROCESSOR = "circuit_breakers.ai-gateway-extproc-uds.default"
"""Runtime keys override the settings of a cluster (Envoy, "Circuit breaking", runtime)."""


def model_bounds() -> Object:
    """Return the part of a BackendTrafficPolicy for all models."""
    bounds = dict.fromkeys(("maxConnections", "maxPendingRequests", "maxParallelRequests"), MOST)
    return {
        "circuitBreaker": {**bounds, "maxRequestsPerConnection": REQUESTS_PER_CONNECTION},
        "timeout": {"http": {"maxConnectionDuration": f"{_CONNECTION_SECONDS}s"}},
    }


def processor_bounds() -> Object:
    """Return the part of an EnvoyProxy for the external processor, to which policies do not apply."""
    values = {f"{_PROCESSOR}.{name}": MOST for name in ("max_requests", "max_pending_requests")}
    layers = {"layered_runtime": {"layers": [{"name": "concurrency", "static_layer": values}]}}
    return {"bootstrap": {"type": "Merge", "value": yaml.safe_dump(layers)}}
