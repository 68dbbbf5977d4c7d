"""A real API server accepts whatever random InferenceServices become: 2,000 of them, and the pods of each."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from components.families.llmkube.facts import llmkube
from components.families.llmkube.pods import class_name, priority_class
from components.fleet.rendered import Fleet
from tests.families.llmkube.random.strategies import EXAMPLES, NAMESPACES, PRIORITY_CLASS, RUNTIME_CLASS, drawn
from tests.fleets import endpoint_of, errors
from toolkit.kube import APPLY, Kube, KubeError

Object = dict[str, Any]
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test-llmkube-random", "force": "true"}
THREADS = 8
PATIENCE = 60.0


def environment() -> Iterator[Object]:
    """What admission asks for before it lets a pod in."""
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    for priority in llmkube().priorities:
        found = priority_class(class_name(priority))
        assert found
        yield found
    metadata = {"name": PRIORITY_CLASS}
    yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": 5}
    metadata = {"name": RUNTIME_CLASS}
    yield {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": metadata, "handler": "nvidia"}


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    made = list(environment())
    for body in made:
        kube.apply(body, manager="test-llmkube-random")
    try:
        eventually(lambda: all(answer(kube, probe(namespace)) == "" for namespace in NAMESPACES))
        yield kube
    finally:
        for body in made:
            kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])


def eventually(condition: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.1)


def probe(namespace: str) -> Object:
    """A pod that admission takes once it knows the namespace's service account and the classes."""
    spec = {
        "containers": [{"name": "c", "image": "example.com/c:1"}],
        "priorityClassName": PRIORITY_CLASS,
        "runtimeClassName": RUNTIME_CLASS,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": namespace}, "spec": spec}


def answer(kube: Kube, body: Object) -> str:
    """Apply an object in a dry run; return why the server refuses it, or nothing."""
    try:
        stored = kube.request("PATCH", kube.path_of(body), params=STRICT, body=body, content_type=APPLY)
    except KubeError as error:
        return f"{body['kind']} {body['metadata']}: {error.message}"
    assert stored["metadata"]["name"] == body["metadata"]["name"]
    return ""


def objects(fleet: Fleet) -> Iterator[Object]:
    """Everything that is made, and a pod of each Deployment as its controller would make it."""
    for item in fleet.rendered:
        yield from item.objects
        for body in item.objects:
            if body["kind"] == "Deployment" and item.endpoints:
                template = body["spec"]["template"]
                metadata = {**template["metadata"], "name": endpoint_of(item).service, "namespace": item.namespace}
                yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def test_the_api_server_accepts_what_2000_random_services_become(ready: Kube) -> None:
    fleets = [fleet for fleet in (example.rendered() for example in drawn()) if not errors(fleet)]
    assert len(fleets) >= 0.95 * EXAMPLES
    bodies = [body for fleet in fleets for body in objects(fleet)]
    kinds = {body["kind"] for body in bodies}
    made = {"Deployment", "Service", "HorizontalPodAutoscaler", "PersistentVolumeClaim", "PriorityClass", "Pod"}
    assert kinds == made
    with ThreadPoolExecutor(THREADS) as pool:
        refused = [found for found in pool.map(lambda body: answer(ready, body), bodies) if found]
    assert refused == []


@pytest.mark.parametrize(
    ("change", "words"),
    [({"unknown": 1}, "unknown"), ({"replicas": -1}, "spec.replicas"), ({"replicas": "2"}, "replicas")],
)
def test_what_is_wrong_is_refused_so(ready: Kube, change: Object, words: str) -> None:
    """Else the test above would pass whatever is made."""
    fleet = next(fleet for fleet in (example.rendered() for example in drawn()) if not errors(fleet))
    body = next(body for body in objects(fleet) if body["kind"] == "Deployment")
    assert words in answer(ready, {**body, "spec": {**body["spec"], **change}})
