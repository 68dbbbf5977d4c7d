"""Doors of every kind, a fleet behind them, and what is made of both."""

from dataclasses import replace
from typing import Any

from components.checks.front_door.balancers import Balancing
from components.checks.front_door.door import Auth, Door, FrontDoorPlan, Tls, front_door
from components.checks.front_door.words import AuthKind, Exposure, TlsKind
from components.fleet.rendered import Fleet
from tests.fleets import GPU, fleet_of, open_model, playground

Object = dict[str, Any]
ARN = "arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012"
KEYS = Auth(AuthKind.API_KEY, secrets=("team-keys",))
TOKENS = Auth(
    AuthKind.JWT, issuer="https://id.example.com", jwks_uri="https://id.example.com/keys", audiences=("models",)
)
ISSUED = Tls(TlsKind.CERT_MANAGER, issuer="letsencrypt")
PUBLIC = Door(Exposure.GATEWAY, host="models.example.com", tls=ISSUED, auth=KEYS)
PRIVATE = Door(Exposure.GATEWAY, internal=True, allow_anonymous=True)
BALANCERS = Door(Exposure.LOAD_BALANCER, internal=True)
GATEWAY = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "inference-gateway"}
BALANCED = ("loadBalancer.ingress[0].hostname", "loadBalancer.ingress[0].ip")
"""Of a Service's status (core/v1 LoadBalancerIngress): a cloud sets one of the two."""
HERE = {"name": "inference-gateway", "namespace": "envoy-gateway-system"}
AWS = "service.beta.kubernetes.io/aws-load-balancer"


def fleet(*names: str, namespace: str = "models") -> Fleet:
    """One Playground per model, each named after it."""
    documents = [body for name in names for body in (open_model(name, flavors=[GPU]), playground(name, name))]
    return fleet_of(*documents, namespace=namespace)


def made(door: Door, of: Fleet | None = None, balancing: Balancing | None = None) -> FrontDoorPlan:
    plan = front_door(of or fleet("m"), door, balancing=balancing or Balancing())
    assert not [p for p in plan.problems if p.severity == "error"], [str(p) for p in plan.problems]
    return plan


def one(plan: FrontDoorPlan, kind: str) -> Object:
    (body,) = [body for body in plan.objects if body["kind"] == kind]
    return body


def kinds(plan: FrontDoorPlan) -> list[str]:
    return [body["kind"] for body in plan.objects]


def wrong(door: Door, of: Fleet | None = None, severity: str = "error") -> list[tuple[str, str]]:
    plan = front_door(of or fleet("m"), door)
    if severity == "error":
        assert (plan.objects, plan.endpoints, plan.needs) == ((), (), frozenset())
    return [(p.path, p.reason) for p in plan.problems if p.severity == severity]


def with_endpoints(of: Fleet, name: str = "", **changes: Any) -> Fleet:
    """The endpoints of one resource, or of all, with something else in them."""
    items = tuple(
        replace(item, endpoints=tuple(replace(endpoint, **changes) for endpoint in item.endpoints))
        if name in ("", item.name)
        else item
        for item in of.rendered
    )
    return replace(of, rendered=items)
