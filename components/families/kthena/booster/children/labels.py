"""Labels of what a ModelBooster becomes (Kthena spec 2.1)."""

import functools
import hashlib
import uuid

from pydantic_core import to_json

from .....fleet.objects import Object
from ...names import WORKLOAD_GROUP

_UIDS = uuid.uuid5(uuid.NAMESPACE_DNS, WORKLOAD_GROUP)
REVISION = f"{WORKLOAD_GROUP}/revision"
_LETTERS = str.maketrans("0123456789", "456789bcdf")
"""What stands for the ten digits in a revision (Kubernetes ``rand.SafeEncodeString``, which lets no words arise)."""


def labels_of(model: str, namespace: str, backend: str = "") -> dict[str, str]:
    """Return what tells the pods of a backend from all others; the empty backend is the booster as a whole.

    A booster has no uid before it is in a cluster, and where no controller takes part it never is in one. Namespace
    and name are as good as one, and known.
    """
    return {
        f"{WORKLOAD_GROUP}/model-name": model,
        f"{WORKLOAD_GROUP}/backend-name": backend,
        f"{WORKLOAD_GROUP}/managed-by": WORKLOAD_GROUP,
        f"{WORKLOAD_GROUP}/model-uid": uid_of(namespace, model),
    }


@functools.lru_cache(maxsize=1024)
def uid_of(namespace: str, model: str) -> str:
    """Return what stands for the uid of a booster."""
    return str(uuid.uuid5(_UIDS, f"{namespace}/{model}"))


def selector_of(namespace: str, model: str, backend: str) -> dict[str, str]:
    """Return the labels by which a backend's pods are known: the booster's alone are those of all of its backends."""
    return {
        f"{WORKLOAD_GROUP}/backend-name": backend,
        f"{WORKLOAD_GROUP}/model-uid": uid_of(namespace, model),
    }


def metadata_of(name: str, namespace: str, labels: dict[str, str], spec: Object) -> Object:
    """Return the metadata of a resource: its revision changes with its spec, and is on none of its pods (D-23)."""
    return {"name": name, "namespace": namespace, "labels": {**labels, REVISION: revision_of(spec)}}


def revision_of(spec: Object) -> str:
    """Return what changes with a spec."""
    number = int.from_bytes(hashlib.sha256(to_json(spec)).digest()[:4], "big")
    return str(number).translate(_LETTERS)
