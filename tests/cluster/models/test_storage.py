"""Volumes and claims for weights on a real control plane: each claim gets its own volume, and nobody else's."""

from functools import partial
from typing import Any

from components.clouds.aws.storage.volumes import (
    FSX_OPTIONS,
    efs_source,
    folder_job,
    fsx_source,
    s3_options,
    s3_source,
    volume,
)
from components.fleet.options import BoundClaim
from components.plan.claims import claim_objects
from tests.cluster.waiting import eventually
from toolkit.kube import Kube

CACHE, FAST, LIBRARY = BoundClaim("cache"), BoundClaim("fast"), BoundClaim("library", read_only=True)
CLAIMS = (CACHE, FAST, LIBRARY)


def volumes(namespace: str) -> list[dict[str, Any]]:
    library = s3_source(LIBRARY, namespace, "weights")
    fast = fsx_source(FAST.volume(namespace), "fs-0.fsx.us-east-1.amazonaws.com", "abcdefgh/models")
    return [
        volume(namespace, CACHE, efs_source("fs-0123456789abcdef0::fsap-0123456789abcdef0")),
        volume(namespace, FAST, fast, FSX_OPTIONS),
        volume(namespace, LIBRARY, library, s3_options("us-east-1", "prod/")),
    ]


def is_bound(kube: Kube, claim: str, namespace: str) -> bool:
    found = kube.get("v1", "PersistentVolumeClaim", claim, namespace)
    return bool(found["status"].get("phase") == "Bound")


def test_claims_are_bound_to_their_own_volumes(kube: Kube, namespace: str) -> None:
    (stranger,) = claim_objects([CACHE], [namespace])
    stranger["metadata"]["name"] = "stranger"
    kube.apply(stranger, manager="test")
    for body in (*volumes(namespace), *claim_objects(CLAIMS, [namespace])):
        kube.apply(body, manager="test")
    for claim in CLAIMS:
        eventually(partial(is_bound, kube, claim.name, namespace), f"claim {claim.name}")
        found = kube.get("v1", "PersistentVolumeClaim", claim.name, namespace)
        assert found["spec"]["volumeName"] == f"{namespace}.{claim.name}"
    assert not is_bound(kube, "stranger", namespace)
    for name in (*(claim.name for claim in CLAIMS), "stranger"):
        kube.delete("v1", "PersistentVolumeClaim", name, namespace)
    for claim in CLAIMS:
        kube.delete("v1", "PersistentVolume", claim.volume(namespace))


def test_the_job_that_makes_folders_is_a_job(kube: Kube) -> None:
    job = folder_job(FAST, ["models", "research"])
    created = kube.create(job, dry_run=True)
    assert created["spec"]["template"]["spec"]["containers"][0]["command"][-2:] == ["models", "research"]
