"""An autoscaler is turned on, off and on again: the replicas change hands, and none is lost."""

import copy
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
KINDS: dict[str, tuple[str, Json]] = {
    "Deployment": ("apps/v1", {"selector": {"matchLabels": LABELS}, "template": POD}),
    "StatefulSet": ("apps/v1", {"selector": {"matchLabels": LABELS}, "template": POD, "serviceName": "model"}),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", {"leaderWorkerTemplate": GROUP}),
}
SKIP = {"pulumi.com/skipAwait": "true"}
"""No node runs the pods."""


def workload(kind: str, replicas: int | None = None, image: str = "registry.example/m:1") -> Json:
    """A workload as the program registers it: without replicas if an autoscaler owns them."""
    api_version, spec = copy.deepcopy(KINDS[kind])
    metadata: Json = {"name": "model", "namespace": SPACE, "annotations": SKIP}
    template = spec.get("template") or spec["leaderWorkerTemplate"]["workerTemplate"]
    template["spec"]["containers"][0]["image"] = image
    body: Json = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    if replicas is not None:
        spec["replicas"] = replicas
    return with_own_replicas(body)


@pytest.fixture(scope="session")
def sets(kube: Kube) -> None:
    """The definition of LeaderWorkerSets, with their scale subresource."""
    kind = next(each for each in kinds() if each.kind == "LeaderWorkerSet")
    kube.apply(crd(kind), manager="test")
    eventually(lambda: _is_served(kube), "the kind")


def _is_served(kube: Kube) -> bool:
    try:
        kube.list(KINDS["LeaderWorkerSet"][0], "LeaderWorkerSet", "default")
    except KubeError:
        return False
    return True


@pytest.fixture
def space(real: RealStack, kube: Kube) -> Iterator[None]:
    yield
    real.up([])
    kube.delete("v1", "Namespace", SPACE)
    eventually(lambda: gone(kube, "v1", "Namespace", SPACE), "deletion")


@pytest.mark.usefixtures("space")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [3, 4], ids=["the-number-before", "another-number"])
def test_on_off_and_on_again(real: RealStack, kube: Kube, kind: str, number: int, request: Any) -> None:
    if kind == "LeaderWorkerSet":
        request.getfixturevalue("sets")
    path = kube.path(KINDS[kind][0], kind, "model", SPACE)

    def replicas() -> int:
        return int(kube.request("GET", path)["spec"]["replicas"])

    def scale(to: int) -> None:
        # As scaleNamespacer.Scales.Update of the HPA's controller (k8s.io/kubernetes pkg/controller/podautoscaler).
        kube.request(
            "PATCH",
            f"{path}/scale?fieldManager=kube-controller-manager",
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
