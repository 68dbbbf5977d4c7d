"""Changes that must not be deployed, in what ``pulumi stack export`` and ``pulumi preview --json`` print."""

from typing import Any

import pytest

from components.plan.review.previewed import findings_in_preview, has_resources
from components.plan.review.snapshot import Snapshot

PREFIX = "urn:pulumi:prod::inference-platform::inference-platform:index:Cluster$"
KEY_ARN = "arn:aws:kms:us-east-1:123456789012:key/11111111-1111-1111-1111-111111111111"
OTHER_ARN = "arn:aws:kms:us-east-1:123456789012:key/22222222-2222-2222-2222-222222222222"


def state(type_: str, name: str, inputs: dict[str, Any], id_: str = "", **further: Any) -> dict[str, Any]:
    return {
        "urn": f"{PREFIX}{type_}::{name}",
        "custom": True,
        "id": id_ or name,
        "type": type_,
        "inputs": inputs,
        "outputs": {**inputs, **further.pop("outputs", {})},
        **further,
    }


KEY = state("aws:kms/key:Key", "cluster-secrets", {"description": "Secrets"}, outputs={"arn": KEY_ARN})
SUBNET = state("aws:ec2/subnet:Subnet", "private-a", {"cidrBlock": "10.0.0.0/19"}, "subnet-0123456789abcdef0")
CLUSTER = state(
    "aws:eks/cluster:Cluster",
    "cluster",
    {
        "name": "prod",
        "version": "1.34",
        "encryptionConfig": {"provider": {"keyArn": KEY_ARN}, "resources": ["secrets"]},
        "vpcConfig": {"subnetIds": ["subnet-0123456789abcdef0", "subnet-1123456789abcdef0"]},
    },
    "prod",
)
STACK = {"urn": "urn:pulumi:prod::x::pulumi:pulumi:Stack::x", "custom": False, "type": "pulumi:pulumi:Stack"}


def exported(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": [STACK, *resources]}}


def step(op: str, old: dict[str, Any] | None, new: dict[str, Any] | None, **further: Any) -> dict[str, Any]:
    states = {key: value for key, value in (("oldState", old), ("newState", new)) if value is not None}
    return {"op": op, "urn": (new or old or {})["urn"], **states, **further}


def changed(resource: dict[str, Any], **inputs: Any) -> dict[str, Any]:
    return {**resource, "inputs": {**resource["inputs"], **inputs}}


def found(*steps: dict[str, Any], ignore: dict[str, str] | None = None) -> list[tuple[str, str]]:
    settings = Snapshot("prod", file="Pulumi.prod.yaml", ignore=ignore or {})
    previewed = {"steps": list(steps), "changeSummary": {}}
    findings = findings_in_preview(exported(KEY, SUBNET, CLUSTER), previewed, settings)
    return [(finding.rule, finding.path) for finding in findings if not finding.ignored]


def test_an_update_without_changes() -> None:
    assert found() == []


@pytest.mark.parametrize(("version", "expected"), [("1.35", []), ("1.36", [("change-refused", "cluster.version")])])
def test_a_version(version: str, expected: list[tuple[str, str]]) -> None:
    difference = {"detailedDiff": {"version": {"kind": "update"}}}
    assert found(step("update", CLUSTER, changed(CLUSTER, version=version), **difference)) == expected


def other_key() -> tuple[dict[str, Any], dict[str, Any]]:
    config = {"provider": {"keyArn": OTHER_ARN}, "resources": ["secrets"]}
    difference = {"detailedDiff": {"encryptionConfig.provider.keyArn": {"kind": "update"}}}
    return step("delete", KEY, None), step("update", CLUSTER, changed(CLUSTER, encryptionConfig=config), **difference)


def test_another_key_of_a_cluster() -> None:
    assert found(*other_key()) == [("change-destroys", "cluster.secretsKeyArn")]


def test_a_rule_that_the_settings_ignore() -> None:
    assert found(*other_key(), ignore={"change-destroys": "an empty cluster"}) == []


def test_the_key_of_a_cluster_that_does_not_change() -> None:
    """What the cluster needs is known from its deployed inputs, by the ARN of the key."""
    assert found(step("delete", KEY, None)) == [("change-destroys", "cluster.secretsKeyArn")]
    assert found(step("delete", KEY, None), step("delete", CLUSTER, None)) == []


def test_a_subnet_of_a_cluster_that_does_not_change() -> None:
    assert found(step("delete", SUBNET, None)) == [("change-destroys", "network")]
    retained = {**SUBNET, "retainOnDelete": True}
    assert found(step("delete", retained, None)) == []


@pytest.mark.parametrize("first", [True, False])
def test_a_cluster_that_the_engine_replaces(first: bool) -> None:
    new = changed(CLUSTER, name="other")
    reasons = {"replaceReasons": ["name"], "detailedDiff": {"name": {"kind": "update-replace"}}}
    steps = [
        step("create-replacement", CLUSTER, new, **reasons),
        step("replace", CLUSTER, new, **reasons),
        step("delete-replaced", CLUSTER, None),
    ]
    assert found(*(steps[::-1] if first else steps)) == [("change-replaces-cluster", "clusterName")]


@pytest.mark.parametrize(
    "names", [{"diffReasons": ["spec"]}, {"detailedDiff": {"spec.replicas": {"kind": "update"}}}]
)
def test_an_object_of_which_a_part_changes(names: dict[str, Any]) -> None:
    """The engine names the whole spec, which contains immutable fields."""
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "chat"}}}
    old = {
        "urn": "urn:pulumi:prod::x::kubernetes:apps/v1:Deployment::chat",
        "type": "kubernetes:apps/v1:Deployment",
        "custom": True,
        "inputs": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "chat"}, "spec": spec},
    }
    assert found(step("update", old, changed(old, spec={**spec, "replicas": 2}), **names)) == []


