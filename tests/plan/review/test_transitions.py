"""Changes that must not be deployed: what something else needs, what the API server rejects, and their findings."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.findings.ids import RuleId
from components.plan.review.compare import review
from components.plan.review.resources import RELEASED, UNSURE, compare_resources, resource_changes
from components.plan.review.review import ChangeKind, Interruption, Review
from components.plan.review.snapshot import RegisteredResource, Snapshot, ValueSource, ValueSources
from tests.plan.review.revisions import changed, cloud, deployment, resource, stateful_set, workload

CLUSTER, KEY, SUBNET = "aws:eks/cluster:Cluster", "aws:kms/key:Key", "aws:ec2/subnet:Subnet"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
PROVIDER = "pulumi:providers:kubernetes"


SUBNET_A = cloud(SUBNET, "private-a", {"cidrBlock": "10.0.0.0/19", "vpcId": "vpc-0"})
ASSOCIATED = cloud(ASSOCIATION, "private-a", {"subnetId": "[id of private-a]", "routeTableId": "rtb-0"})
CONTROL_PLANE = cloud(
    CLUSTER,
    "cluster",
    {"name": "a", "vpcConfig": {"subnetIds": ["[subnetId of private-a]", "subnet-0b"]}},
    ignored=("vpcConfig.subnetIds",),
)
SOURCES: ValueSources = {
    "[id of private-a]": (ValueSource(SUBNET_A.urn, "id"),),
    "[subnetId of private-a]": (ValueSource(ASSOCIATED.urn, "subnetId"),),
}
DEPLOYED = [SUBNET_A, ASSOCIATED, CONTROL_PLANE]


def refused(after: list[RegisteredResource], before: list[RegisteredResource] = DEPLOYED) -> list[tuple[RuleId, str]]:
    found = compare_resources(before, after, SOURCES, SOURCES).refused
    return [(refusal.rule, refusal.field) for refusal in found]


def test_a_subnet_of_the_control_plane_is_deleted() -> None:
    """The cluster keeps it, because its own input is ignored; the ID comes through a route table association."""
    gone = compare_resources(DEPLOYED, [CONTROL_PLANE], SOURCES, SOURCES).refused
    assert [(refusal.rule, refusal.field) for refusal in gone] == [(RuleId.CHANGE_DESTROYS, "vpcConfig.subnetIds")]
    assert "private-a would be deleted, but cluster needs it" in gone[0].reason


def test_a_subnet_of_the_control_plane_is_replaced() -> None:
    moved = replace(SUBNET_A, inputs={**SUBNET_A.inputs, "cidrBlock": "10.0.64.0/19"})
    assert refused([moved, ASSOCIATED, CONTROL_PLANE]) == [(RuleId.CHANGE_DESTROYS, "vpcConfig.subnetIds")]


def test_nothing_that_is_needed_goes() -> None:
    assert refused(DEPLOYED) == []
    tagged = replace(SUBNET_A, inputs={**SUBNET_A.inputs, "tags": {"a": "b"}})
    assert refused([tagged, ASSOCIATED, CONTROL_PLANE]) == []


def test_an_association_alone_is_not_needed() -> None:
    """Its output repeats the ID of the subnet, which stays."""
    assert refused([SUBNET_A, CONTROL_PLANE]) == []


def test_what_goes_with_the_cluster_is_not_needed() -> None:
    assert refused([]) == []


def test_a_retained_resource_is_not_lost() -> None:
    kept = replace(SUBNET_A, retained=True)
    assert refused([CONTROL_PLANE], [kept, ASSOCIATED, CONTROL_PLANE]) == []


def test_what_an_ignored_argument_refers_to() -> None:
    """The program keeps the former value of an ignored argument, of any type."""
    group = cloud("aws:ec2/securityGroup:SecurityGroup", "group", {"vpcId": "vpc-0"})
    sources = {"[id of group]": (ValueSource(group.urn, "id"),)}
    user = cloud("aws:ec2/instance:Instance", "host", {"vpcSecurityGroupIds": ["[id of group]"]})
    other = replace(user, inputs={"vpcSecurityGroupIds": ["sg-1"]})
    for ignored, expected in (((), 0), (("vpcSecurityGroupIds",), 1)):
        pair = [replace(each, ignored=ignored) for each in (user, other)]
        assert len(compare_resources([group, pair[0]], [pair[1]], sources, sources).refused) == expected


def test_a_cluster_that_the_program_only_reads_now() -> None:
    read = replace(CONTROL_PLANE, inputs={}, is_read=True)
    (change,) = resource_changes([CONTROL_PLANE], [read])
    assert (change.kind, change.note) == (ChangeKind.UPDATED, RELEASED)
    assert refused([read], [CONTROL_PLANE]) == [(RuleId.CHANGE_DESTROYS, "")]
    assert refused([read], [read]) == []
    assert refused([CONTROL_PLANE], [read]) == [(RuleId.CHANGE_REFUSED, "")]
    assert [each.kind for each in resource_changes([read], [CONTROL_PLANE])] == [ChangeKind.CREATED]


@pytest.mark.parametrize(
    ("type_", "name", "note"),
    [
        ("aws:ec2/vpc:Vpc", "tags", ""),
        ("aws:ec2/vpc:Vpc", "instanceTenancy", UNSURE),
        ("aws:s3/bucket:Bucket", "tags", UNSURE),
        ("random:index/randomId:RandomId", "byteLength", UNSURE),
        ("kubernetes:helm.sh/v3:Release", "values", ""),
    ],
)
def test_an_update_that_may_replace(type_: str, name: str, note: str) -> None:
    (change,) = resource_changes([cloud(type_, "a", {name: "b"})], [cloud(type_, "a", {name: "c"})])
    assert (change.kind, change.note) == (ChangeKind.UPDATED, note)


def config_map(provider: str, value: str, **further: Any) -> RegisteredResource:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "ml"},
        "data": {"a": value},
    }
    return replace(resource({**body, **further}), type="kubernetes:core/v1:ConfigMap", provider=provider)


@pytest.mark.parametrize(
    ("inputs", "further", "kind"),
    [
        ({}, {}, ChangeKind.REPLACED),
        ({"enableConfigMapMutable": "true"}, {}, ChangeKind.UPDATED),
        ({"enableConfigMapMutable": "true"}, {"immutable": True}, ChangeKind.REPLACED),
    ],
)
def test_data_of_config_maps(inputs: dict[str, str], further: dict[str, Any], kind: ChangeKind) -> None:
    """Pulumi Kubernetes, "enableConfigMapMutable": by default, a change of data replaces a ConfigMap."""
    provider = cloud(PROVIDER, "cluster", {"clusterIdentifier": "a", **inputs})
    before, after = (config_map(provider.urn, value, **further) for value in "xy")
    kinds = {change.title: change.kind for change in resource_changes([provider, before], [provider, after])}
    assert kinds == {"ConfigMap ml/a": kind}


def test_an_immutable_field_for_which_the_provider_replaces_nothing() -> None:
    """The API server rejects the update (Kubernetes API, PriorityClass: value is immutable)."""
    body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "a"}, "value": 1}
    before, after = (
        RegisteredResource("urn:pulumi:dev::p::kubernetes:x::a", "kubernetes:x", "PriorityClass a", value)
        for value in (body, {**body, "value": 2})
    )
    assert refused([after], [before]) == [(RuleId.CHANGE_REFUSED, "value")]
    on_changes = replace(after, replaced_on=("value",))
    assert refused([on_changes], [before]) == []


def test_a_field_for_which_the_provider_replaces_an_object() -> None:
    before = resource(deployment(selector={"matchLabels": {"app": "a"}}))
    after = resource(changed(before.inputs, "spec.selector", {"matchLabels": {"app": "b"}}))
    assert refused([after], [before]) == []


# In a review


def of_key(head: Snapshot | None = None) -> Review:
    key = cloud(KEY, "cluster-secrets", {})
    sources = {"[arn of key]": (ValueSource(key.urn, "arn"),)}
    before, after = (
        cloud(CLUSTER, "cluster", {"encryptionConfig": {"provider": {"keyArn": arn}}})
        for arn in ("[arn of key]", "b")
    )
    base = Snapshot("dev", resources=(key, before), sources=sources)
    return review(replace(head or Snapshot("dev"), resources=(after,)), base)


def test_a_refused_change_is_an_error_of_the_settings() -> None:
    found = of_key()
    (finding,) = found.new
    assert (finding.rule, finding.severity, finding.path) == ("change-destroys", "error", "cluster.secretsKeyArn")
    assert finding.file == "Pulumi.dev.yaml"
    assert found.failures == ("1 error",)
    assert found.head.findings == (finding,)


def test_the_changes_are_shown_nevertheless() -> None:
    """The program does not fail, and its figures are true."""
    found = of_key()
    assert found.is_compared
    assert [change.kind for change in found.changes] == [ChangeKind.UPDATED, ChangeKind.DELETED]


def test_a_stack_that_was_never_deployed_ignores_the_rule() -> None:
    found = of_key(Snapshot("dev", ignore={"change-destroys": "not deployed yet"}))
    assert found.new == ()
    assert found.failures == ()
    assert [finding.ignored for finding in found.head.findings] == ["not deployed yet"]


def test_without_a_base_nothing_is_refused() -> None:
    assert review(Snapshot("dev", resources=tuple(DEPLOYED)), None).failures == ()


def test_everything_in_a_replaced_cluster_is_lost() -> None:
    """Also what does not change: the Kubernetes provider may know the new cluster by the former name."""
    before, after = (
        cloud(CLUSTER, "cluster", {"kubernetesNetworkConfig": {"serviceIpv4Cidr": cidr}})
        for cidr in ("172.20.0.0/16", "172.21.0.0/16")
    )
    serving = workload(deployment(), replicas=(2, 1, 3))
    new = workload(deployment("other"))
    base = Snapshot("dev", resources=(before,), workloads=(serving,))
    found = review(Snapshot("dev", resources=(after,), workloads=(serving, new)), base)
    effects = {blast.title: blast for blast in found.blasts}
    lost = effects["Deployment ml/chat"]
    assert (lost.disruption, lost.replicas, lost.short, lost.seconds) == (Interruption.GAP, 2, 2, None)
    assert effects["Deployment ml/other"].disruption is Interruption.NEW
    (finding,) = found.new
    assert finding.reason.startswith("the model is unavailable while the cloud deletes one control plane")
    assert "found 172.21.0.0/16 after 172.20.0.0/16" in finding.reason


_BOTH = {"maxSurge": 1, "maxUnavailable": 0}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, {"type": "Recreate"}, True),
        ({"type": "RollingUpdate"}, {"type": "Recreate"}, True),
        ({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}, {"type": "Recreate"}, False),
        ({"type": "RollingUpdate", "rollingUpdate": _BOTH}, {"type": "Recreate"}, False),
        ({"type": "Recreate"}, {"type": "Recreate"}, False),
        ({"type": "Recreate"}, None, False),
        (None, {"type": "RollingUpdate", "rollingUpdate": _BOTH}, False),
    ],
)
def test_a_strategy_whose_bounds_the_api_server_has_set(before: Any, after: Any, *, expected: bool) -> None:
    """As the API server does: tests/cluster/test_left_out.py."""
    old, new = (deployment(**({"strategy": strategy} if strategy else {})) for strategy in (before, after))
    found = compare_resources([resource(old)], [resource(new)], {}, {}).refused
    assert [(refusal.rule, refusal.field) for refusal in found] == (
        [(RuleId.CHANGE_REFUSED, "spec.strategy")] if expected else []
    )
    if expected:
        assert "spec.strategy.type: found Recreate after RollingUpdate" in found[0].reason
        patch = '{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}'
        assert f"kubectl patch deployment chat -n ml -p '{patch}'" in found[0].reason


SKIPPED = {"pulumi.com/skipAwait": "true"}
TOO_EARLY = [(RuleId.CHANGE_REFUSED, "metadata.annotations[pulumi.com/skipAwait]")]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (SKIPPED, SKIPPED, TOO_EARLY),
        (SKIPPED, {}, TOO_EARLY),
        ({}, SKIPPED, []),
        ({"pulumi.com/skipAwait": "false"}, {}, []),
        ({}, {}, []),
    ],
)
def test_a_replacement_whose_deletion_is_not_awaited(
    before: dict[str, str], after: dict[str, str], found: list[tuple[RuleId, str]]
) -> None:
    """The provider reads the annotation of the deployed object (tests/real_engine/test_waiting.py)."""

    def registered(annotations: dict[str, str], app: str, **spec: Any) -> RegisteredResource:
        body = deployment(selector={"matchLabels": {"app": app}}, **spec)
        return resource(changed(body, "metadata.annotations", annotations))

    assert refused([registered(after, "b")], [registered(before, "a")]) == found
    assert refused([registered(after, "a", replicas=3)], [registered(before, "a")]) == []


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [(None, True), ({"type": "RollingUpdate"}, False), ({"rollingUpdate": {"partition": 0}}, False)],
)
def test_a_set_whose_strategy_has_no_type(strategy: Any, *, expected: bool) -> None:
    old, new = stateful_set(updateStrategy=strategy), stateful_set("OnDelete")
    found = compare_resources([resource(old)], [resource(new)], {}, {}).refused
    assert [(refusal.rule, refusal.field) for refusal in found] == (
        [(RuleId.CHANGE_REFUSED, "spec.updateStrategy")] if expected else []
    )
