"""An autoscaler is turned on, off and on again: the replicas change hands, and none is lost."""

import copy
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import kinds
from components.fleet.workloads import REPLICAS, with_own_replicas
from tests.cluster.waiting import eventually, gone
from tests.real_engine.support import Json, RealStack, namespace
from toolkit.kube import Kube, KubeError
from workbench.errors import WorkbenchError

SPACE = "real-replicas"
LABELS = {"app": "model"}
POD = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "server", "image": "registry.example/m:1"}]}}
GROUP = {"size": 1, "workerTemplate": POD}
ROLE = {"name": "leader", "entryTemplate": {"spec": POD["spec"]}, "workerReplicas": 0}
KINDS: dict[str, tuple[str, Json]] = {
    "Deployment": ("apps/v1", {"selector": {"matchLabels": LABELS}, "template": POD}),
    "StatefulSet": ("apps/v1", {"selector": {"matchLabels": LABELS}, "template": POD, "serviceName": "model"}),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", {"leaderWorkerTemplate": GROUP}),
    "InferenceService": ("inference.llmkube.dev/v1alpha1", {"modelRef": "model"}),
    "Playground": ("inference.llmaz.io/v1alpha1", {"modelClaim": {"modelName": "model"}}),
    "ModelServing": (
        "workload.serving.volcano.sh/v1alpha1",
        {"schedulerName": "volcano", "template": {"roles": [ROLE]}},
    ),
}
OPERATED = ("InferenceService", "Playground", "ModelServing")
"""Kinds that an operator reads; without replicas, their definitions set 1."""
SKIP = {"pulumi.com/skipAwait": "true"}
"""No node runs the pods."""


def workload(kind: str, replicas: int | None = None, image: str = "registry.example/m:1") -> Json:
    """A workload as the program registers it: without replicas if an autoscaler owns them."""
    api_version, spec = copy.deepcopy(KINDS[kind])
    metadata: Json = {"name": "model", "namespace": SPACE, "annotations": SKIP}
    if kind in OPERATED:
        metadata["labels"] = {"edit": image.rpartition(":")[2]}
    else:
        template = spec.get("template") or spec["leaderWorkerTemplate"]["workerTemplate"]
        template["spec"]["containers"][0]["image"] = image
    body: Json = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    if replicas is not None:
        spec["replicas"] = replicas
    return with_own_replicas(body, replicas if kind in OPERATED else None)


@pytest.fixture(scope="session")
def served(kube: Kube) -> None:
    """The definitions of the kinds, with their scale subresources."""
    for kind in kinds():
        if kind.kind in KINDS and kind.api_version == KINDS[kind.kind][0]:
            kube.apply(crd(kind), manager="test")
            eventually(functools.partial(_is_served, kube, kind.kind), kind.kind)


def _is_served(kube: Kube, kind: str) -> bool:
    try:
        kube.list(KINDS[kind][0], kind, "default")
    except KubeError:
        return False
    return True


@pytest.fixture
def space(real: RealStack, kube: Kube) -> Iterator[None]:
    yield
    real.up([])
    kube.delete("v1", "Namespace", SPACE)
    eventually(lambda: gone(kube, "v1", "Namespace", SPACE), "deletion")


@pytest.mark.usefixtures("space", "served")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [3, 4], ids=["the-number-before", "another-number"])
def test_on_off_and_on_again(real: RealStack, kube: Kube, kind: str, number: int) -> None:
    path = kube.path(KINDS[kind][0], kind, "model", SPACE)

    def replicas() -> int:
        return int(kube.request("GET", path)["spec"]["replicas"])

    def scale(to: int) -> None:
        # As the HPA's controller (Scales.Update in k8s.io/kubernetes pkg/controller/podautoscaler), and
        # Kthena's (updateTargetReplicas in pkg/autoscaler/controller).
        through = "?fieldManager=kthena" if kind == "ModelServing" else "/scale?fieldManager=kube-controller-manager"
        kube.request(
            "PATCH",
            f"{path}{through}",
            body={"spec": {"replicas": to}},
            content_type="application/merge-patch+json",
        )

    def up(*arguments: Any, kept: bool = False) -> None:
        real.kept = {"model": [REPLICAS]} if kept else {}
        assert real.up([namespace(SPACE), workload(kind, *arguments)]) == 0

    up(3)
    up(kept=True)
    assert replicas() == 3
    scale(5)
    up(None, "registry.example/m:2", kept=True)
    assert replicas() == 5
    up(number, "registry.example/m:2")
    assert replicas() == number
    up(kept=True)
    assert replicas() == number
    scale(6)
    up(None, "registry.example/m:3", kept=True)
    assert replicas() == 6


@pytest.mark.usefixtures("space", "served")
@pytest.mark.parametrize("kind", OPERATED)
def test_without_kept_fields_a_resource_returns_to_its_default(real: RealStack, kube: Kube, kind: str) -> None:
    for replicas in (3, None):
        real.kept = {}
        assert real.up([namespace(SPACE), workload(kind, replicas)]) == 0
    assert kube.request("GET", kube.path(KINDS[kind][0], kind, "model", SPACE))["spec"]["replicas"] == 1


@pytest.mark.usefixtures("space")
def test_without_the_annotation_the_number_is_lost(real: RealStack, kube: Kube) -> None:
    """Why it is there; a provider that does without fails here."""
    path = kube.path("apps/v1", "Deployment", "model", SPACE)

    def up(replicas: int | None) -> int:
        body = workload("Deployment", replicas)
        body["metadata"]["annotations"] = SKIP
        real.kept = {"model": [REPLICAS]} if replicas is None else {}
        return real.up([namespace(SPACE), body])

    assert up(3) == up(None) == 0
    scale = f"{path}/scale?fieldManager=kube-controller-manager"
    kube.request("PATCH", scale, body={"spec": {"replicas": 5}}, content_type="application/merge-patch+json")
    assert up(3) == 0
    assert kube.request("GET", path)["spec"]["replicas"] == 5
    with pytest.raises(WorkbenchError, match='conflict with "kube-controller-manager" with subresource "scale"'):
        up(4)
