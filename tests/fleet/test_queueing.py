"""The queue of a resource is that of its workloads."""

from typing import Any

import pytest

from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from tests.families.kthena.autoscaling.bindings import serving
from tests.families.kthena.serving.support import role
from tests.fleets import open_model, playground
from tests.fleets import service as llmaz_service

QUEUE = {"kueue.x-k8s.io/queue-name": "serving", "kueue.x-k8s.io/priority-class": "high"}
MODEL: dict[str, Any] = {
    "apiVersion": "inference.llmkube.dev/v1alpha1",
    "kind": "Model",
    "metadata": {"name": "m"},
    "spec": {"source": "Qwen/Qwen2.5-7B-Instruct", "format": "safetensors"},
}
SERVICE: dict[str, Any] = {
    "apiVersion": "inference.llmkube.dev/v1alpha1",
    "kind": "InferenceService",
    "metadata": {"name": "s"},
    "spec": {
        "modelRef": "m",
        "runtime": "vllm",
        "skipModelInit": True,
        "image": "vllm/vllm-openai:v0.20.0",
        "endpoint": {"port": 8000},
    },
}
DOCUMENTS = {
    "InferenceService": (MODEL, SERVICE),
    "Playground": (open_model(), playground()),
    "Service": (open_model(), llmaz_service()),
    "ModelServing": (serving("chat", role("chat", replicas=2, workers=1)),),
}


def labels(*documents: dict[str, Any], queue: dict[str, str], **options: Any) -> list[dict[str, str]]:
    *rest, last = documents
    last = {**last, "metadata": {**last["metadata"], "labels": queue}}
    fleet = render_fleet(objects([*rest, last]).resources, Options(**options))
    found = [workload.body["metadata"].get("labels") or {} for _, workload in fleet.workloads]
    assert found, fleet.problems
    return found


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_native_workload_has_the_queue_of_its_resource(kind: str) -> None:
    found = labels(*DOCUMENTS[kind], queue={**QUEUE, "team": "a"})
    assert all(QUEUE.items() <= each.items() for each in found)
    assert not any(label in each for label in QUEUE for each in labels(*DOCUMENTS[kind], queue={}))


def test_an_operator_is_left_with_the_resource() -> None:
    found = labels(*DOCUMENTS["InferenceService"], queue=QUEUE, realization=Realization.OPERATOR)
    assert not any(label in each for label in QUEUE for each in found)
