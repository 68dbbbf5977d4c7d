"""Storage classes on a real control plane: existing claims keep working when another class becomes the default."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.clouds.aws.storage.volumes import encrypted_class, former_class
from tests.cluster.waiting import eventually, gone
from toolkit.kube import Kube, KubeError

STORAGE = ("storage.k8s.io/v1", "StorageClass")
KEYS = [f"arn:aws:kms:us-east-1:123456789012:key/{digit * 8}" for digit in "ab"]
OF_THE_ADDON = former_class() | {
    "metadata": {
        "name": "ebs-csi-default-sc",
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    }
}


@pytest.fixture(autouse=True)
def no_classes_left(kube: Kube) -> Iterator[None]:
    yield
    for value in (former_class(), encrypted_class()):
        if not gone(kube, *STORAGE, value["metadata"]["name"]):
            kube.delete(*STORAGE, value["metadata"]["name"])


def claim(kube: Kube, name: str, namespace: str, size: str = "1Gi", *, dry_run: bool = False) -> str:
    """Ask for a volume, without a class; return the class that the API server chose, which may be none."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    metadata = {"name": name, "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    return str(kube.apply(body, manager="test", dry_run=dry_run)["spec"].get("storageClassName", ""))


def await_default(kube: Kube, namespace: str, name: str) -> None:
    """Wait until a class is the default: admission hears of classes a moment after they are stored."""
    eventually(lambda: claim(kube, "tried", namespace, dry_run=True) == name, f"{name} as the default")


def may_grow(kube: Kube, name: str, namespace: str) -> bool:
    try:
        claim(kube, name, namespace, "2Gi", dry_run=True)
    except KubeError as error:
        if error.status != 403:
            raise
        return False
    return True


def bind(kube: Kube, name: str, namespace: str, storage_class: str) -> None:
    """Provide the volume of a claim, as its driver would."""
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{name}"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "claimRef": {"namespace": namespace, "name": name},
            "storageClassName": storage_class,
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{name}"},
        },
    }
    kube.apply(volume, manager="test")
    eventually(lambda: phase(kube, name, namespace) == "Bound", f"claim {name} is bound")


def phase(kube: Kube, name: str, namespace: str) -> Any:
    return kube.get("v1", "PersistentVolumeClaim", name, namespace)["status"].get("phase")


def tidy(kube: Kube, namespace: str, *names: str) -> None:
    for name in names:
        kube.delete("v1", "PersistentVolumeClaim", name, namespace)
        if not gone(kube, "v1", "PersistentVolume", f"{namespace}-{name}"):
            kube.delete("v1", "PersistentVolume", f"{namespace}-{name}")


@pytest.mark.parametrize("removed", [True, False], ids=["removed-by-eks", "left-by-eks"])
def test_claims_of_the_add_ons_class_live_on(kube: Kube, namespace: str, removed: bool) -> None:
    kube.apply(OF_THE_ADDON, manager="eks")
    await_default(kube, namespace, "ebs-csi-default-sc")
    assert claim(kube, "bound", namespace) == "ebs-csi-default-sc"
    assert claim(kube, "pending", namespace) == "ebs-csi-default-sc"
    bind(kube, "bound", namespace, "ebs-csi-default-sc")

    if removed:
        kube.delete(*STORAGE, "ebs-csi-default-sc")
    kube.apply(former_class(), manager="pulumi")
    kube.apply(encrypted_class(), manager="pulumi")
    await_default(kube, namespace, "ebs-encrypted")

    assert phase(kube, "bound", namespace) == "Bound"
    # To grow, a claim needs its class.
    assert claim(kube, "bound", namespace, "2Gi") == "ebs-csi-default-sc"
    assert claim(kube, "new", namespace) == "ebs-encrypted"
    bind(kube, "pending", namespace, "ebs-csi-default-sc")
    tidy(kube, namespace, "bound", "pending", "new")


def test_without_its_class_a_claim_cannot_grow(kube: Kube, namespace: str) -> None:
    kube.apply(OF_THE_ADDON, manager="eks")
    await_default(kube, namespace, "ebs-csi-default-sc")
    assert claim(kube, "bound", namespace) == "ebs-csi-default-sc"
    bind(kube, "bound", namespace, "ebs-csi-default-sc")
    kube.delete(*STORAGE, "ebs-csi-default-sc")
    assert phase(kube, "bound", namespace) == "Bound"
    eventually(lambda: not may_grow(kube, "bound", namespace), "the class known to be gone")
    with pytest.raises(KubeError) as refused:
        claim(kube, "bound", namespace, "2Gi")
    assert refused.value.status == 403
    tidy(kube, namespace, "bound")


def test_another_key_replaces_the_class_and_no_claim(kube: Kube, namespace: str) -> None:
    before, after = map(encrypted_class, KEYS)
    kube.apply(before, manager="pulumi")
    await_default(kube, namespace, "ebs-encrypted")
    assert claim(kube, "bound", namespace) == "ebs-encrypted"
    bind(kube, "bound", namespace, "ebs-encrypted")
    with pytest.raises(KubeError) as refused:
        kube.apply(after, manager="pulumi")
    assert refused.value.status == 422

    # As the provider replaces what has a name of its own: first the former object goes.
    kube.delete(*STORAGE, "ebs-encrypted")
    kube.apply(after, manager="pulumi")
    await_default(kube, namespace, "ebs-encrypted")

    assert phase(kube, "bound", namespace) == "Bound"
    eventually(lambda: may_grow(kube, "bound", namespace), "the class known to be back")
    assert claim(kube, "bound", namespace, "2Gi") == "ebs-encrypted"
    assert claim(kube, "new", namespace) == "ebs-encrypted"
    tidy(kube, namespace, "bound", "new")
