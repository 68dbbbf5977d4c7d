"""A front door asks for load balancers as the cloud that is handed in does, and keeps to their bounds."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from components.checks.front_door.balancers import Balancing
from components.checks.front_door.door import Tls, front_door
from components.checks.front_door.rollout import ProxyRollout
from components.checks.front_door.rollout_checks import rollout_risks
from components.checks.front_door.words import TlsKind
from components.fleet.load_balancers import BalancerSeconds, LoadBalancers, default_load_balancers
from tests.checks.front_door.doors import ARN, BALANCERS, PRIVATE, PUBLIC, fleet, made, one


def told(
    *,
    internal: bool,
    proxy_protocol: bool = False,
    seconds: BalancerSeconds | None = None,
    tcp_ports: Iterable[int] = (),
) -> dict[str, str]:
    return {"toys.example/balancer": f"{internal} {proxy_protocol} {seconds} {tuple(tcp_ports)}"}


TOYS = LoadBalancers(
    title="Toy Balancer",
    controller="toy-balancer-controller",
    annotations=told,
    idle_seconds=(5, 10, 700),
    longest_deregistration=20,
    late_seconds=400,
    registration="an hour",
    node_drain_seconds=30,
    node_drain="the cloud gives pods {seconds}",
    certificate_form="toy:NAME",
    is_certificate=lambda text: text.startswith("toy:"),
    certificate_annotations=lambda reference: {"toys.example/certificate": reference},
)
ON_TOYS = Balancing(balancers=TOYS)


def test_annotations_and_chart_are_those_of_the_cloud() -> None:
    plan = made(BALANCERS, balancing=ON_TOYS)
    assert plan.needs == {"toy-balancer-controller"}
    (body,) = plan.objects
    (port,) = (each["port"] for each in body["spec"]["ports"])
    seconds = BalancerSeconds(deregistration=20, idle=660)
    assert body["metadata"]["annotations"] == {"toys.example/balancer": f"True False {seconds} ({port},)"}


def test_a_gateway_has_the_certificate_as_the_cloud_wants_it() -> None:
    door = replace(PUBLIC, tls=Tls(TlsKind.ACM, certificate_arn="toy:models"))
    plan = made(door, balancing=ON_TOYS)
    assert "toy-balancer-controller" in plan.needs
    service = one(plan, "EnvoyProxy")["spec"]["provider"]["kubernetes"]["envoyService"]
    seconds = BalancerSeconds(deregistration=20, idle=660)
    assert service["annotations"] == {
        "toys.example/balancer": f"False False {seconds} ()",
        "toys.example/certificate": "toy:models",
    }


def test_the_certificate_of_another_cloud_is_refused() -> None:
    door = replace(PUBLIC, tls=Tls(TlsKind.ACM, certificate_arn=ARN))
    (problem,) = front_door(fleet("m"), door, balancing=ON_TOYS).problems
    assert problem.reason == f"must be of the form toy:NAME, found {ARN!r}"
    assert not front_door(fleet("m"), door).problems


@pytest.mark.parametrize(("text", "wrong"), [("4s", True), ("5s", False), ("700s", False), ("701s", True)])
def test_idle_timeouts_are_within_the_bounds_of_the_cloud(text: str, wrong: bool) -> None:
    door = replace(PRIVATE, rollout=ProxyRollout(idle_timeout=text))
    reasons = [p.reason for p in front_door(fleet("m"), door, balancing=ON_TOYS).problems if p.severity == "error"]
    assert reasons == [f"must be from 5s to 700s, as Toy Balancers allow, found {text!r}"] * wrong


def test_risks_of_a_rollout_are_those_of_the_cloud() -> None:
    door = replace(PRIVATE, request_timeout="1m", replicas=1)
    found = dict(rollout_risks(door, TOYS))
    assert "a Toy Balancer keeps sending new connections for about 6m40s" in found["rollout.minDrainDuration"]
    assert "to terminate, but the cloud gives pods 30s; shorten it" in found["requestTimeout"]
    assert "which takes an hour; set it to 2 or more" in found["replicas"]
    assert dict(rollout_risks(door, default_load_balancers())).keys() == {"replicas"}
