"""Kubernetes objects for storage on AWS: volumes of models, storage classes, and the Job that creates folders."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from ....engines.shell import script_words
from ....fleet.objects import Object, new_object
from ....fleet.options import BoundClaim


def volume(namespace: str, claim: BoundClaim, source: dict[str, Any], options: Sequence[str] = ()) -> Object:
    """Return a volume reserved for one claim (Kubernetes, "Reserving a PersistentVolume").

    Args:
        namespace: Namespace of the claim.
        claim: The claim.
        source: The CSI volume source; leaves may be outputs.
        options: Mount options.
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
    """Return the volume source of an EFS access point, encrypted in transit.

    Source: kubernetes-sigs/aws-efs-csi-driver, docs/parameters.md, and its example of access points.

    Args:
        handle: File system and access point, as ``fs-...::fsap-...``.
    """
    return {"driver": "efs.csi.aws.com", "volumeHandle": handle, "volumeAttributes": {"encryptInTransit": "true"}}


def s3_source(claim: BoundClaim, namespace: str, bucket: str) -> dict[str, Any]:
    """Return the volume source of a bucket, mounted with the credentials of the pod that reads it.

    The driver itself needs no permissions: pods run as a service account that may read the bucket, through Pod
    Identity or its token (awslabs/mountpoint-s3-csi-driver v2, docs/CONFIGURATION.md, "Pod-Level Credentials").
    Handles must be unique, or only one of two volumes in a pod is mounted (same page, "Static Provisioning").
    """
    return {
        "driver": "s3.csi.aws.com",
        "volumeHandle": claim.volume(namespace),
        "volumeAttributes": {"bucketName": bucket, "authenticationSource": "pod"},
    }


def s3_options(region: str, prefix: str) -> tuple[str, ...]:
    """Return the mount options of a bucket; the access mode of the volume makes it read-only.

    Without allow-other only root could read, because Mountpoint runs as a separate user. The region is explicit,
    because pods cannot read it from the instance metadata (docs/UPGRADING_TO_V2.md).
    """
    return ("allow-other", f"region {region}", *((f"prefix {prefix}",) if prefix else ()))


def fsx_source(name: str, dns_name: Any, mount_name: Any) -> dict[str, Any]:  # noqa: ANN401  a text or an output
    """Return the volume source of a folder in an FSx for Lustre file system.

    Source: kubernetes-sigs/aws-fsx-csi-driver, example of static provisioning. Its node service mounts by the two
    names alone, and never reads the handle.

    Args:
        name: Name of the volume.
        dns_name: DNS name of the file system.
        mount_name: Its mount name, followed by the folder (FSx user guide, "Mounting a specific fileset").
    """
    attributes = {"dnsname": dns_name, "mountname": mount_name}
    return {"driver": "fsx.csi.aws.com", "volumeHandle": name, "volumeAttributes": attributes}


FSX_OPTIONS = ("flock",)
"""Loaders that share a cache use file locks, which Lustre supports only with this option (FSx user guide)."""


VOLUME_DRIVER = "aws-ebs-csi-driver"
"""Name of the EKS add-on that provides the volumes."""
ENCRYPTED_CLASS = "ebs-encrypted"
FORMER_CLASS = "ebs-csi-default-sc"
"""The class that the add-on creates with ``defaultStorageClass.enabled``."""
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def encrypted_class(key_arn: str = "") -> Object:
    """Return the default class, whose volumes are encrypted regardless of the account's setting.

    Storage classes are immutable, so another key replaces the class under the same name. Claims refer to a class by
    name, and the volumes of bound claims do not change.

    Args:
        key_arn: ARN of a KMS key; empty for the account's key for EBS.
    """
    key = {"kmsKeyId": key_arn} if key_arn else {}
    return _class(ENCRYPTED_CLASS, {"type": "gp3", "encrypted": "true", **key}, is_default=True)


def former_class() -> Object:
    """Return the class that claims of earlier releases of this package use; it is not the default.

    The class of a claim is immutable. Without the class, a bound claim cannot grow, and an unbound one stays Pending.
    Apart from the annotation it equals the class in the add-on's chart, so that it can be adopted whether or not EKS
    has already removed it.
    """
    return _class(FORMER_CLASS, {}, is_default=False)


def _class(name: str, parameters: dict[str, str], *, is_default: bool) -> Object:
    annotations = {_DEFAULT: "true" if is_default else "false"}
    if not is_default:
        # EKS owns the annotation until Pulumi forces the patch (Pulumi Kubernetes provider, "Server-Side Apply").
        annotations["pulumi.com/patchForce"] = "true"
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": "ebs.csi.aws.com",
        **({"parameters": parameters} if parameters else {}),
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }


NAMESPACE = "kube-system"
"""Its pods may run as root, unlike those in the namespaces of models."""
FOLDER_IMAGE = "public.ecr.aws/docker/library/busybox:1.37.0"
"""Image of the Job that creates folders."""
_MOUNTED = "/cache"
_SCRIPT = f"""\
for folder; do
  mkdir -p "{_MOUNTED}/$folder" && chmod 0777 "{_MOUNTED}/$folder" || exit 1
done
"""
_DIGEST = 8


def folder_job(claim: BoundClaim, folders: Iterable[str]) -> Object:
    """Return a Job that creates world-writable folders on a claim in the same namespace.

    Jobs are immutable, so the name has a digest of the folders: different folders result in a new Job, which creates
    the missing ones.
    """
    names = sorted(folders)
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:_DIGEST]
    container = {
        "name": "folders",
        "image": FOLDER_IMAGE,
        "command": list(script_words(_SCRIPT, "folders", *names)),
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "cache", "mountPath": _MOUNTED}],
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "restartPolicy": "OnFailure",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": claim.name}}],
    }
    spec = {"backoffLimit": 6, "template": {"spec": pod}}
    return new_object("batch/v1", "Job", f"{claim.name}-folders-{digest}", NAMESPACE, spec)
