"""Makes the folders that volumes mount, where a file system belongs to root and no driver makes any."""

import hashlib
from collections.abc import Iterable

from ....engines.shell import script_words
from ....fleet.objects import Object, new_object
from ....fleet.options import BoundClaim

NAMESPACE = "kube-system"
"""Whose pods may be root; those of models may not."""
_IMAGE = "public.ecr.aws/docker/library/busybox:1.37.0"
_MOUNTED = "/cache"
_SCRIPT = f"""\
for folder; do
  mkdir -p "{_MOUNTED}/$folder" && chmod 0777 "{_MOUNTED}/$folder" || exit 1
done
"""
_DIGEST = 8


def folder_job(claim: BoundClaim, folders: Iterable[str]) -> Object:
    """Return a job that makes folders, open to all users, on a claim in the same namespace.

    A job cannot be changed: with other folders it is another, which makes those that are missing.
    """
    wanted = sorted(folders)
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:_DIGEST]
    container = {
        "name": "folders",
        "image": _IMAGE,
        "command": list(script_words(_SCRIPT, "folders", *wanted)),
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
