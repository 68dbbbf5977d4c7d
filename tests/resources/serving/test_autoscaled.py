"""Components of workloads that an autoscaler of another component scales: they leave the replicas to it."""

from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.resources.kthena import ModelServing
from components.resources.llmaz import Playground, Service
from components.resources.llmkube import InferenceService
from components.resources.serving.arguments import InvalidArguments
from tests.fleets import open_model, runner
from tests.recorded import Entry, Recorded, deploy
from tests.resources.serving.manifests import A10G, G6, weights

MODEL = open_model("opt", "facebook/opt-125m", [A10G])
ENGINE = {"name": "engine", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "a/b"]}
ROLE = {"name": "leader", "entry_template": {"spec": {"containers": [ENGINE]}}, "worker_replicas": 0}
COMPONENTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "Playground": (Playground, {"model": MODEL}),
    "Service": (Service, {"model": MODEL, "worker_template": {"spec": {"containers": [runner()]}}}),
    "InferenceService": (
        InferenceService,
        {"model": weights("tiny"), "namespace": "team", "skip_model_init": True, "node_selector": G6},
    ),
    "ModelServing": (ModelServing, {"template": {"roles": [ROLE]}}),
}
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "average_utilization": 50}},
}
SHORT = {"type": "Resource", "name": "cpu", "target_average_utilization": 50}
WORKLOADS = ("kubernetes:apps/v1:Deployment", "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")


def deployed(name: str, **args: Any) -> Recorded:
    component, given = COMPONENTS[name]

    def program() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        component("chat", {**given, **args}, pulumi.ResourceOptions(providers=[provider]))

    return deploy(program)


def registered(name: str, **args: Any) -> Entry:
    recorded = deployed(name, **args)
    (found,) = [entry for kind in WORKLOADS for entry in recorded.of(kind)]
    return found


def workload(name: str, **args: Any) -> dict[str, Any]:
    return dict(registered(name, **args).inputs)


@pytest.mark.parametrize("name", COMPONENTS)
def test_replicas_are_left_alone(name: str) -> None:
    scaled, own = workload(name, autoscaled=True), workload(name)
    # Without an autoscaler, updates take the replicas back from the one that there may have been.
    assert own["metadata"].pop("annotations")["pulumi.com/patchForce"] == "true"
    assert own["spec"].pop("replicas") == 1
    scaled["metadata"].pop("annotations", None)
    assert scaled == own


@pytest.mark.parametrize("name", COMPONENTS)
def test_updates_keep_replicas_that_an_autoscaler_sets(name: str) -> None:
    """Without this, adding an autoscaler would reset the replicas to the API server's default, 1."""
    assert registered(name, autoscaled=True).registration.ignore_changes == ("spec.replicas",)
    assert registered(name).registration.ignore_changes == ()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("Playground", {"min_replicas": 3, "max_replicas": 6, "metrics": [CPU]}),
        ("InferenceService", {"autoscaling": {"max_replicas": 3, "metrics": [SHORT]}, "resources": {"cpu": "1"}}),
    ],
)
def test_updates_keep_replicas_that_its_own_autoscaler_sets(name: str, args: dict[str, Any]) -> None:
    found = registered(name, **args)
    assert "replicas" not in found.inputs["spec"]
    assert found.registration.ignore_changes == ("spec.replicas",)


@pytest.mark.parametrize("name", COMPONENTS)
def test_without_it_nothing_changes(name: str) -> None:
    assert workload(name, autoscaled=False) == workload(name)


@pytest.mark.parametrize("name", COMPONENTS)
@pytest.mark.parametrize(
    ("args", "path", "expected"),
    [
        ({"autoscaled": "yes"}, "autoscaled", "must be true or false, found 'yes'"),
        ({"autoscaled": True, "replicas": 2}, "replicas", "has no effect with autoscaled"),
    ],
)
def test_what_contradicts_it_is_refused(name: str, args: dict[str, Any], path: str, expected: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        deployed(name, **args)
    found = {error["property_path"]: error["reason"] for error in caught.value.errors or []}
    assert found[path].startswith(expected)


def test_a_deployment_of_an_operator_that_sets_its_replicas_is_refused() -> None:
    with pytest.raises(InvalidArguments) as caught:
        deployed("InferenceService", autoscaled=True, realization="operator")
    assert "has no effect with realization 'operator'" in str(caught.value)


def test_the_resource_of_an_operator_that_its_autoscaler_sets_keeps_its_replicas() -> None:
    recorded = deployed("ModelServing", autoscaled=True, realization="operator")
    (found,) = recorded.of("kubernetes:workload.serving.volcano.sh/v1alpha1:ModelServing")
    assert found.registration.ignore_changes == ("spec.replicas",)
    assert "pulumi.com/patchForce" not in found.inputs["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("name", "args", "path"),
    [
        ("Playground", {"min_replicas": 1, "max_replicas": 3}, "max_replicas"),
        ("InferenceService", {"autoscaling": {"max_replicas": 3}}, "autoscaling"),
    ],
)
def test_an_autoscaler_of_its_own_is_refused(name: str, args: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        deployed(name, autoscaled=True, **args)
    assert path in {error["property_path"] for error in caught.value.errors or []}
