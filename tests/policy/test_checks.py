"""The checks by themselves, as functions over plain data."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from guardrails.access import SCHEME, is_wide, open_balancers, open_clusters
from guardrails.budget import FLEET, STACK, over_budget
from guardrails.nodes import forbidden_regions, forbidden_types, missing_tags
from guardrails.protection import unprotected
from guardrails.schemas import BALANCERS, BUDGET, PROTECTION, TAGS, Guardrail
from guardrails.values import UNKNOWN, GuardedResource, plain

from components.clouds.aws.load_balancers import load_balancer_annotations
from tests.policy.conftest import ROOT

PREFIX = "service.beta.kubernetes.io/aws-load-balancer"


def subject(type_: str, name: str = "it", stack: str = "dev", **rest: Any) -> GuardedResource:
    return GuardedResource(type_, name, f"urn:pulumi:{stack}::proj::{type_}::{name}", **rest)


class UnknownError(Exception):
    pass


class Proxy(dict[str, Any]):
    """As pulumi_policy's: what is unknown raises when it is read."""

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if value == "unknown":
            raise UnknownError(key)
        return value


def test_unknown_values_are_told_apart_from_missing_ones() -> None:
    found = plain(Proxy(a="unknown", b=[Proxy(c=1, d="unknown")], e="text"), UnknownError)
    assert found == {"a": UNKNOWN, "b": [{"c": 1, "d": UNKNOWN}], "e": "text"}
    made = subject("t", props=found)
    assert (made.at("a"), made.at("a.b"), made.at("f.g"), made.at("e")) == (UNKNOWN, UNKNOWN, None, "text")


WIDE = [
    ("0.0.0.0/0", 8, True),
    ("128.0.0.0/1", 8, True),
    ("10.0.0.0/7", 8, True),
    ("10.0.0.0/8", 8, False),
    ("10.1.2.3/8", 8, False),
    ("::/0", 8, True),
    ("2001:db8::/15", 8, True),
    ("2001:db8::/16", 8, False),
    ("203.0.113.0/24", 25, True),
    ("203.0.113.7", 32, False),
    ("not a range", 8, False),
    ("", 8, False),
]


@pytest.mark.parametrize(("cidr", "widest", "wide"), WIDE)
def test_how_wide_a_range_is(cidr: str, widest: int, wide: bool) -> None:
    assert is_wide(cidr, widest) is wide


CLUSTERS: dict[str, tuple[Mapping[str, Any], int]] = {
    "nothing said is public": ({}, 1),
    "private": ({"endpointPublicAccess": False}, 0),
    "public for some": ({"endpointPublicAccess": True, "publicAccessCidrs": ["198.51.100.0/24"]}, 0),
    "public for all": ({"endpointPublicAccess": True}, 1),
    "two that are wide": ({"publicAccessCidrs": ["0.0.0.0/1", "128.0.0.0/1", "198.51.100.0/24"]}, 2),
    "not known": ({"endpointPublicAccess": True, "publicAccessCidrs": UNKNOWN}, 0),
    "not known whether": ({"endpointPublicAccess": UNKNOWN}, 0),
}


@pytest.mark.parametrize("case", CLUSTERS)
def test_clusters(case: str) -> None:
    config, count = CLUSTERS[case]
    assert len(list(open_clusters(subject("aws:eks/cluster:Cluster", props={"vpcConfig": config}), 8))) == count
    assert list(open_clusters(subject("aws:eks/addon:Addon", props={"vpcConfig": config}), 8)) == []


def balancer(kind: str, notes: Mapping[str, Any], **spec: Any) -> GuardedResource:
    metadata = {"name": "chat", "namespace": "models", "annotations": notes}
    return subject(f"kubernetes:core/v1:{kind}", props={"metadata": metadata, "spec": spec})


LB = {"type": "LoadBalancer"}
EVERYBODY = {SCHEME: "internet-facing"}
BALANCERS_OPEN: dict[str, tuple[GuardedResource, bool]] = {
    "of no kind": (balancer("Service", {}, type="ClusterIP"), False),
    "by the cloud provider": (balancer("Service", {}, **LB), True),
    "by the cloud provider, internal": (balancer("Service", {f"{PREFIX}-internal": "true"}, **LB), False),
    "by the controller": (balancer("Service", {f"{PREFIX}-type": "external"}, **LB), False),
    "by a class": (balancer("Service", {}, **LB, loadBalancerClass="service.k8s.aws/nlb"), False),
    "on the internet": (balancer("Service", {f"{PREFIX}-type": "external", **EVERYBODY}, **LB), True),
    "ours, internal": (balancer("Service", load_balancer_annotations(internal=True), **LB), False),
    "ours, on the internet": (balancer("Service", load_balancer_annotations(internal=False), **LB), True),
    "for some": (balancer("Service", EVERYBODY, **LB, loadBalancerSourceRanges=["198.51.100.0/24"]), False),
    "for all, in words": (balancer("Service", EVERYBODY, **LB, loadBalancerSourceRanges=["0.0.0.0/0"]), True),
    "for some, by annotation": (
        balancer("Service", {**EVERYBODY, f"{PREFIX}-source-ranges": "10.0.0.0/8, ::1/128"}, **LB),
        False,
    ),
    "for whom is not known": (balancer("Service", EVERYBODY, **LB, loadBalancerSourceRanges=UNKNOWN), False),
    "an ingress": (balancer("Ingress", {"alb.ingress.kubernetes.io/scheme": "internet-facing"}), True),
    "an ingress for some": (
        balancer(
            "Ingress",
            {
                "alb.ingress.kubernetes.io/scheme": "internet-facing",
                "alb.ingress.kubernetes.io/inbound-cidrs": "10.0.0.0/8",
            },
        ),
        False,
    ),
    "an ingress inside": (balancer("Ingress", {}), False),
    "annotations that are none": (subject("kubernetes:core/v1:Service", props={"metadata": 3, "spec": LB}), True),
}


