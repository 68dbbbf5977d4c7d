"""The BackendTrafficPolicy of the gateway: rate limits per client.

Kinds and fields: Envoy Gateway v1.9 (``BackendTrafficPolicy.spec.rateLimit``), Envoy AI Gateway v1.1
(examples/token_ratelimit). Limits are checked after authentication, and when the model is known: the order of filters
in gateway internal/xds/translator/httpfilters.go and ai-gateway internal/extensionserver/post_translate_modify.go.
"""

from typing import Any

from ...fleet.objects import Object, new_object
from .concurrency import model_bounds
from .gateway import ALL_TOKENS, CLIENT_HEADER, COUNTS, ENVOY_API, gateway_reference
from .settings import Door
from .words import AuthKind


def backend_policy(door: Door) -> Object:
    """Return the policy for all backends: a gateway can have only one."""
    spec: Object = {"targetRefs": [gateway_reference(door)], **model_bounds()}
    if door.rate_limit.limits:
        scope = "global" if door.rate_limit.redis else "local"
        rules = [{**client, **limit} for limit in _limits(door) for client in _clients(door)]
        spec["rateLimit"] = {scope: {"rules": rules}}
    return new_object(f"{ENVOY_API}/v1alpha1", "BackendTrafficPolicy", door.name, door.namespace, spec)


def _clients(door: Door) -> list[dict[str, Any]]:
    """Return the client selectors of a limit: each named client, all unnamed ones together, or everyone."""
    if door.auth.kind == AuthKind.NONE:
        return [{}]
    per_client = [{"clientSelectors": [{"headers": [{"name": CLIENT_HEADER, "type": "Distinct"}]}]}]
    if door.auth.kind == AuthKind.API_KEY:
        return per_client
    # A token without the claim would have no limit.
    nameless = {"name": CLIENT_HEADER, "type": "RegularExpression", "value": ".*", "invert": True}
    return [*per_client, {"clientSelectors": [{"headers": [nameless]}]}]


def _limits(door: Door) -> list[dict[str, Any]]:
    limit = door.rate_limit
    # One count for all models requires Redis; without it, each proxy counts for each route.
    shared = {"shared": True} if limit.redis else {}
    unit = limit.unit.value.capitalize()
    rules: list[dict[str, Any]] = []
    if limit.requests is not None:
        rules.append({"limit": {"requests": limit.requests, "unit": unit}, **shared})
    if limit.tokens is not None:
        # A request is rejected if no tokens are left, but costs nothing itself; its answer costs the tokens used.
        spent = {"from": "Metadata", "metadata": {"namespace": COUNTS, "key": ALL_TOKENS[0]}}
        cost = {"request": {"from": "Number", "number": 0}, "response": spent}
        rules.append({"limit": {"requests": limit.tokens, "unit": unit}, **shared, "cost": cost})
    return rules
