"""Claims that name no storage class are encrypted, whatever the account's setting is."""

import json
from typing import Any

import pytest

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.storage.volumes import encrypted_class, former_class
from components.contract.findings.ids import RuleId
from components.contract.problems import Severity
from components.fleet.rendered import Fleet
from tests.resources.aws.test_cluster import ADDON, made, refused

CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
DRIVER = "aws-ebs-csi-driver"
KEY = "arn:aws:kms:us-east-1:123456789012:key/0123abcd-01ab-23cd-45ef-0123456789ab"
DEFAULT = "storageclass.kubernetes.io/is-default-class"


@pytest.mark.parametrize(("key", "further"), [("", {}), (KEY, {"kmsKeyId": KEY})])
def test_the_default_class_encrypts(key: str, further: dict[str, str]) -> None:
    """kubernetes-sigs/aws-ebs-csi-driver, docs/parameters.md: ``kmsKeyId`` is the full ARN of a key."""
    found = encrypted_class(key)
    assert found["parameters"] == {"type": "gp3", "encrypted": "true", **further}
    assert found["metadata"]["annotations"] == {DEFAULT: "true"}
    assert found["provisioner"] == "ebs.csi.aws.com"
    assert (found["volumeBindingMode"], found["allowVolumeExpansion"]) == ("WaitForFirstConsumer", True)


def test_the_class_of_earlier_claims_equals_the_add_ons_but_is_no_default() -> None:
    """kubernetes-sigs/aws-ebs-csi-driver, charts/aws-ebs-csi-driver/templates/ebs-csi-default-sc.yaml."""
    found = former_class()
    assert found["metadata"]["name"] == "ebs-csi-default-sc"
    assert found["metadata"]["annotations"][DEFAULT] == "false"
    assert {key: value for key, value in found.items() if key not in ("apiVersion", "kind", "metadata")} == {
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }


def test_a_cluster_with_the_driver_has_one_default_class() -> None:
    graph = made(addons={DRIVER: ""})
    classes = {entry.inputs["metadata"]["name"]: entry for entry in graph.of(CLASS)}
    defaults = {name: one.inputs["metadata"]["annotations"][DEFAULT] for name, one in classes.items()}
    assert defaults == {"ebs-encrypted": "true", "ebs-csi-default-sc": "false"}
    configuration = graph[f"{ADDON}::main-{DRIVER}"].inputs["configurationValues"]
    assert json.loads(configuration) == {"defaultStorageClass": {"enabled": False}}
    # Of several default classes the newest counts.
    assert classes["ebs-csi-default-sc"].key in classes["ebs-encrypted"].dependencies
    assert all(one.provider == "pulumi:providers:kubernetes::main" for one in classes.values())


@pytest.mark.parametrize("changes", [{}, {"existing": True, "cluster_name": "theirs"}])
def test_other_clusters_get_no_class(changes: dict[str, Any]) -> None:
    assert made(**changes).of(CLASS) == []


def test_the_driver_may_use_its_key_for_volumes_alone() -> None:
    graph = made(addons={DRIVER: "", "aws-efs-csi-driver": ""}, volume_kms_key_arn=KEY)
    assert graph[f"{CLASS}::main-ebs-encrypted"].inputs["parameters"]["kmsKeyId"] == KEY
    (granted,) = graph.of("aws:iam/rolePolicy:RolePolicy")
    assert granted.inputs["role"] == f"main-{DRIVER}"
    use, grant = json.loads(granted.inputs["policy"])["Statement"]
    assert set(use["Action"]) == {"kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"}
    assert grant["Action"] == ["kms:CreateGrant"]
    assert grant["Condition"]["Bool"] == {"kms:GrantIsForAWSResource": "true"}
    for one in (use, grant):
        assert one["Resource"] == [KEY]
        assert "ec2.us-east-1.amazonaws.com" in one["Condition"]["StringEquals"]["kms:ViaService"]
    assert granted.key in graph[f"{ADDON}::main-{DRIVER}"].dependencies


def test_without_a_key_the_driver_has_the_managed_policy_alone() -> None:
    assert made(addons={DRIVER: ""}).of("aws:iam/rolePolicy:RolePolicy") == []


@pytest.mark.parametrize(
    ("key", "addons", "reason"),
    [
        (KEY, {}, "has no effect without the add-on aws-ebs-csi-driver"),
        (KEY.replace("us-east-1", "eu-west-1"), {DRIVER: ""}, "is a key in eu-west-1"),
        ("arn:aws:kms:us-east-1:123456789012:alias/volumes", {DRIVER: ""}, "not of an alias"),
    ],
)
def test_keys_that_cannot_work_are_refused(key: str, addons: dict[str, str], reason: str) -> None:
    found = refused(volume_kms_key_arn=key, addons=addons)
    assert "volume_kms_key_arn" in found
    assert reason in found


@pytest.mark.parametrize(
    ("existing", "addons", "claims", "found"),
    [
        (True, [], ("Prometheus",), RuleId.STORAGE_ENCRYPTION_UNCHECKED),
        (False, [DRIVER], ("Prometheus",), None),
        (False, [], ("Prometheus",), RuleId.STORAGE_UNPROVISIONED),
        (True, [], (), None),
    ],
)
def test_volumes_of_a_class_that_is_not_made_here_are_reported(
    existing: bool, addons: list[str], claims: tuple[str, ...], found: RuleId | None
) -> None:
    aws = AwsEnvironment("us-east-1", existing=existing, addons=frozenset(addons))
    problems = list(aws.check_volumes(Fleet((), ()), claims, "Pulumi.dev.yaml"))
    assert [problem.rule for problem in problems] == ([found] if found else [])
    if found == RuleId.STORAGE_ENCRYPTION_UNCHECKED:
        assert problems[0].severity == Severity.WARNING
        assert "not checked" in problems[0].reason