@pytest.mark.parametrize("case", BALANCERS_OPEN)
def test_load_balancers(case: str) -> None:
    found, is_open = BALANCERS_OPEN[case]
    assert bool(list(open_balancers([found], 8, []))) is is_open


def proxy(**service: Any) -> GuardedResource:
    spec = {"provider": {"kubernetes": {"envoyService": service}}}
    metadata = {"name": "door", "namespace": "gateway"}
    return subject("kubernetes:gateway.envoyproxy.io/v1alpha1:EnvoyProxy", props={"metadata": metadata, "spec": spec})


def guard(name: str = "door", **spec: Any) -> GuardedResource:
    metadata = {"name": "guard", "namespace": "gateway"}
    spec = {"targetRefs": [{"kind": "Gateway", "name": name}], **spec}
    return subject(
        "kubernetes:gateway.envoyproxy.io/v1alpha1:SecurityPolicy", props={"metadata": metadata, "spec": spec}
    )


def test_a_gateway_knows_its_clients_or_is_open() -> None:
    public = proxy(annotations=EVERYBODY)
    assert len(list(open_balancers([public], 8, []))) == 1
    assert len(list(open_balancers([public, guard()], 8, []))) == 1
    assert len(list(open_balancers([public, guard("another", jwt={"providers": [{}]})], 8, []))) == 1
    for way in ("jwt", "apiKeyAuth", "basicAuth", "oidc", "extAuth"):
        spec: dict[str, Any] = {way: {"x": 1}}
        assert list(open_balancers([public, guard(**spec)], 8, [])) == []
    assert list(open_balancers([proxy(annotations={SCHEME: "internal"})], 8, [])) == []
    assert list(open_balancers([proxy(type="ClusterIP")], 8, [])) == []
    assert list(open_balancers([public], 8, ["gateway/door"])) == []


def gateway(name: str, proxy_name: str) -> GuardedResource:
    spec = {"infrastructure": {"parametersRef": {"kind": "EnvoyProxy", "name": proxy_name}}}
    metadata = {"name": name, "namespace": "gateway"}
    return subject("kubernetes:gateway.networking.k8s.io/v1:Gateway", props={"metadata": metadata, "spec": spec})


def test_all_gateways_behind_a_load_balancer_must_know_their_clients() -> None:
    """The proxy of two gateways is named by both, and has a name of its own."""
    jwt: dict[str, Any] = {"jwt": {"providers": [{}]}}
    public, two = proxy(annotations=EVERYBODY), [gateway("chat", "door"), gateway("images", "door")]
    assert len(list(open_balancers([public, *two], 8, []))) == 1
    assert len(list(open_balancers([public, *two, guard("chat", **jwt)], 8, []))) == 1
    assert list(open_balancers([public, *two, guard("chat", **jwt), guard("images", **jwt)], 8, [])) == []


def test_the_annotation_is_the_one_that_is_written() -> None:
    """The pack stands alone; what it knows of our load balancers is what we write."""
    assert load_balancer_annotations(internal=False)[SCHEME] == "internet-facing"


def test_types_and_regions() -> None:
    group = subject("aws:eks/nodeGroup:NodeGroup", props={"instanceTypes": ["g5.xlarge", UNKNOWN, "p5.48xlarge"]})
    assert [each.message.split(" is ")[1].split(";")[0] for each in forbidden_types(group, ["g5.*"], [])] == [
        "'p5.48xlarge'"
    ]
    assert len(list(forbidden_types(group, ["*"], ["p5.*", "g5.*"]))) == 2
    assert len(list(forbidden_types(group, [], []))) == 2
    template = subject("aws:ec2/launchTemplate:LaunchTemplate", props={"instanceType": "p5.48xlarge"})
    assert len(list(forbidden_types(template, ["g*"], []))) == 1
    assert list(forbidden_regions(subject("aws:ec2/vpc:Vpc", props={"region": UNKNOWN}), ["eu-*"])) == []
    assert list(forbidden_regions(subject("kubernetes:core/v1:Pod", props={"region": "mars"}), ["eu-*"])) == []


