"""A load balancer for each model."""

from dataclasses import replace

import kubernetes_validate  # type: ignore[import-untyped]

from components.checks.front_door.balancers import Balancing
from components.fleet.rendered import Fleet
from components.fleet.words import Realization, WorkloadChoice
from tests.checks.front_door.doors import AWS, BALANCED, BALANCERS, PUBLIC, fleet, kinds, made, one, wrong
from tests.fleets import GPU, fleet_of, open_model, playground


def test_a_load_balancer_per_model() -> None:
    of = fleet("a", "b")
    plan = made(BALANCERS, of)
    assert kinds(plan) == ["Service", "Service"]
    own = next(body for body in of.rendered[0].objects if body["kind"] == "Service")
    assert plan.objects[0] == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "a-in",
            "namespace": "models",
            "annotations": {
                f"{AWS}-type": "external",
                f"{AWS}-nlb-target-type": "ip",
                f"{AWS}-scheme": "internal",
                f"{AWS}-target-group-attributes": (
                    "preserve_client_ip.enabled=false,deregistration_delay.timeout_seconds=780"
                ),
                f"{AWS}-attributes": "load_balancing.cross_zone.enabled=true",
                f"{AWS}-listener-attributes.TCP-8080": "tcp.idle_timeout.seconds=660",
            },
        },
        "spec": {
            "type": "LoadBalancer",
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 8080}],
            "selector": own["spec"]["selector"],
        },
    }
    for body in plan.objects:
        kubernetes_validate.validate(body, "1.36", strict=True)
    assert [e.at("x") for e in plan.endpoints] == ["http://x:8080/v1"] * 2
    sources = [e.address_of for e in plan.endpoints if e.address_of]
    assert [(s.kind, s.namespace, s.name, s.fields) for s in sources] == [
        ("Service", "models", "a-in", BALANCED),
        ("Service", "models", "b-in", BALANCED),
    ]


def test_a_load_balancer_whose_name_is_taken() -> None:
    other = playground("p-in")
    of = fleet_of(open_model(flavors=[GPU]), playground("p"), other, workload=WorkloadChoice.LWS)
    ((path, reason),) = wrong(BALANCERS, of)
    assert path == "metadata.name"
    assert "would be named 'p-in', but a Service with that name already exists" in reason


def test_a_load_balancer_needs_pods_that_are_known() -> None:
    of = fleet_of(open_model(flavors=[GPU]), playground(), realization=Realization.OPERATOR)
    ((_, reason),) = wrong(BALANCERS, of)
    assert "is run by an operator" in reason
    assert kinds(made(PUBLIC, of))[-1] == "AIGatewayRoute", "a gateway does not need them"


def test_clients_alone_may_connect() -> None:
    balancing = Balancing(("10.0.0.0/8",), ("10.0.0.0/8",), keep_addresses=True)
    (body,) = made(BALANCERS, balancing=balancing).objects
    assert body["spec"]["loadBalancerSourceRanges"] == ["10.0.0.0/8"]
    assert body["spec"]["externalTrafficPolicy"] == "Local"
    kubernetes_validate.validate(body, "1.36", strict=True)


def test_a_service_that_no_endpoint_has_gets_one_too() -> None:
    """Several endpoints may lead to the Services of another resource, or to one of their own resource's."""
    (item,) = fleet("m").rendered
    (usual,) = item.endpoints
    assert usual.body is not None
    adapter = replace(usual, name="m-adapter", model="adapter", body=None)
    moved = replace(item, endpoints=(replace(usual, body=None), adapter), others=(usual.body,))
    plan = made(BALANCERS, Fleet((moved,), ()))
    service = one(plan, "Service")
    assert service["metadata"]["name"] == f"{usual.service}-in"
    assert service["spec"]["selector"] == usual.body["spec"]["selector"]
    assert [each.address_of and each.address_of.name for each in plan.endpoints] == [f"{usual.service}-in"] * 2
