"""How much each client may ask for: fields are those of Envoy Gateway's BackendTrafficPolicy."""

from dataclasses import replace

import pytest
import yaml

from components.checks.front_door.door import Auth, Door
from components.checks.front_door.limits import RateLimit
from components.checks.front_door.words import LimitUnit
from components.families import objects
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.checks.front_door.doors import (
    BALANCERS,
    GATEWAY,
    HERE,
    KEYS,
    PUBLIC,
    TOKENS,
    Object,
    kinds,
    made,
    one,
    wrong,
)
from tests.fleets import GPU, open_model, playground

REDIS = "redis.redis.svc.cluster.local:6379"
MODELS = (open_model("m", flavors=[GPU]), playground("chat", "m"))
CLIENT = {"clientSelectors": [{"headers": [{"name": "x-client-id", "type": "Distinct"}]}]}
NAMELESS = {
    "clientSelectors": [
        {"headers": [{"name": "x-client-id", "type": "RegularExpression", "value": ".*", "invert": True}]}
    ]
}
SPENT = {
    "request": {"from": "Number", "number": 0},
    "response": {"from": "Metadata", "metadata": {"namespace": "io.envoy.ai_gateway", "key": "llm_total_token"}},
}
"""As in the AI gateway's example: a request costs nothing, its answer what it took."""


def limited(limit: RateLimit, auth: Auth = KEYS) -> Door:
    return replace(PUBLIC, rate_limit=limit, auth=auth, allow_anonymous=auth == Auth())


BOUNDS = {
    "maxConnections": 2**31 - 1,
    "maxPendingRequests": 2**31 - 1,
    "maxParallelRequests": 2**31 - 1,
    "maxRequestsPerConnection": 10,
}

CONNECTIONS = {"http": {"maxConnectionDuration": "5s"}}
"""Half of the ten seconds in which a terminating pod may get requests (docs/draining.md)."""


def test_without_a_limit_only_envoys_own_is_raised() -> None:
    """1,024 requests of a model at a time, of which an answer takes minutes."""
    policy = one(made(PUBLIC), "BackendTrafficPolicy")
    assert policy["spec"] == {"targetRefs": [GATEWAY], "circuitBreaker": BOUNDS, "timeout": CONNECTIONS}


def test_the_gateways_own_processor_is_no_bottleneck() -> None:
    """Nothing but Envoy's runtime reaches its cluster."""
    bootstrap = one(made(PUBLIC), "EnvoyProxy")["spec"]["bootstrap"]
    assert bootstrap["type"] == "Merge", "the default is to replace everything"
    (layer,) = yaml.safe_load(bootstrap["value"])["layered_runtime"]["layers"]
    processor = "circuit_breakers.ai-gateway-extproc-uds.default"
    assert layer["static_layer"] == {
        f"{processor}.max_requests": 2**31 - 1,
        f"{processor}.max_pending_requests": 2**31 - 1,
    }


def test_each_proxy_counts_the_requests_of_a_client_by_itself() -> None:
    plan = made(limited(RateLimit(requests=60)))
    assert one(plan, "BackendTrafficPolicy") == {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "BackendTrafficPolicy",
        "metadata": HERE,
        "spec": {
            "targetRefs": [GATEWAY],
            "circuitBreaker": BOUNDS,
            "timeout": CONNECTIONS,
            "rateLimit": {"local": {"rules": [{**CLIENT, "limit": {"requests": 60, "unit": "Minute"}}]}},
        },
    }
    made_in_order = kinds(plan)
    assert made_in_order.index("BackendTrafficPolicy") < made_in_order.index("AIGatewayRoute"), "never unlimited"


def test_with_a_redis_all_proxies_count_together_and_tokens_too() -> None:
    """``shared``: one count for all routes, and so for all models."""
    plan = made(limited(RateLimit(60, 100_000, LimitUnit.HOUR, REDIS)))
    assert one(plan, "BackendTrafficPolicy")["spec"]["rateLimit"] == {
        "global": {
            "rules": [
                {**CLIENT, "limit": {"requests": 60, "unit": "Hour"}, "shared": True},
                {**CLIENT, "limit": {"requests": 100_000, "unit": "Hour"}, "shared": True, "cost": SPENT},
            ]
        }
    }


