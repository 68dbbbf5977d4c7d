"""The pack as Pulumi runs it: the shipped stacks pass, and each policy finds what a stack does against it."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.policy.conftest import recorded
from tests.policy.server import Asked, Found, Pack, asked_by
from tests.resources.plugin.engine import UNKNOWN
from workbench.engine.program.resources import STACK_TYPE

STACKS = ("dev", "staging", "prod")
NAMES = (
    "monthly-budget",
    "allowed-instance-types",
    "allowed-regions",
    "cluster-access",
    "public-load-balancers",
    "production-protection",
    "required-tags",
)


@pytest.mark.parametrize("stack", STACKS)
def test_the_shipped_stacks_pass_as_they_are(pack: Pack, stack: str) -> None:
    asked = asked_by(recorded(stack))
    assert len(asked) > 90
    assert pack.all(asked) == []


def test_it_says_what_it_is_made_of(pack: Pack) -> None:
    info = pack.info
    assert (info.name, info.supportsConfig) == ("inference-platform", True)
    assert tuple(policy.name for policy in info.policies) == NAMES
    for policy in info.policies:
        assert policy.description.endswith(".")
        assert policy.displayName
        assert policy.severity
        assert all(setting["description"] for setting in policy.configSchema.properties.values())


def broken(stack: str, type_: str, name: str = "", protect: bool | None = None, **props: Any) -> list[Asked]:
    """Return what a shipped stack registers, with other properties of the resources of a type."""
    asked = asked_by(recorded(stack))
    touched = [each for each in asked if each.type == type_ and name in each.name]
    assert touched
    for each in touched:
        each.props = _merged(each.props, props)
        each.protect = each.protect if protect is None else protect
    return asked


def _merged(value: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree with other leaves; None takes one away."""
    found = dict(value)
    for key, each in other.items():
        if each is None:
            found.pop(key, None)
        elif isinstance(each, Mapping) and isinstance(found.get(key), Mapping):
            found[key] = _merged(found[key], each)
        else:
            found[key] = each
    return found


def only(found: list[Found], policy: str) -> str:
    """Return the one message, which is of that policy."""
    assert [each.policy for each in found] == [policy], found
    return found[0].message


CLUSTER = "aws:eks/cluster:Cluster"


@pytest.mark.parametrize("cidrs", [["0.0.0.0/0"], ["203.0.113.0/24", "128.0.0.0/1"], []])
def test_an_api_server_for_everybody(pack: Pack, cidrs: list[str]) -> None:
    found = pack.all(broken("dev", CLUSTER, vpcConfig={"publicAccessCidrs": cidrs}))
    message = only(found, "cluster-access")
    assert "aws:eks/cluster:Cluster 'cluster': vpcConfig.publicAccessCidrs is" in message
    assert "allowed: ranges of /8 or smaller; set inference-platform:cluster.publicAccessCidrs" in message
    assert found[0].level == "mandatory"


def test_how_wide_ranges_may_be_is_said_by_whoever_runs_it(pack: Pack) -> None:
    pack.configure(cluster_access={"widestPrefix": 25})
    assert "'203.0.113.0/24'" in only(pack.all(asked_by(recorded("dev"))), "cluster-access")
    pack.configure(cluster_access={"widestPrefix": 24})
    assert pack.all(asked_by(recorded("dev"))) == []


def service(notes: Mapping[str, str] | None = None, **spec: Any) -> Asked:
    metadata = {"name": "chat", "namespace": "models", "annotations": dict(notes or {})}
    return Asked(
        "kubernetes:core/v1:Service", "chat", {"metadata": metadata, "spec": {"type": "LoadBalancer", **spec}}
    )


PREFIX = "service.beta.kubernetes.io/aws-load-balancer"
OPEN = {f"{PREFIX}-type": "external", f"{PREFIX}-scheme": "internet-facing"}


def test_a_load_balancer_for_everybody(pack: Pack) -> None:
    message = only(pack.all([*asked_by(recorded("dev")), service(OPEN)]), "public-load-balancers")
    assert "kubernetes:core/v1:Service 'chat': spec is 'open to the internet'" in message
    assert "models/chat in `allowed`; make it internal" in message
    pack.configure(public_load_balancers={"allowed": ["models/chat"]})
    assert pack.all([*asked_by(recorded("dev")), service(OPEN)]) == []


def test_a_gateway_that_asks_nobody_who_they_are(pack: Pack) -> None:
    """prod's gateway is on the internet, and lets in whoever has a token; without that it is open."""
    asked = broken("prod", "kubernetes:gateway.envoyproxy.io/v1alpha1:SecurityPolicy", spec={"jwt": None})
    message = only(pack.all(asked), "public-load-balancers")
    assert "EnvoyProxy 'fleet-front-door-envoyproxy-envoy-gateway-system/inference-gateway'" in message


def test_instance_types(pack: Pack) -> None:
    pack.configure(allowed_instance_types={"allowed": ["g*", "m7i.*"], "denied": ["g4dn.*"]})
    found = pack.all(asked_by(recorded("dev")))
    assert {each.policy for each in found} == {"allowed-instance-types"}
    assert {each.urn.rpartition("::")[2] for each in found} == {"nodes-g4dn-2xlarge-spot", "nodes-m7i-2xlarge-spot"}
    assert any("instanceTypes is 'g4dn.2xlarge'; allowed: anything but g4dn.*" in each.message for each in found)
    assert any("instanceTypes is 'r7i.2xlarge'; allowed: g*, m7i.*" in each.message for each in found)
    assert not any("'g5.2xlarge'" in each.message for each in found)


