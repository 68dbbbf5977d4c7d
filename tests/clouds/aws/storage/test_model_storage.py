"""Storage for weights: exact graphs of new and existing file systems, and arguments that are refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.fleet.options import BoundClaim
from components.resources.aws.storage.settings import StorageSettings
from tests.clouds.aws.storage.storages import (
    BASE,
    GROUP,
    KEY,
    OWN_FSX,
    PLACE,
    POINT,
    RULE,
    STORAGE,
    SYSTEM,
    TARGET,
    VOLUME,
    refused,
    storage,
)
from workbench.engine.values import UNKNOWN


@pytest.mark.parametrize("preview", [False, True])
def test_a_file_system_with_a_target_per_zone_and_a_folder_per_namespace(preview: bool) -> None:
    recorded = storage(**PLACE, efs={}, preview=preview)
    mounted = {
        f"{SYSTEM}::store-efs",
        f"{RULE}::store-efs",
        f"{TARGET}::store-efs-us-east-1a",
        f"{TARGET}::store-efs-us-east-1b",
    }
    target = {f"{SYSTEM}::store-efs", f"{GROUP}::store-efs", f"{RULE}::store-efs"}
    assert {entry.key: set(entry.dependencies) for entry in recorded.graph} == {
        STORAGE: set(),
        f"{SYSTEM}::store-efs": set(),
        f"{GROUP}::store-efs": set(),
        f"{RULE}::store-efs": {f"{GROUP}::store-efs"},
        f"{TARGET}::store-efs-us-east-1a": target,
        f"{TARGET}::store-efs-us-east-1b": target,
        f"{POINT}::store-efs-models": {f"{SYSTEM}::store-efs"},
        f"{POINT}::store-efs-research": {f"{SYSTEM}::store-efs"},
        f"{VOLUME}::store-models/model-cache-efs": {*mounted, f"{POINT}::store-efs-models"},
        f"{VOLUME}::store-research/model-cache-efs": {*mounted, f"{POINT}::store-efs-research"},
    }
    assert {entry.parent for entry in recorded.graph} == {"", STORAGE}
    assert recorded.exports == {"claim": "model-cache-efs"}


def test_the_file_system_is_encrypted_and_pays_by_use_unless_told_otherwise() -> None:
    assert storage(**PLACE, efs={}, tags={"team": "a"})[f"{SYSTEM}::store-efs"].inputs == {
        "encrypted": True,
        "throughputMode": "elastic",
        "tags": {"team": "a", "Name": "demo-model-cache"},
    }
    told = storage(**PLACE, efs={"throughput": "provisioned", "mibps": 512.0, "kms_key_arn": KEY})
    found = told[f"{SYSTEM}::store-efs"].inputs
    assert found["encrypted"] is True
    assert (found["throughputMode"], found["provisionedThroughputInMibps"]) == ("provisioned", 512)
    assert found["kmsKeyId"] == KEY


def test_nfs_comes_from_the_nodes_alone() -> None:
    recorded = storage(**PLACE, efs={})
    rule = recorded[f"{RULE}::store-efs"].inputs
    assert {key: rule[key] for key in ("referencedSecurityGroupId", "ipProtocol", "fromPort", "toPort")} == {
        "referencedSecurityGroupId": "sg-cluster",
        "ipProtocol": "tcp",
        "fromPort": 2049,
        "toPort": 2049,
    }
    assert not {"cidrIpv4", "cidrIpv6"} & rule.keys()
    assert len(recorded.of(RULE)) == 1
    group = recorded[f"{GROUP}::store-efs"].inputs
    assert not {"ingress", "egress"} & group.keys()


def test_everybody_is_one_user_in_a_folder_of_the_namespace() -> None:
    point = storage(**PLACE, efs={"uid": 2000, "gid": 3000})[f"{POINT}::store-efs-research"].inputs
    assert point["posixUser"] == {"uid": 2000, "gid": 3000}
    assert point["rootDirectory"] == {
        "path": "/research",
        "creationInfo": {"ownerUid": 2000, "ownerGid": 3000, "permissions": "0750"},
    }


def test_a_volume_is_an_access_point_that_one_claim_may_have() -> None:
    """As the driver's own example of access points has it, and Kubernetes' of reserved volumes."""
    volume = storage(**PLACE, efs={})[f"{VOLUME}::store-models/model-cache-efs"].inputs
    assert volume["metadata"] == {"name": "models.model-cache-efs"}
    assert volume["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": "1Ti"},
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": "models",
            "name": "model-cache-efs",
        },
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "csi": {
            "driver": "efs.csi.aws.com",
            "volumeHandle": "store-efs-id::store-efs-models-id",
            "volumeAttributes": {"encryptInTransit": "true"},
        },
    }


def test_a_file_system_that_exists_gets_access_points_and_nothing_else() -> None:
    recorded = storage(efs={"id": "fs-0123456789abcdef0"})
    assert {entry.type for entry in recorded.graph} == {"inference-platform:index:ModelStorage", POINT, VOLUME}
    point = recorded[f"{POINT}::store-efs-models"].inputs
    assert point["fileSystemId"] == "fs-0123456789abcdef0"
    assert point["rootDirectory"]["path"] == "/demo/models"
    volume = next(entry for entry in recorded.of(VOLUME) if entry.name.startswith("store-models/"))
    assert volume.inputs["spec"]["csi"]["volumeHandle"] == "fs-0123456789abcdef0::store-efs-models-id"


@pytest.mark.parametrize("preview", [False, True])
def test_a_bucket_is_mounted_in_each_namespace_with_the_rights_of_the_pods(preview: bool) -> None:
    """As docs/CONFIGURATION.md of the driver has it: "Static Provisioning" and "Pod-Level Credentials"."""
    recorded = storage(s3={"library": "example-models/prod/", "all": "example-models"}, preview=preview)
    assert {entry.key for entry in recorded.graph} == {
        STORAGE,
        *(f"{VOLUME}::store-{namespace}/{claim}" for namespace in BASE["namespaces"] for claim in ("library", "all")),
    }
    spec = recorded[f"{VOLUME}::store-research/library"].inputs["spec"]
    assert spec["csi"] == {
        "driver": "s3.csi.aws.com",
        "volumeHandle": "research.library",
        "volumeAttributes": {"bucketName": "example-models", "authenticationSource": "pod"},
    }
    assert spec["mountOptions"] == ["allow-other", "region us-east-1", "prefix prod/"]
    assert spec["accessModes"] == ["ReadOnlyMany"]
    assert spec["claimRef"]["name"] == "library"
    assert (spec["storageClassName"], spec["persistentVolumeReclaimPolicy"]) == ("", "Retain")
    whole = recorded[f"{VOLUME}::store-models/all"].inputs["spec"]
    assert whole["mountOptions"] == ["allow-other", "region us-east-1"]
    handles = [entry.inputs["spec"]["csi"]["volumeHandle"] for entry in recorded.of(VOLUME)]
    assert len(set(handles)) == len(handles)
    assert recorded.exports == {"claim": ""}


def test_buckets_stand_beside_a_cache() -> None:
    recorded = storage(**PLACE, efs={}, s3={"library": "example-models"})
    assert {entry.name for entry in recorded.of(VOLUME)} == {
        f"store-{namespace}/{claim}" for namespace in BASE["namespaces"] for claim in ("model-cache-efs", "library")
    }


def test_what_a_volume_is_stays_unknown_in_a_preview() -> None:
    recorded = storage(**PLACE, efs={}, preview=True)
    volume = recorded[f"{VOLUME}::store-models/model-cache-efs"].inputs
    assert volume["spec"]["csi"]["volumeHandle"] is UNKNOWN
    assert volume["metadata"] == {"name": "models.model-cache-efs"}


LASTING: list[dict[str, Any]] = [
    {},
    {"uid": 1001},
    {"gid": 1001},
    {"kms_key_arn": KEY},
    {"id": "fs-0123456789abcdef0"},
    {"id": "fs-0123456789abcdef1"},
]


def claim_of(**efs: Any) -> str:
    cache = StorageSettings.model_validate({"efs": efs}, by_name=True, by_alias=False).cache
    assert cache is not None
    return cache.name


def test_another_volume_has_another_claim() -> None:
    """Neither claims nor volumes can be changed: what cannot be changed in place is made beside the former one."""
    names = [claim_of(**each) for each in LASTING]
    assert len(set(names)) == len(names)
    assert claim_of(throughput="bursting") == claim_of(throughput="provisioned", mibps=1) == claim_of()
    assert claim_of(uid=1000) == claim_of()


NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)


@given(NAMES, NAMES, NAMES, NAMES)
def test_no_two_claims_have_one_volume(claim: str, namespace: str, other: str, elsewhere: str) -> None:
    same = (claim, namespace) == (other, elsewhere)
    assert (BoundClaim(claim).volume(namespace) == BoundClaim(other).volume(elsewhere)) == same


@pytest.mark.parametrize(
    ("args", "path", "reason"),
    [
        ({}, "efs", "is required, unless fsx or s3 is set"),
        ({"s3": {}}, "efs", "is required, unless fsx or s3 is set"),
        ({"efs": {}, "fsx": {"zone": "us-east-1a"}}, "efs", "cannot be combined with fsx"),
        ({"fsx": {}}, "fsx", "requires zone; set it"),
        ({"fsx": {"zone": "us-east-1a"}}, "vpc_id", "is required for a new file system"),
        ({"fsx": {"zone": "us-east-1c"}, **PLACE}, "fsx.zone", "us-east-1c has no subnet"),
        ({"fsx": {"zone": "east"}, **PLACE}, "fsx.zone", "must match"),
        ({"fsx": {"id": "fs-01234567"}}, "fsx", "set all three"),
        ({"fsx": {"dns_name": "fs.example", "mount_name": "a"}}, "fsx", "set all three"),
        ({"fsx": {**OWN_FSX, "zone": "us-east-1a"}}, "fsx", "remove all settings but its ID and names"),
        ({"fsx": {**OWN_FSX, "capacity_gib": 2400}}, "fsx", "remove all settings but its ID and names"),
        ({"fsx": {"zone": "us-east-1a", "capacity_gib": 3600}, **PLACE}, "fsx", "1200 and multiples of 2400"),
        ({"fsx": {"zone": "us-east-1a", "capacity_gib": 0}, **PLACE}, "fsx", "1200 and multiples of 2400"),
        ({"fsx": {"zone": "us-east-1a", "throughput_per_tib": 200}}, "fsx.throughput_per_tib", "125, 250, 500 or"),
        ({"fsx": {"zone": "us-east-1a", "deployment": "scratch-1"}}, "fsx.deployment", "'persistent-2' or"),
        (
            {"fsx": {"zone": "us-east-1a", "deployment": "scratch-2", "throughput_per_tib": 125}},
            "fsx",
            "scratch-2 supports neither throughput",
        ),
        ({"s3": {"library": "s3://models"}}, "s3.library", "without s3://"),
        ({"s3": {"library": "Models"}}, "s3.library", "valid lower-case bucket name"),
        ({"s3": {"library": "models/prod"}}, "s3.library", "end it with '/'"),
        ({"s3": {"library": "models/*/"}}, "s3.library", "must not contain a wildcard"),
        ({"s3": {"The_library": "models"}}, "s3.The_library", "must match pattern"),
        ({"efs": {}}, "vpc_id", "is required for a new file system"),
        ({"efs": {}}, "subnets", "is required for a new file system"),
        ({"efs": {}}, "cluster_security_group_id", "is required for a new file system"),
        ({"efs": {"id": "weights"}}, "efs.id", "must match"),
        ({"efs": {"ids": "fs-0123456789abcdef0"}}, "efs.ids", "did you mean 'id'?"),
        ({"efs": {"id": "fs-01234567", "throughput": "elastic"}}, "efs", "remove these settings"),
        ({"efs": {"id": "fs-01234567", "kms_key_arn": KEY}}, "efs", "remove these settings"),
        ({"efs": {"throughput": "provisioned"}}, "efs", "require each other"),
        ({"efs": {"mibps": 100}}, "efs", "require each other"),
        ({"efs": {"throughput": "fast"}}, "efs.throughput", "'elastic', 'bursting' or 'provisioned'"),
        ({"efs": {"uid": 0}}, "efs.uid", "must be at least 1, found 0"),
        ({"efs": {"kms_key_arn": "alias/key"}}, "efs.kms_key_arn", "must match"),
        ({"efs": {}, "namespaces": []}, "namespaces", "at least one"),
        ({"efs": {}, "namespaces": ["Models"]}, "namespaces", "is not a valid name of a namespace"),
        ({"efs": {}, "namespaces": ["a", "a"]}, "namespaces", "listed 2 times"),
        (
            {"efs": {"id": "fs-01234567"}, "namespaces": ["n" * 63], "cluster_name": "c" * 36},
            "namespaces",
            "allows 100",
        ),
    ],
)
def test_what_contradicts_is_refused(args: dict[str, Any], path: str, reason: str) -> None:
    found = refused(**args)
    assert reason in found[path], found


def test_the_longest_folder_that_efs_takes() -> None:
    recorded = storage(efs={"id": "fs-01234567"}, namespaces=["n" * 63], cluster_name="c" * 35)
    assert len(recorded.of(POINT)[0].inputs["rootDirectory"]["path"]) == 100
