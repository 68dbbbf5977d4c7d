"""PersistentVolumes for the file systems and buckets that weights are in: one per namespace and claim.

All are provisioned statically: what a volume is made of exists, or belongs to the stack. No driver has to create or
delete anything, and deleting a volume deletes no data.
"""

from collections.abc import Sequence
from typing import Any

from ....fleet.objects import Object
from ....fleet.options import BoundClaim


def volume(namespace: str, claim: BoundClaim, source: dict[str, Any], options: Sequence[str] = ()) -> Object:
    """Return a volume that one claim alone may be bound to (Kubernetes, "Reserving a PersistentVolume").

    Args:
        namespace: Namespace of the claim.
        claim: The claim.
        source: What the volume is, as the driver of its kind has it; leaves may be outputs.
        options: Options of its mount.
    """
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": claim.volume(namespace)},
        "spec": {
            "accessModes": claim.access_modes,
            "capacity": {"storage": claim.SIZE},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": namespace,
                "name": claim.name,
            },
            **({"mountOptions": list(options)} if options else {}),
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "volumeMode": "Filesystem",
            "csi": source,
        },
    }


def efs_source(handle: Any) -> dict[str, Any]:  # noqa: ANN401  a text or an output
    """Return an access point of an EFS file system, encrypted on its way.

    Source: kubernetes-sigs/aws-efs-csi-driver, docs/parameters.md, and its example of access points.

    Args:
        handle: File system and access point, as ``fs-...::fsap-...``.
    """
    return {"driver": "efs.csi.aws.com", "volumeHandle": handle, "volumeAttributes": {"encryptInTransit": "true"}}


def s3_source(claim: BoundClaim, namespace: str, bucket: str) -> dict[str, Any]:
    """Return a bucket, mounted with the credentials of the pod that reads it.

    The driver itself needs no permission: pods run as a service account that may read the bucket, by Pod Identity or
    by its token (awslabs/mountpoint-s3-csi-driver v2, docs/CONFIGURATION.md, "Pod-Level Credentials"). Handles must
    differ, or only one of two volumes in a pod is mounted (there, "Static Provisioning").
    """
    return {
        "driver": "s3.csi.aws.com",
        "volumeHandle": claim.volume(namespace),
        "volumeAttributes": {"bucketName": bucket, "authenticationSource": "pod"},
    }


def s3_options(region: str, prefix: str) -> tuple[str, ...]:
    """Return how a bucket is mounted; that it is read only, its access mode says.

    Without allow-other only root could read: Mountpoint runs as a user of its own. The region is told, because nodes
    keep pods from asking the instance metadata for it (docs/UPGRADING_TO_V2.md).
    """
    return ("allow-other", f"region {region}", *((f"prefix {prefix}",) if prefix else ()))


def fsx_source(name: str, dns_name: Any, mount_name: Any) -> dict[str, Any]:  # noqa: ANN401  a text or an output
    """Return a folder of an FSx for Lustre file system.

    Source: kubernetes-sigs/aws-fsx-csi-driver, example of static provisioning. Its node service mounts by the two
    names alone, and never reads the handle.

    Args:
        name: Name of the volume.
        dns_name: DNS name of the file system.
        mount_name: Its mount name, with the folder behind it (FSx user guide, "Mounting a specific fileset").
    """
    attributes = {"dnsname": dns_name, "mountname": mount_name}
    return {"driver": "fsx.csi.aws.com", "volumeHandle": name, "volumeAttributes": attributes}


FSX_OPTIONS = ("flock",)
"""Loaders that share a cache take turns by locks of files, which Lustre has on request only (FSx user guide)."""
