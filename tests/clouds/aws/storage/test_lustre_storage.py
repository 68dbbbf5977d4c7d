"""Storage for weights on FSx for Lustre: the file system, who reaches it, and the folders in it."""

import stat
import subprocess
from pathlib import Path
from typing import Any

from components.clouds.aws.storage.volumes import folder_job
from components.fleet.options import BoundClaim
from tests.clouds.aws.storage.storages import (
    OWN_FSX,
    PLACE,
    RULE,
    VOLUME,
    storage,
)

LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
JOB = "kubernetes:batch/v1:Job"


def test_a_file_system_in_one_zone() -> None:
    recorded = storage(**PLACE, fsx={"zone": "us-east-1b"})
    assert recorded[LUSTRE + "::store-fsx"].inputs == {
        "deploymentType": "PERSISTENT_2",
        "fileSystemTypeVersion": "2.15",
        "storageCapacity": 1200,
        "perUnitStorageThroughput": 250,
        "subnetIds": "subnet-b",
        "securityGroupIds": ["store-fsx-id"],
        "automaticBackupRetentionDays": 0,
        "skipFinalBackup": True,
        "tags": {"Name": "demo-model-cache"},
    }
    scratch = storage(**PLACE, fsx={"zone": "us-east-1a", "deployment": "scratch-2", "capacity_gib": 4800.0})
    found = scratch[LUSTRE + "::store-fsx"].inputs
    assert (found["deploymentType"], found["storageCapacity"]) == ("SCRATCH_2", 4800)
    assert not {"perUnitStorageThroughput", "automaticBackupRetentionDays", "skipFinalBackup"} & found.keys()


def test_servers_and_nodes_speak_lustre_and_nothing_else() -> None:
    """FSx user guide, "File system access control with Amazon VPC": 988 and 1018 to 1023, each way."""
    recorded = storage(**PLACE, fsx={"zone": "us-east-1a"})
    rules = [(entry, side) for side, type_ in (("in", RULE), ("out", EGRESS)) for entry in recorded.of(type_)]
    ways = {
        (
            side,
            entry.inputs["securityGroupId"],
            entry.inputs["referencedSecurityGroupId"],
            entry.inputs["fromPort"],
            entry.inputs["toPort"],
        )
        for entry, side in rules
    }
    pairs = [
        ("in", "store-fsx-id", "store-fsx-id"),
        ("in", "store-fsx-id", "sg-cluster"),
        ("in", "sg-cluster", "store-fsx-id"),
        ("out", "store-fsx-id", "store-fsx-id"),
        ("out", "store-fsx-id", "sg-cluster"),
    ]
    assert ways == {(*pair, *ports) for pair in pairs for ports in ((988, 988), (1018, 1023))}
    assert len(rules) == len(ways)
    # FSx looks at the group when it makes the file system, and never again.
    assert {entry.key for entry, _ in rules} <= set(recorded[LUSTRE + "::store-fsx"].dependencies)


def test_a_job_makes_the_folders_that_the_namespaces_mount() -> None:
    recorded = storage(**PLACE, fsx={"zone": "us-east-1a"})
    (job,) = recorded.of(JOB)
    pod = job.inputs["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"][3:] == ["folders", "models", "research"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    claim = recorded.exports["claim"]
    assert pod["volumes"] == [{"name": "cache", "persistentVolumeClaim": {"claimName": claim}}]
    assert job.inputs["metadata"]["namespace"] == "kube-system"
    volume = recorded[f"{VOLUME}::store-research/{claim}"]
    assert job.key in volume.dependencies
    assert volume.inputs["spec"]["mountOptions"] == ["flock"]
    assert volume.inputs["spec"]["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": f"research.{claim}",
        "volumeAttributes": {"dnsname": "fs-0.fsx.amazonaws.com", "mountname": "abcdefgh/research"},
    }
    whole = recorded[f"{VOLUME}::store-kube-system/{claim}"].inputs["spec"]["csi"]["volumeAttributes"]
    assert whole["mountname"] == "abcdefgh"


def test_the_script_of_the_job_makes_them(tmp_path: Path) -> None:
    job = folder_job(BoundClaim("c"), ["demo/b", "demo/$(id)"])
    shell, flag, script, name, *folders = job["spec"]["template"]["spec"]["containers"][0]["command"]
    here = script.replace("/cache", str(tmp_path))
    for _ in range(2):  # again, over what is there
        subprocess.run([shell, flag, here, name, *folders], check=True)
    assert sorted(each.name for each in (tmp_path / "demo").iterdir()) == ["$(id)", "b"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "demo").iterdir()} == {0o777}


def test_other_folders_are_another_job() -> None:
    names = {folder_job(BoundClaim("c"), each)["metadata"]["name"] for each in (["a"], ["a", "b"], ["b", "a"])}
    assert len(names) == 2


def test_a_file_system_that_exists_is_mounted_below_a_folder_of_the_cluster() -> None:
    recorded = storage(fsx=OWN_FSX)
    assert not [entry.key for entry in recorded.graph if entry.type.startswith("aws:")]
    (claim,) = {entry.inputs["spec"]["claimRef"]["name"] for entry in recorded.of(VOLUME)}
    source = recorded[f"{VOLUME}::store-models/{claim}"].inputs["spec"]["csi"]["volumeAttributes"]
    assert source == {"dnsname": "fs.example", "mountname": "abcdefgh/demo/models"}


def test_another_file_system_has_another_claim() -> None:
    zone = {"zone": "us-east-1a"}
    variants: list[dict[str, Any]] = [
        zone,
        {"zone": "us-east-1b"},
        {**zone, "deployment": "scratch-2"},
        {**zone, "capacity_gib": 2400},
        OWN_FSX,
    ]
    names = [storage(**PLACE, fsx=each).exports["claim"] for each in variants]
    assert len(set(names)) == len(names)
