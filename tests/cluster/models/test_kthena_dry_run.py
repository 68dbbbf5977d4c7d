"""A real API server accepts whatever the samples and random documents of Kthena become, in a strict dry run.

Objects of the samples come with the pods of each LeaderWorkerSet, as its controller would make them
(``tests/group_pods.py``); so do those of random documents that somebody could mean.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import load, objects
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from components.resources.prerequisites.custom_resources import installable
from tests.cluster.models.release_definitions import examples
from tests.cluster.models.test_kthena_samples import SAMPLES
from tests.families.kthena.rendered import meant
from tests.fleet.test_on_cluster import established, eventually
from tests.fleets import errors
from tests.group_pods import pods_of, service_of
from toolkit.kube import APPLY, Kube, KubeError

Object = dict[str, Any]
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test-kthena-dry-run", "force": "true"}
MANAGER = "test-kthena-dry-run"
NAMESPACE = "kthena-dry-run"
EXAMPLES = examples(100)
THREADS = 8


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    """The definitions of all kinds that are rendered, and a namespace with its account."""
    definitions = [crd(kind) for kind in installable()]
    for body in definitions:
        kube.apply(body, manager=MANAGER)
    for body in definitions:
        eventually(lambda name=body["metadata"]["name"]: established(kube, name))
    kube.forget()
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager=MANAGER)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": NAMESPACE}}
    kube.apply(account, manager=MANAGER)
    yield kube
    kube.delete("v1", "Namespace", NAMESPACE)


def refused(kube: Kube, body: Object) -> str:
    """Apply an object in a dry run; return why the server refuses it, or nothing."""
    try:
        stored = kube.request("PATCH", kube.path_of(body), params=STRICT, body=body, content_type=APPLY)
    except KubeError as error:
        return f"{body['kind']} {body['metadata']['name']}: {error.message}"
    assert stored["metadata"]["name"] == body["metadata"]["name"]
    return ""


def refusals(kube: Kube, bodies: list[Object]) -> list[str]:
    with ThreadPoolExecutor(THREADS) as pool:
        return [found for found in pool.map(lambda body: refused(kube, body), bodies) if found]


@pytest.mark.parametrize("realization", list(Realization))
def test_the_samples(ready: Kube, realization: Realization) -> None:
    fleet = render_fleet(
        load(SAMPLES).resources, Options(namespace=NAMESPACE, realization=realization, tolerates_devices=True)
    )
    if realization.is_native:
        assert not errors(fleet)
    bodies = list(objects_of(fleet))
    kinds_made = {body["kind"] for body in bodies}
    native = {"LeaderWorkerSet", "Service", "Pod", "PodGroup", "HorizontalPodAutoscaler", "ModelServer", "ModelRoute"}
    # Most boosters and bindings are not left to the controllers, for what these get wrong.
    typed = {"Service", "ModelServing", "ModelServer", "ModelRoute", "AutoscalingPolicy"}
    assert kinds_made == native if realization.is_native else kinds_made >= typed, kinds_made
    assert refusals(ready, bodies) == []


def objects_of(fleet: Fleet) -> Iterator[Object]:
    """Everything that is made, and the pods of each LeaderWorkerSet."""
    for body in fleet.objects:
        yield body
        if body["kind"] == "LeaderWorkerSet":
            yield service_of(body)
            yield from pods_of(body)


@pytest.mark.parametrize("kind", ["ModelBooster", "ModelServing"])
def test_random_documents_and_their_pods(ready: Kube, kind: str) -> None:
    every = (render_fleet(objects([whole]).resources, Options()) for whole in meant.every(kind, NAMESPACE, EXAMPLES))
    fleets = [fleet for fleet in every if not errors(fleet)]
    assert len(fleets) >= 0.6 * EXAMPLES
    bodies = [body for fleet in fleets for body in objects_of(fleet)]
    expected = {"LeaderWorkerSet", "Service", "Pod"}
    expected |= {"HorizontalPodAutoscaler"} if kind == "ModelBooster" else {"PodGroup"}
    assert {body["kind"] for body in bodies} == expected
    assert refusals(ready, bodies) == []


@pytest.mark.parametrize("change", [{"minMember": -(2**40)}, {"minMember": "2"}, {"unknown": 1}])
def test_what_is_wrong_is_refused_so(ready: Kube, change: Object) -> None:
    """Else the tests above would pass whatever is made."""
    fleet = render_fleet(load(SAMPLES).resources, Options(namespace=NAMESPACE))
    (gang,) = [body for body in fleet.objects if body["kind"] == "PodGroup"]
    assert refused(ready, gang) == ""
    assert next(iter(change)) in refused(ready, {**gang, "spec": {**gang["spec"], **change}})
