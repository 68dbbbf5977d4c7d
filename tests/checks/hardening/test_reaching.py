"""From a client through a load balancer to a pod: whoever may, gets through; nobody else does; health checks do."""

import functools
import ipaddress
import itertools
from dataclasses import dataclass, replace
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.checks.front_door.settings import Auth, Door, Tls
from components.checks.front_door.words import AuthKind, Exposure, TlsKind
from components.clouds.aws.environment import AwsEnvironment
from components.families import objects
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from tests.checks.hardening.reaching import PROXY, Caller, balancers, gateway, lets_in, logged, within
from tests.families.llmkube.support import isvc, model
from tests.fleets import GPU, open_model, playground

Object = dict[str, Any]
VPC = "10.0.0.0/16"
OFFICE = ("198.51.100.0/24", "10.9.0.0/16")
"""One range of the internet and one that a private network reaches."""
CLIENTS = st.one_of(
    st.sampled_from(["198.51.100.0", "198.51.100.255", "198.51.101.0", "10.9.255.255", "10.10.0.0", "10.0.3.17"]),
    st.ip_addresses(v=4).map(str),
)
SERVED: Object = {"skipModelInit": True, "resources": {"cpu": "1", "memory": "1Gi"}}
KEYS = Auth(AuthKind.API_KEY, secrets=("keys",))
ISSUED = Tls(TlsKind.CERT_MANAGER, issuer="letsencrypt")


@dataclass(frozen=True)
class Case:
    """An environment: how models are exposed, what is closed, and who is named."""

    expose: Exposure
    policies: bool
    internal: bool
    cloud: str
    """aws, a VPC that is not known, or none."""
    named: bool
    """Whether clients are."""
    own: bool
    """Whether an InferenceService asks for a load balancer by itself."""

    @property
    def aws(self) -> bool:
        return self.cloud != "none"

    @property
    def models_are_balanced(self) -> bool:
        return self.own or self.expose == Exposure.LOAD_BALANCER

    @property
    def refused(self) -> set[str]:
        """The fields at fault, by what the settings promise."""
        found = set()
        if self.named and self.expose == Exposure.NONE and not self.own:
            found.add("frontDoor.clientCidrs")
        if self.models_are_balanced and self.policies:
            if not self.named and self.cloud != "aws":
                found.add("frontDoor.clientCidrs")
            if self.cloud == "unknown vpc":
                found.add("frontDoor.balancerCidrs")
        if self.expose == Exposure.LOAD_BALANCER and not self.internal:
            found.add("frontDoor.internal")
        return found

    @property
    def callers_of_models(self) -> tuple[str, ...]:
        """Who may call through the load balancer of a model."""
        known = (VPC,) if self.cloud == "aws" else ("0.0.0.0/0",)
        return OFFICE if self.named else known


BOTH = (False, True)
ALL = [
    Case(expose, policies, internal, cloud, named, own)
    for expose in Exposure
    for cloud in ("aws", "unknown vpc", "none")
    for policies, internal, named, own in itertools.product(BOTH, BOTH, BOTH, BOTH)
]


@functools.cache
def planned(case: Case, balancer_cidrs: tuple[str, ...] = ()) -> Plan:
    aws = AwsEnvironment("us-east-1", existing=True, cidr=VPC if case.cloud == "aws" else None)
    gated = case.expose == Exposure.GATEWAY
    door = Door(
        case.expose,
        host="models.example.com" if gated else None,
        tls=ISSUED if gated else Tls(),
        auth=KEYS if gated else Auth(),
        internal=case.internal,
        client_cidrs=OFFICE if case.named else (),
        balancer_cidrs=balancer_cidrs,
    )
    environment = Environment(door=door, network_policies=case.policies, cloud=aws if case.aws else None)
    endpoint = {"type": "LoadBalancer" if case.own else "ClusterIP", "port": 80}
    manifests = [
        open_model(flavors=[GPU]),
        playground(),
        isvc(endpoint=endpoint, containerPort=9000, **SERVED),
        model(),
    ]
    return plan(objects(manifests, "manifests"), environment)