def test_a_replacement_without_a_field() -> None:
    assert found(step("replace", CLUSTER, CLUSTER)) == [("change-replaces-cluster", "")]


def test_a_cluster_that_is_only_read_now() -> None:
    read = {**CLUSTER, "inputs": {}, "external": True}
    assert found(step("read", CLUSTER, read)) == [("change-destroys", "cluster.existing")]


def test_a_first_update() -> None:
    steps = [step("create", None, KEY), step("create", None, CLUSTER)]
    assert findings_in_preview(exported(), {"steps": steps}, Snapshot("prod")) == ()


def test_states_with_resources() -> None:
    assert has_resources(exported(KEY))
    assert has_resources(exported(OBJECT))
    assert not has_resources(exported(state("pulumi:providers:kubernetes", "a", {})))
    assert not has_resources({})


OBJECT = state(
    "kubernetes:apps/v1:Deployment",
    "chat",
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "chat", "namespace": "models"}},
    "models/chat",
)
OTHER = {**OBJECT, "urn": OBJECT["urn"].replace("Cluster$", "Service$")}


def named(resource: dict[str, Any], name: str) -> dict[str, Any]:
    return changed(resource, metadata={"name": name, "namespace": "models"})


@pytest.mark.parametrize(
    ("steps", "refused"),
    [
        ([step("create", None, OTHER), step("delete", OBJECT, None)], 1),
        ([step("update", OBJECT, OTHER)], 0),  # by an alias
        ([step("create", None, named(OTHER, "other")), step("delete", OBJECT, None)], 0),
        ([step("create", None, OTHER), step("delete", {**OBJECT, "retainOnDelete": True}, None)], 0),
        ([step("replace", OBJECT, named(OBJECT, "other"))], 0),
        ([step("replace", OBJECT, named(OBJECT, "other")), step("create", None, OTHER)], 1),
    ],
    ids=["without-alias", "alias", "other-name", "retained", "renamed", "taken-over"],
)
def test_an_object_that_another_resource_stands_for(steps: list[dict[str, Any]], refused: int) -> None:
    findings = findings_in_preview(exported(OBJECT), {"steps": steps}, Snapshot("prod"))
    assert [finding.rule for finding in findings] == ["change-destroys"] * refused


def test_two_objects_that_change_places() -> None:
    first, second = OBJECT, {**named(OBJECT, "b"), "urn": f"{OBJECT['urn']}-b"}
    steps = [step("replace", first, named(first, "b")), step("replace", second, named(second, "chat"))]
    findings = findings_in_preview(exported(first, second), {"steps": steps}, Snapshot("prod"))
    assert len(findings) == 2
