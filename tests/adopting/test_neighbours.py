"""What bounds or selects adopted pods, and stays outside of the project."""

from typing import Any

import pytest

from components.fleet.objects import Object
from tests.inspecting.objects import an_object, deployment, live
from workbench.adopting.candidates import AdoptableObject
from workbench.adopting.decisions import Adoption, Becomes, Decision
from workbench.adopting.neighbours import neighbours

LABELS = {"matchLabels": {"app": "chat"}}
OTHERS = {"matchLabels": {"app": "other"}}


def adopted(body: Object) -> Adoption:
    return Adoption((Decision(AdoptableObject(live(body), "chat"), Becomes.VERBATIM, body),))


def beside(kind: str, api_version: str = "v1", namespace: str = "models", **spec: Any) -> Object:
    return an_object(api_version, kind, "x", namespace, **spec)


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (beside("PodDisruptionBudget", "policy/v1", selector=LABELS), "selects the pods of chat"),
        (beside("PodDisruptionBudget", "policy/v1", selector=OTHERS), ""),
        (beside("PodDisruptionBudget", "policy/v1", "elsewhere", selector=LABELS), ""),
        (beside("NetworkPolicy", "networking.k8s.io/v1", podSelector={}), "selects the pods of chat"),
        (beside("ResourceQuota", hard={"requests.nvidia.com/gpu": "2"}), "also holds for the adopted pods"),
        (beside("LimitRange", namespace="elsewhere", limits=[]), ""),
    ],
)
def test_what_selects_or_bounds_adopted_pods_is_listed(body: Object, note: str) -> None:
    notes = [*neighbours(adopted(deployment("chat")), [body])]
    assert len(notes) == bool(note)
    assert all(note in each for each in notes)


def test_claims_of_adopted_pods_are_listed() -> None:
    body = deployment("chat")
    volume = {"name": "weights", "persistentVolumeClaim": {"claimName": "models"}}
    body["spec"]["template"]["spec"]["volumes"] = [volume, {"name": "shm", "emptyDir": {}}]
    (note,) = neighbours(adopted(body), [])
    assert note.endswith("outside of the project: models/models")
