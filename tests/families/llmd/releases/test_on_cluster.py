"""A real API server accepts what takes the place of a VariantAutoscaling, with the definitions of upstream."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families.llmd.names import ACCELERATOR_LABEL
from tests.families.llmd.releases.test_migration import ANNOTATED, LAST, Facts, converted, deployment, hpa, of_target
from tests.fleet.test_on_cluster import established, eventually
from toolkit.kube import Kube, KubeError
from toolkit.kube.errors import NoSuchKindError

Object = dict[str, Any]
DEFINITIONS = Path(__file__).parent / "definitions.yaml"
"""ScaledObject and InferencePool (config/crd/bases of both projects)."""
STRICT = {"dryRun": "All", "fieldValidation": "Strict"}
MANAGER = "test-successors"


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    bodies = list(yaml.safe_load_all(DEFINITIONS.read_text()))
    for body in bodies:
        kube.apply(body, manager=MANAGER)
    for body in bodies:
        eventually(lambda name=body["metadata"]["name"]: established(kube, name))
        eventually(lambda spec=body["spec"]: serves(kube, spec))
    yield kube
    for body in bodies:
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])
    kube.forget()


def serves(kube: Kube, spec: Object) -> bool:
    """Whether discovery has a kind; it follows the condition of the definition."""
    try:
        kube.resource(f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"])
    except NoSuchKindError:
        return False
    return True


def create(kube: Kube, body: Object) -> None:
    """Create an object in a strict dry run, in a namespace that exists."""
    placed = {**body, "metadata": {**body["metadata"], "namespace": "default"}}
    kube.request("POST", kube.path_of(placed).rpartition("/")[0], params=STRICT, body=placed)


@pytest.mark.parametrize(
    ("fields", "uses_keda", "kinds"),
    [
        ({"minReplicas": 1, "maxReplicas": 3, "variantCost": "7.5"}, False, ["HorizontalPodAutoscaler"]),
        ({"maxReplicas": 3}, True, ["ScaledObject"]),
        ({"minReplicas": 0, "maxReplicas": 3}, False, ["ScaledObject", "InferencePool"]),
    ],
)
def test_successors_are_accepted(ready: Kube, fields: Object, kinds: list[str], *, uses_keda: bool) -> None:
    batch = converted(
        of_target(**fields), origin=LAST, target=ANNOTATED, others=(deployment(),), stacks=Facts(uses_keda=uses_keda)
    )
    assert [document.kind for document in batch.documents] == kinds
    for document in batch.documents:
        create(ready, dict(document.value))


def test_an_annotated_autoscaler_is_accepted(ready: Kube) -> None:
    batch = converted(of_target(maxReplicas=3), origin=LAST, target=ANNOTATED, others=(hpa(),))
    (made,) = (dict(document.value) for document in batch.others)
    assert made["metadata"]["labels"] == {ACCELERATOR_LABEL: "L4"}
    create(ready, made)


def test_an_autoscaler_without_replicas_is_refused(ready: Kube) -> None:
    """Why a ScaledObject takes its place."""
    with pytest.raises(KubeError, match="minReplicas"):
        create(ready, hpa(minReplicas=0))