def test_tags() -> None:
    vpc = subject("aws:ec2/vpc:Vpc")
    taggable = TAGS.settings(None)["taggable"]
    assert len(list(missing_tags(vpc, ["project"], taggable))) == 1
    assert list(missing_tags(subject("aws:ec2/route:Route"), ["project"], taggable)) == []
    assert list(missing_tags(subject("aws:ec2/vpc:Vpc", props={"tags": UNKNOWN}), ["project"], taggable)) == []
    assert (
        len(list(missing_tags(subject("aws:ec2/vpc:Vpc", props={"tags": {"project": ""}}), ["project"], taggable)))
        == 1
    )
    for given in ("{", "[]", '{"tags": 3}', 3, None):
        assert (
            len(list(missing_tags(subject("aws:ec2/vpc:Vpc", provider={"defaultTags": given}), ["a"], taggable))) == 1
        )


@pytest.mark.parametrize(
    ("stack", "count"), [("prod", 2), ("prod-eu", 2), ("eu-prod", 2), ("production", 2), ("dev", 0), ("reproduce", 0)]
)
def test_production_by_its_name(stack: str, count: int) -> None:
    settings = PROTECTION.settings(None)
    cluster = subject("aws:eks/cluster:Cluster", stack=stack)
    assert len(list(unprotected(cluster, settings["stacks"], settings["protected"]))) == count
    fine = subject("aws:eks/cluster:Cluster", stack=stack, protect=True, props={"deletionProtection": True})
    assert list(unprotected(fine, settings["stacks"], settings["protected"])) == []


def fleet(name: str, most: object, **more: Any) -> GuardedResource:
    return subject(FLEET, name, props={"cost": {"usdPerMonth": {"now": 1, "min": 0, "max": most}, **more}})


def group(name: str, size: object, *types: str) -> GuardedResource:
    return subject(
        "aws:eks/nodeGroup:NodeGroup", name, props={"instanceTypes": list(types), "scalingConfig": {"maxSize": size}}
    )


def costs(*subjects: GuardedResource, most: float = 1000, **prices: float) -> list[str]:
    named = {name.replace("_", "."): price for name, price in prices.items()}
    return [each.message for each in over_budget(subjects, most, "max", named)]


def test_budgets_of_fleets_are_added_where_the_stack_says_nothing() -> None:
    assert costs(fleet("a", 600), fleet("b", 400)) == []
    assert "is 1,000.01 USD; allowed: 1,000.00 USD" in costs(fleet("a", 600), fleet("b", 400.01))[0]
    told = subject(STACK, props={"cost": {"usdPerMonth": {"max": 10}}})
    assert costs(told, fleet("a", 5000)) == []
    assert costs(fleet("a", 600), fleet("b", UNKNOWN)) == []


def test_node_groups_are_counted_where_nobody_says_what_it_costs() -> None:
    """730 hours: two at 0.50 make 730.00, three 1,095.00."""
    assert costs(group("a", 2, "g5.xlarge"), g5_xlarge=0.5) == []
    assert "is 1,095.00 USD" in costs(group("a", 3, "g5.xlarge"), g5_xlarge=0.5)[0]
    assert "is 1,460.00 USD" in costs(group("a", 2, "g5.xlarge", "g6.xlarge"), g5_xlarge=0.5, g6_xlarge=1.0)[0]


def test_a_budget_that_cannot_be_checked_is_not_kept() -> None:
    assert (
        "no price of a, b; export the output `cost`"
        in costs(group("a", 1, "x"), group("b", UNKNOWN, "g5.xlarge"), g5_xlarge=1)[0]
    )
    assert "no node groups either" in costs(subject(FLEET))[0]
    assert costs(subject("aws:ec2/vpc:Vpc")) == []


@pytest.mark.parametrize("guardrail", [BUDGET, BALANCERS, PROTECTION, TAGS], ids=lambda each: each.name)
def test_what_is_given_counts_and_the_rest_has_defaults(guardrail: Guardrail) -> None:
    known = guardrail.settings(None)
    assert known.keys() == {key for key, schema in guardrail.properties.items() if "default" in schema}
    name = next(iter(known))
    assert guardrail.settings({name: "other"}) == {**known, name: "other"}


def test_the_pack_has_the_pulumi_of_the_project() -> None:
    def pinned(path: str) -> str:
        return next(line for line in (ROOT / path).read_text().splitlines() if line.startswith("pulumi=="))

    assert pinned("policy/requirements.txt") == pinned("requirements.lock")
    described = yaml.safe_load((ROOT / "policy/PulumiPolicy.yaml").read_text())
    assert (described["name"], described["runtime"]["options"]["virtualenv"]) == ("inference-platform", "venv")