def pod_behind(made: Plan, namespace: str, selector: Object) -> tuple[Object, int]:
    """The labels and the serving port of the pods that a Service selects."""
    (found,) = (
        (w.front["metadata"]["labels"], w.port)
        for _, w in made.fleet.workloads
        if w.namespace == namespace and selector.items() <= w.front["metadata"]["labels"].items()
    )
    return found


@pytest.mark.parametrize("case", ALL, ids=str)
def test_what_would_do_nothing_or_let_nobody_in_is_refused(case: Case) -> None:
    found = {p.path for p in planned(case).problems if p.is_error}
    assert found == case.refused


ALLOWED = [case for case in ALL if not case.refused]


@pytest.mark.parametrize("case", ALLOWED, ids=str)
def test_as_many_load_balancers_as_are_asked_for(case: Case) -> None:
    """So that the property below is about something."""
    per_model = 2 if case.expose == Exposure.LOAD_BALANCER else 0
    made = planned(case)
    assert len(balancers(made)) == per_model + case.own
    assert (gateway(made) is not None) == (case.expose == Exposure.GATEWAY)
    assert bool(made.policies) == case.policies
    for body in [*made.policies, *made.fleet.objects, *made.door.objects]:
        if body["kind"] in ("Service", "NetworkPolicy"):
            kubernetes_validate.validate(body, "1.36", strict=True)


def reaches(made: Plan, client: str) -> list[bool]:
    """Whether a client reaches the pods behind each load balancer of a model."""
    found = []
    for balancer in balancers(made):
        labels, port = pod_behind(made, balancer.namespace, balancer.spec["selector"])
        assert [each["targetPort"] for each in balancer.spec["ports"]] == [port]
        caller = Caller(address=balancer.address_at_pods(client))
        found.append(balancer.takes(client) and lets_in(made.policies, labels, balancer.namespace, caller, port))
    return found


@settings(deadline=None)
@given(st.sampled_from(ALLOWED), CLIENTS)
def test_clients_inside_the_ranges_reach_models_and_no_others_do(case: Case, client: str) -> None:
    made = planned(case)
    assert set(reaches(made, client)) <= {within(client, case.callers_of_models)}


@pytest.mark.parametrize("case", ALLOWED, ids=str)
def test_some_do_and_some_do_not(case: Case) -> None:
    """Whatever hypothesis draws: the borders of the ranges."""
    made = planned(case)
    for address in ("198.51.100.0", "198.51.100.255", "10.9.0.1", "10.0.3.17"):
        assert set(reaches(made, address)) <= {within(address, case.callers_of_models)}
    for address in ("198.51.101.0", "198.51.99.255", "10.10.0.0"):
        assert set(reaches(made, address)) <= {case.callers_of_models == ("0.0.0.0/0",)}


@pytest.mark.parametrize("case", ALLOWED, ids=str)
def test_health_checks_reach_pods(case: Case) -> None:
    """They come from the load balancer's own address, whatever it does to that of clients."""
    made = planned(case)
    for balancer in balancers(made):
        labels, port = pod_behind(made, balancer.namespace, balancer.spec["selector"])
        source = balancer.checks_from()
        assert source is None or lets_in(made.policies, labels, balancer.namespace, Caller(address=source), port)


@settings(deadline=None)
@given(st.sampled_from([c for c in ALLOWED if c.expose == Exposure.GATEWAY]), CLIENTS)
def test_through_the_gateway(case: Case, client: str) -> None:
    made = planned(case)
    door = gateway(made)
    assert door is not None
    assert door.takes(client) is (within(client, OFFICE) if case.named else True)
    assert logged(made, client) == client
    proxy = Caller("envoy-gateway-system", PROXY)
    for _, workload in made.fleet.workloads:
        labels = workload.front["metadata"]["labels"]
        assert lets_in(made.policies, labels, workload.namespace, proxy, workload.port)