@pytest.mark.parametrize(
    ("auth", "clients"),
    [(KEYS, [CLIENT]), (TOKENS, [CLIENT, NAMELESS]), (Auth(), [{}])],
    ids=["key", "token", "none"],
)
@pytest.mark.parametrize(("redis", "scope"), [(None, "local"), (REDIS, "global")])
def test_nobody_is_without_a_limit(auth: Auth, clients: list[Object], redis: str | None, scope: str) -> None:
    """A rule about a header does not count requests without it: a token without the claim would know no limit."""
    policy = one(made(limited(RateLimit(requests=5, redis=redis), auth)), "BackendTrafficPolicy")
    rules = policy["spec"]["rateLimit"][scope]["rules"]
    assert [{key: rule[key] for key in rule.keys() - {"limit", "shared"}} for rule in rules] == clients
    assert all(rule["limit"] == {"requests": 5, "unit": "Minute"} for rule in rules)


@pytest.mark.parametrize(
    ("log", "tokens", "counted"),
    [
        (True, None, ["llm_input_token", "llm_output_token"]),
        (True, 9, ["llm_input_token", "llm_output_token", "llm_total_token"]),
        (False, 9, ["llm_total_token"]),
        (False, None, None),
    ],
)
def test_tokens_are_counted_where_the_log_or_a_limit_reads_them(
    log: bool, tokens: int | None, counted: list[str] | None
) -> None:
    limit = RateLimit(requests=1, tokens=tokens, redis=REDIS)
    spec = one(made(replace(limited(limit), access_log=log)), "AIGatewayRoute")["spec"]
    costs = spec.get("llmRequestCosts")
    assert (costs and [cost["metadataKey"] for cost in costs]) == counted
    if tokens:
        assert costs[-1] == {"metadataKey": "llm_total_token", "type": "TotalToken"}


@pytest.mark.parametrize(
    ("unit", "written"), [("second", "Second"), ("minute", "Minute"), ("hour", "Hour"), ("day", "Day")]
)
def test_units(unit: str, written: str) -> None:
    policy = one(made(limited(RateLimit(1, unit=LimitUnit(unit)))), "BackendTrafficPolicy")
    (rule,) = policy["spec"]["rateLimit"]["local"]["rules"]
    assert rule["limit"]["unit"] == written


NO_REDIS = ("", "redis", "redis:0", "redis://redis:6379", "user:secret@redis:6379", "a:1,b:2", "redis:6379/1")


@pytest.mark.parametrize(
    ("limit", "field", "reason"),
    [
        (RateLimit(requests=0), ".requests", "must be from 1 to 4294967295, found 0"),
        (RateLimit(requests=2**32), ".requests", "must be from 1 to 4294967295"),
        (RateLimit(tokens=-1, redis=REDIS), ".tokens", "found -1"),
        (RateLimit(tokens=5), ".tokens", "requires rateLimit.redis"),
        (RateLimit(redis=REDIS), "", "has no limit; set requests or tokens"),
        (RateLimit(unit=LimitUnit.DAY), "", "has no limit"),
        *((RateLimit(1, redis=redis), ".redis", "must be the host:port of a Redis") for redis in NO_REDIS),
    ],
)
def test_what_nobody_could_count_is_refused(limit: RateLimit, field: str, reason: str) -> None:
    ((path, text),) = wrong(limited(limit))
    assert path == f"frontDoor.rateLimit{field}"
    assert reason in text


def test_a_load_balancer_counts_nothing() -> None:
    ((path, reason),) = wrong(replace(BALANCERS, rate_limit=RateLimit(requests=5)))
    assert path == "frontDoor.rateLimit"
    assert "requires expose 'gateway'" in reason


@pytest.mark.parametrize(
    ("present", "told"), [({"envoy-gateway", "ai-gateway", "cert-manager"}, True), (set(), False)]
)
def test_where_others_installed_envoy_gateway_its_redis_is_theirs_to_name(present: set[str], told: bool) -> None:
    cluster = ClusterFacts(present=frozenset(present))
    door = limited(RateLimit(requests=5, redis=REDIS))
    found = plan(objects(MODELS), Environment(cluster=cluster, install=True, door=door)).problems
    warned = [problem.reason for problem in found if problem.path == "frontDoor.rateLimit.redis"]
    assert [problem.severity for problem in found if problem.severity == "error"] == []
    assert len(warned) == told
    assert all("set the same Redis in its configuration" in reason for reason in warned)
