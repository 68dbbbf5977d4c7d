"""A router in a namespace that is not the fleet's stands between clients and the pods that it chooses."""

from dataclasses import replace

import pytest

from components.checks.front_door.door import FrontDoorPlan
from components.checks.hardening.network_policies import Allowed, network_policies
from components.fleet.rendered import Fleet
from components.plan.access import check_access
from components.plan.environment import Environment
from tests.checks.front_door.doors import PUBLIC, made, one
from tests.checks.hardening.reaching import PROXY, Caller, lets_in
from tests.fleet.sets import FRONT, GROUP, HELP, behind_router, parts, roles


def apart(fleet: Fleet) -> Fleet:
    """The same roles, of which no pod talks to another one."""
    (item,) = fleet.rendered
    workloads = (replace(each, part_of=each.pod_set._replace(group=None)) for each in item.workloads)
    return replace(fleet, rendered=(replace(item, workloads=tuple(workloads)),))


ROUTED = behind_router(parts(3))
BOTH = behind_router(parts(3), also_directly=True)
GATEWAY = Allowed(gateway_namespace="envoy-gateway-system", clients=(), cidrs=("10.0.0.0/16",))
CALLERS = {
    "router": Caller("routers", {"app": "router"}),
    "beside-the-router": Caller("routers", {"app": "redis"}),
    "router-elsewhere": Caller("default", {"app": "router"}),
    "gateway": Caller("envoy-gateway-system", PROXY),
    "monitoring": Caller("monitoring"),
    "somebody": Caller("default", {"app": "client"}),
    "peer": Caller("default", GROUP),
    "balancer": Caller(address="10.0.3.17"),
}


@pytest.mark.parametrize(
    ("fleet", "allowed", "there"),
    [
        (ROUTED, GATEWAY, {"router", "monitoring", "peer"}),
        (ROUTED, Allowed(), {"router", "monitoring", "peer"}),
        (BOTH, GATEWAY, {"router", "monitoring", "peer", "gateway", "balancer"}),
        (parts(3), GATEWAY, {"monitoring", "peer", "gateway", "balancer"}),
    ],
    ids=["routed", "routed-without-gateway", "both", "direct"],
)
def test_who_reaches_the_pods_behind_a_router(fleet: Fleet, allowed: Allowed, there: set[str]) -> None:
    policies = network_policies(fleet, allowed)
    port = next(workload.port for _, workload in fleet.workloads)
    reached = {name for name, each in CALLERS.items() if lets_in(policies, FRONT, "default", each, port)}
    assert reached == there


@pytest.mark.parametrize(
    ("fleet", "there"),
    [
        (roles(), {"monitoring", "peer"}),
        (behind_router(roles()), {"monitoring", "peer"}),
        # A role that no endpoint leads to and that shares no group with what answers is guarded too.
        (apart(roles()), {"monitoring"}),
    ],
    ids=["direct", "routed", "apart"],
)
def test_what_helps_a_role_that_answers_is_scraped_too(fleet: Fleet, there: set[str]) -> None:
    policies = network_policies(fleet, GATEWAY)
    port = next(workload.port for _, workload in fleet.workloads)
    reached = {name for name, each in CALLERS.items() if lets_in(policies, HELP, "default", each, port)}
    assert reached == there


def test_a_router_that_several_endpoints_name_is_one_peer() -> None:
    (item,) = ROUTED.rendered
    (endpoint,) = item.endpoints
    twice = replace(item, endpoints=(endpoint, replace(endpoint, name="p-adapter", model="adapter")))
    front, _ = network_policies(replace(ROUTED, rendered=(twice,)), Allowed())
    assert [len(rule["from"]) for rule in front["spec"]["ingress"]] == [1, 1]


def test_the_gateway_asks_the_router_where_it_is() -> None:
    """The Backend stands with the model, which the route may refer to, and names the Service elsewhere."""
    plan = made(PUBLIC, ROUTED)
    backend = one(plan, "Backend")
    assert backend["metadata"] == {"name": "p", "namespace": "default"}
    assert backend["spec"]["endpoints"] == [{"fqdn": {"hostname": "router.routers.svc.cluster.local", "port": 80}}]
    assert one(plan, "ReferenceGrant")["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(("guarded", "told"), [(True, 1), (False, 0)])
def test_that_the_router_itself_is_open_is_told_once(guarded: bool, told: int) -> None:
    (item,) = ROUTED.rendered
    (endpoint,) = item.endpoints
    twice = replace(item, endpoints=(endpoint, replace(endpoint, name="p-adapter", model="adapter")))
    environment = Environment(network_policies=guarded)
    found = [p.reason for p in check_access(Fleet((twice,), ()), FrontDoorPlan(), environment)]
    assert ["router in namespace 'routers'" in reason and "add a NetworkPolicy" in reason for reason in found] == [
        True
    ] * told
