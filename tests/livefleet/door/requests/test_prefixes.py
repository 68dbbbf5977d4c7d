"""Where the API of an engine is: the path that it is asked at, and the defect of a path that is none of the API."""

from collections.abc import Iterator
from copy import deepcopy

import pytest

from tests.fleets import GPU, open_model, playground
from tests.livefleet.door.requests.doors import DoorFactory, Object, StoodDoor
from tests.livefleet.door.requests.planned import KEYS, SECRET, planned


def embeddings(path: str) -> list[Object]:
    """Text Embeddings Inference, as the default stack has it, with a path of its own."""
    model = {
        "apiVersion": "inference.llmkube.dev/v1alpha1",
        "kind": "Model",
        "metadata": {"name": "bge-small"},
        "spec": {"source": "BAAI/bge-small-en-v1.5", "format": "safetensors"},
    }
    spec = {
        "modelRef": "bge-small",
        "runtime": "generic",
        "image": "ghcr.io/huggingface/text-embeddings-inference:cpu-1.8",
        "args": ["--model-id", "BAAI/bge-small-en-v1.5", "--port", "8080"],
        "containerPort": 8080,
        "replicas": 1,
        "probeOverrides": {"readiness": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 5}},
        "resources": {"cpu": "2", "memory": "4Gi"},
        "endpoint": {"path": path},
    }
    service = {
        "apiVersion": "inference.llmkube.dev/v1alpha1",
        "kind": "InferenceService",
        "metadata": {"name": "embeddings"},
        "spec": spec,
    }
    return [model, service]


def prefixed() -> list[Object]:
    """llama.cpp that serves all of its paths under another."""
    started = {"backendName": "llamacpp", "version": "server-b8500", "args": ["--api-prefix", "/chat"]}
    return [open_model("llama", flavors=[GPU]), playground("llama", "llama", backendRuntimeConfig=started)]


def asked(door: StoodDoor, model: str) -> str:
    with door.client(KEYS["alice"]) as client:
        answer = client.post("/v1/embeddings", json={"model": model, "input": "Hello"})
    assert answer.status_code == 200
    return door.engines.last.path


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    with stand(planned(*embeddings("/embed"), *prefixed()).door.objects, [SECRET]) as found:
        yield found


def test_a_path_of_the_engine_alone_is_no_base(door: StoodDoor) -> None:
    """``endpoint.path: /embed`` is the engine's own API, beside which it has OpenAI's under ``/v1``."""
    assert asked(door, "bge-small") == "/v1/embeddings"


def test_a_prefix_of_the_engine_is_asked_with(door: StoodDoor) -> None:
    assert asked(door, "llama") == "/chat/v1/embeddings"


def test_the_path_as_a_prefix_would_lead_nowhere(stand: DoorFactory) -> None:
    """The defect: engines have nothing at the path that the gateway then asks for."""
    objects = deepcopy(planned(*embeddings("/embed")).door.objects)
    (backend,) = [body for body in objects if body["kind"] == "AIServiceBackend"]
    backend["spec"]["schema"]["prefix"] = "/embed"
    with stand(objects, [SECRET]) as door:
        assert asked(door, "bge-small") == "/embed/embeddings"