def test_instance_types_of_karpenter(pack: Pack) -> None:
    pack.configure(allowed_instance_types={"allowed": ["g6.*", "g6e.*", "m*"]})
    messages = [each.message for each in pack.all(asked_by(recorded("staging")))]
    assert any("karpenter.sh/v1:NodePool" in each and "is 'g5.2xlarge'" in each for each in messages)


def test_regions(pack: Pack) -> None:
    pack.configure(allowed_regions={"allowed": ["eu-*"]})
    message = only(pack.all(asked_by(recorded("dev"))), "allowed-regions")
    assert "pulumi:providers:aws 'aws': region is 'us-east-1'; allowed: eu-*; set another region" in message
    other = Asked(
        "aws:s3/bucket:Bucket", "logs", {"region": "ap-south-1", "tags": {"project": "x", "environment": "y"}}
    )
    assert "region is 'ap-south-1'" in only(pack.one(other), "allowed-regions")


@pytest.mark.parametrize("type_", [CLUSTER, "aws:ec2/vpc:Vpc", "aws:kms/key:Key"])
def test_protection_in_production(pack: Pack, type_: str) -> None:
    message = only(pack.all(broken("prod", type_, protect=False)), "production-protection")
    assert "protect is False; allowed: true in the stack 'prod'; set inference-platform:protect: true" in message


@pytest.mark.parametrize("value", [False, None])
def test_deletion_protection_in_production(pack: Pack, value: bool | None) -> None:
    message = only(pack.all(broken("prod", CLUSTER, deletionProtection=value)), "production-protection")
    assert f"deletionProtection is {value}; allowed: true in the stack 'prod'" in message


def test_which_stacks_are_production(pack: Pack) -> None:
    pack.configure(production_protection={"stacks": ["d*"]})
    assert {each.policy for each in pack.all(asked_by(recorded("dev")))} == {"production-protection"}
    assert pack.all(broken("prod", CLUSTER, deletionProtection=False)) == []


def test_tags(pack: Pack) -> None:
    found = pack.all(broken("staging", "aws:ec2/vpc:Vpc", tags={"environment": None}))
    message = only(found, "required-tags")
    assert "aws:ec2/vpc:Vpc 'network': tags is ['Name', 'project']; allowed: with project, environment" in message
    assert found[0].level == "advisory"
    pack.configure(required_tags={"tags": ["team"], "level": "mandatory"})
    assert {each.level for each in pack.all(asked_by(recorded("dev")))} == {"mandatory"}


def test_tags_of_the_provider_count(pack: Pack) -> None:
    bare = Asked(
        "aws:ec2/vpc:Vpc",
        "network",
        {"tags": {"project": "x"}},
        provider={"defaultTags": '{"tags": {"environment": "y"}}'},
    )
    assert pack.one(bare) == []


@pytest.mark.parametrize("stack", STACKS)
def test_a_budget_reads_what_the_stack_says(pack: Pack, stack: str) -> None:
    """Its own output, as the shipped program exports it."""
    most = recorded(stack).exports["cost"]["usdPerMonth"]["max"]
    assert most > 0
    pack.configure(monthly_budget={"maxUsdPerMonth": most})
    assert pack.all(asked_by(recorded(stack))) == []
    pack.configure(monthly_budget={"maxUsdPerMonth": most - 0.01})
    assert f"is {most:,.2f} USD" in only(pack.all(asked_by(recorded(stack))), "monthly-budget")


COST = {"usdPerMonth": {"now": 900.5, "min": 100.0, "max": 2500.0}, "unpriced": ["NAT gateways"]}


def test_a_budget(pack: Pack) -> None:
    asked = asked_by(recorded("dev"), cost=COST)
    assert pack.all(asked) == []
    pack.configure(monthly_budget={"maxUsdPerMonth": 2499.99})
    found = pack.all(asked)
    message = only(found, "monthly-budget")
    assert "cost.usdPerMonth.max is 2,500.00 USD; allowed: 2,499.99 USD a month; choose smaller" in message
    assert "without a price: NAT gateways" in message
    assert found[0].urn.startswith(f"urn:pulumi:dev::inference-platform::{STACK_TYPE}::")
    for settings in ({"maxUsdPerMonth": 2500}, {"maxUsdPerMonth": 901, "when": "now"}):
        pack.configure(monthly_budget=settings)
        assert pack.all(asked) == []


def test_a_policy_that_is_switched_off(pack: Pack) -> None:
    pack.configure(cluster_access={"level": "disabled"})
    assert pack.all(broken("dev", CLUSTER, vpcConfig={"publicAccessCidrs": ["0.0.0.0/0"]})) == []


@pytest.mark.parametrize("path", ["vpcConfig", "tags", "deletionProtection"])
def test_what_is_not_known_before_the_deployment_ends_no_policy(pack: Pack, path: str) -> None:
    """pulumi_policy skips a whole policy that reads an unknown value: a stack would pass unseen."""
    unknown: dict[str, Any] = {path: UNKNOWN}
    asked = broken("prod", CLUSTER, **unknown)
    assert pack.all([*asked, service(OPEN)]) != []
    assert only(pack.all([*asked, service(OPEN)]), "public-load-balancers")


def test_an_unknown_value_hides_nothing_beside_it(pack: Pack) -> None:
    unknown = [UNKNOWN, "0.0.0.0/0"]
    asked = broken("dev", CLUSTER, vpcConfig={"publicAccessCidrs": unknown, "subnetIds": UNKNOWN})
    assert "'0.0.0.0/0'" in only(pack.all(asked), "cluster-access")