@settings(deadline=None)
@given(
    st.sampled_from([case for case in ALLOWED if case.policies]),
    st.ip_addresses(v=4, network=ipaddress.ip_network("203.0.113.0/24")).map(str),
)
def test_nobody_outside_reaches_a_pod_past_the_load_balancer(case: Case, client: str) -> None:
    made = planned(case)
    for _, workload in made.fleet.workloads:
        labels = workload.front["metadata"]["labels"]
        assert not lets_in(made.policies, labels, workload.namespace, Caller(address=client), workload.port)


def test_a_models_own_load_balancer_opens_no_other_model() -> None:
    made = planned(Case(Exposure.GATEWAY, True, True, "aws", named=True, own=True))
    opened = {
        w.name: lets_in(
            made.policies, w.front["metadata"]["labels"], w.namespace, Caller(address="10.0.3.17"), w.port
        )
        for _, w in made.fleet.workloads
    }
    assert opened == {"p": False, "svc": True}


def test_load_balancers_that_hide_clients_are_named() -> None:
    """Elsewhere too there are some that connect from their own addresses."""
    case = Case(Exposure.LOAD_BALANCER, True, True, "none", named=True, own=False)
    labels = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": "p"}
    for ranges, expected in (((), False), (("172.30.0.0/24",), True)):
        made = planned(case, ranges)
        assert not [p for p in made.problems if p.is_error]
        assert lets_in(made.policies, labels, "default", Caller(address="172.30.0.9"), 8080) is expected


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(Exposure.LOAD_BALANCER, False, True, "aws", named=True, own=True), "without network policies"),
        (Case(Exposure.GATEWAY, True, True, "aws", named=True, own=False), "no load balancer connects to a model"),
        (Case(Exposure.NONE, True, True, "none", named=False, own=False), "no load balancer connects to a model"),
    ],
    ids=str,
)
def test_addresses_of_load_balancers_that_nobody_looks_at_are_refused(case: Case, reason: str) -> None:
    (problem,) = [p for p in planned(case, (VPC,)).problems if p.is_error]
    assert problem.path == "frontDoor.balancerCidrs"
    assert reason in problem.reason


def test_an_unknown_vpc_is_named() -> None:
    case = Case(Exposure.NONE, True, True, "unknown vpc", named=True, own=True)
    assert {p.path for p in planned(case).problems if p.is_error} == {"frontDoor.balancerCidrs"}
    made = planned(case, (VPC,))
    assert not [p for p in made.problems if p.is_error]
    assert reaches(made, "198.51.100.7") == [True]
    assert reaches(made, "198.51.101.7") == [False]


@pytest.mark.parametrize(
    ("ranges", "field", "said"),
    [
        (("10.0.0.1/16",), "clientCidrs[0]", "whose host bits are zero, such as 10.0.0.0/16, found '10.0.0.1/16'"),
        (("10.0.0.0/33",), "clientCidrs[0]", "must be an address range"),
        (("office",), "clientCidrs[0]", "must be an address range"),
        (("10.0.0.1",), "clientCidrs[0]", "must be written as 10.0.0.1/32, found '10.0.0.1'"),
        (("10.0.0.0/255.0.0.0",), "clientCidrs[0]", "must be written as 10.0.0.0/8"),
        (("10.0.0.0/8", "10.0.0.0/8"), "clientCidrs[1]", "'10.0.0.0/8' is listed twice"),
        (("10.0.0.0/8", "2001:db8::/32"), "clientCidrs", "must be IPv4 ranges on AWS"),
    ],
)
@pytest.mark.parametrize("policies", [False, True])
def test_what_is_no_range_is_refused(ranges: tuple[str, ...], field: str, said: str, *, policies: bool) -> None:
    case = Case(Exposure.LOAD_BALANCER, policies, True, "aws", named=False, own=False)
    environment = planned(case).environment
    door = replace(environment.door, client_cidrs=ranges)
    made = plan(objects([open_model(flavors=[GPU]), playground()], "m"), replace(environment, door=door))
    (problem,) = [p for p in made.problems if p.is_error]
    assert problem.path == f"frontDoor.{field}"
    assert said in problem.reason
