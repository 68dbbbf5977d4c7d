"""A real API server accepts what is made of InferenceServices, and admits their pods once their classes are there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.families import load
from components.fleet.options import ModelCache, Options
from components.fleet.rendered import Fleet
from components.fleet.words import Edition
from components.plan.rendering import render_fleet
from tests.fleet.test_on_cluster import eventually
from tests.fleets import endpoint_of, errors
from toolkit.kube import Kube, KubeError

SAMPLE = Path(__file__).with_name("data") / "runtimes.yaml"
MANAGER = "test-llmkube"
NAMESPACE = "llmkube"


def fleet(**options: Any) -> Fleet:
    found = render_fleet(load([SAMPLE]).resources, Options(namespace=NAMESPACE, **options))
    assert not errors(found)
    return found


def pods(found: Fleet) -> list[dict[str, Any]]:
    """One pod of each Deployment, as its controller would make it."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **body["spec"]["template"]["metadata"],
                "name": endpoint_of(item).service,
                "namespace": NAMESPACE,
            },
            "spec": body["spec"]["template"]["spec"],
        }
        for item in found.rendered
        for body in item.objects
        if body["kind"] == "Deployment" and item.endpoints
    ]


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager=MANAGER)
    yield kube
    kube.delete("v1", "Namespace", NAMESPACE)


def test_every_runtime_is_in_the_sample() -> None:
    names = {body["spec"]["containers"][0]["name"] for body in pods(fleet())}
    assert names == {"llama-server", "vllm", "tgi", "personaplex", "inference-server"}


@pytest.mark.parametrize(
    "options",
    [{}, {"runtimes": Edition.CURRENT, "cache": ModelCache(claim="weights")}, {"cache": ModelCache(host_path="/m")}],
)
def test_the_api_server_accepts_every_object(ready: Kube, options: dict[str, Any]) -> None:
    for body in (body for item in fleet(**options).rendered for body in item.objects):
        stored = ready.apply(body, manager=MANAGER, dry_run=True)
        assert stored["metadata"]["name"] == body["metadata"]["name"]


def test_pods_are_admitted_once_their_classes_are_there(ready: Kube) -> None:
    found = fleet()
    eventually(lambda: _account_is_there(ready))
    classes = [body for item in found.rendered for body in item.objects if body["kind"] == "PriorityClass"]
    assert {body["metadata"]["name"] for body in classes} == {
        "llmkube-critical",
        "llmkube-normal",
        "llmkube-batch",
    }
    with pytest.raises(KubeError, match="llmkube-"):
        ready.apply(pods(found)[0], manager=MANAGER, dry_run=True)
    try:
        for body in classes:
            ready.apply(body, manager=MANAGER)
        eventually(lambda: all(_admitted(ready, body) for body in pods(found)))
    finally:
        for body in classes:
            ready.delete(body["apiVersion"], "PriorityClass", body["metadata"]["name"])


def _account_is_there(kube: Kube) -> bool:
    """Pods are refused until the namespace has its service account."""
    return any(a["metadata"]["name"] == "default" for a in kube.list("v1", "ServiceAccount", namespace=NAMESPACE))


def _admitted(kube: Kube, body: dict[str, Any]) -> bool:
    """Whether a pod gets its class's value; a class is known to admission a moment after it is made."""
    try:
        stored = kube.apply(body, manager=MANAGER, dry_run=True)
    except KubeError as error:
        if "PriorityClass" not in str(error):
            raise
        return False
    return bool(stored["spec"]["priority"] > 0)
