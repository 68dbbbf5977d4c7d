"""The LLMKube samples on the simulated cluster: real controllers make their pods, and real claims and autoscalers."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.families import load
from components.families.llmkube.facts import llmkube
from components.fleet.demand import INSTANCE_TYPE_LABEL
from components.fleet.nodes.groups import node_groups
from components.fleet.options import Options
from components.fleet.rendered import Fleet, Rendered
from components.plan.rendering import render_fleet
from tests.cluster.models.test_node_groups import decided
from tests.fleet.test_on_cluster import add_node, eventually, usable
from tests.fleets import endpoint_of, errors, workload_of
from tests.stacks.shipped import ROOT
from toolkit.kube import Kube

SAMPLES = sorted((ROOT / "stacks" / "models").glob("llmkube-*.yaml"))
NAMESPACE = "llmkube-samples"
MANAGER = "test-llmkube-samples"
PREFIX = "llmkube-samples-"
Object = dict[str, Any]


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    found = render_fleet(load(SAMPLES).resources, Options(namespace=NAMESPACE))
    assert not errors(found)
    return found


@pytest.fixture(scope="module")
def ready(kube: Kube, fleet: Fleet) -> Iterator[Kube]:
    """A namespace for the samples. Other tests count nodes and pods on the same control plane: nothing is left."""
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager=MANAGER)
    yield kube
    for body in of_kind(fleet, "Deployment"):
        kube.delete("apps/v1", "Deployment", body["metadata"]["name"], NAMESPACE)
    eventually(lambda: not kube.list("v1", "Pod", namespace=NAMESPACE))
    for body in of_kind(fleet, "PriorityClass"):
        kube.delete(body["apiVersion"], "PriorityClass", body["metadata"]["name"])
    kube.delete("v1", "Namespace", NAMESPACE)
    for name in node_names(kube):
        kube.delete("v1", "Node", name)


def of_kind(fleet: Fleet, kind: str) -> list[Object]:
    return [body for item in fleet.rendered for body in item.objects if body["kind"] == kind]


def services(fleet: Fleet) -> list[Rendered]:
    return [item for item in fleet.rendered if item.kind == "InferenceService"]


def node_names(kube: Kube) -> list[str]:
    return [n["metadata"]["name"] for n in kube.list("v1", "Node") if n["metadata"]["name"].startswith(PREFIX)]


def make_nodes(kube: Kube, fleet: Fleet) -> None:
    """The nodes of each group that pods at rest need."""
    for number, group in enumerate(node_groups(fleet)):
        for index in range(group.nodes):
            add_node(kube, group, f"{PREFIX}{number}-{index}")
    names = set(node_names(kube))
    eventually(lambda: names <= {n["metadata"]["name"] for n in kube.list("v1", "Node") if usable(n)})


def conditions(body: Object) -> dict[str, str]:
    return {c["type"]: c["status"] for c in body.get("status", {}).get("conditions") or []}


def is_served(kube: Kube, item: Rendered) -> bool:
    """Whether a Deployment is available with all of its replicas, and no older pods are left."""
    found = kube.get("apps/v1", "Deployment", workload_of(item).name, NAMESPACE)
    counts = [found["status"].get(key) for key in ("replicas", "updatedReplicas", "availableReplicas")]
    return conditions(found).get("Available") == "True" and counts == [workload_of(item).replicas] * 3


def test_every_sample_is_a_service(fleet: Fleet) -> None:
    assert SAMPLES
    assert len(services(fleet)) == len(SAMPLES)


@pytest.fixture(scope="module")
def running(ready: Kube, fleet: Fleet) -> Kube:
    """The samples as they run once their nodes have come; before that, every pod has to wait."""
    for kind in ("PriorityClass", "PersistentVolumeClaim", "Service", "HorizontalPodAutoscaler", "Deployment"):
        for body in of_kind(fleet, kind):
            ready.apply(body, manager=MANAGER)
    wanted = sum(workload_of(item).replicas for item in services(fleet))

    def all_wait() -> bool:
        pods = ready.list("v1", "Pod", namespace=NAMESPACE)
        return len(pods) == wanted and all(decided(pod) for pod in pods)

    eventually(all_wait)
    assert not any(pod["spec"].get("nodeName") for pod in ready.list("v1", "Pod", namespace=NAMESPACE))
    make_nodes(ready, fleet)
    for item in services(fleet):
        eventually(lambda item=item: is_served(ready, item))
    return ready


def test_every_deployment_is_available_with_its_replicas(running: Kube, fleet: Fleet) -> None:
    for item in services(fleet):
        assert is_served(running, item), item.name
        (body,) = (body for body in item.objects if body["kind"] == "Deployment")
        assert body["spec"].get("replicas", 1) == workload_of(item).replicas


def test_pods_are_on_the_instance_type_of_their_service(running: Kube, fleet: Fleet) -> None:
    types = {n["metadata"]["name"]: n["metadata"]["labels"][INSTANCE_TYPE_LABEL] for n in running.list("v1", "Node")}
    pods = running.list("v1", "Pod", namespace=NAMESPACE)
    for item in services(fleet):
        own = [p for p in pods if p["metadata"]["labels"]["app"] == workload_of(item).name]
        assert len(own) == workload_of(item).replicas
        (choice,) = item.pods[0].choices
        assert {types[p["spec"]["nodeName"]] for p in own} == {choice.instance_type}


def test_pods_have_the_priority_of_their_class(running: Kube, fleet: Fleet) -> None:
    values = {f"llmkube-{name}": facts.value for name, facts in llmkube().priorities.items()}
    pods = running.list("v1", "Pod", namespace=NAMESPACE)
    assert {p["spec"]["priorityClassName"] for p in pods} == {"llmkube-normal", "llmkube-high"}
    assert all(p["spec"]["priority"] == values[p["spec"]["priorityClassName"]] for p in pods)


def test_the_cache_claim_is_bound(running: Kube, fleet: Fleet) -> None:
    (claim,) = of_kind(fleet, "PersistentVolumeClaim")
    name = claim["metadata"]["name"]
    eventually(lambda: running.get("v1", "PersistentVolumeClaim", name, NAMESPACE)["status"]["phase"] == "Bound")
    users = [
        p
        for p in running.list("v1", "Pod", namespace=NAMESPACE)
        for v in p["spec"].get("volumes", ())
        if v.get("persistentVolumeClaim", {}).get("claimName") == name
    ]
    assert {p["metadata"]["labels"]["app"] for p in users} == {"tinyllama-cpu"}


def test_services_lead_to_their_pods(running: Kube, fleet: Fleet) -> None:
    """The control plane's own EndpointSlices name the addresses of all pods, and the port of the container."""
    for item in services(fleet):
        labels = f"kubernetes.io/service-name={endpoint_of(item).service}"
        (deployment,) = (body for body in item.objects if body["kind"] == "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        wanted = {port["containerPort"] for port in container["ports"]}, workload_of(item).replicas
        eventually(lambda labels=labels, wanted=wanted: led_to(running, labels) == wanted)


def led_to(kube: Kube, labels: str, namespace: str = NAMESPACE) -> tuple[set[int], int]:
    """The ports of a Service's slices, and how many addresses are in them."""
    slices = kube.list("discovery.k8s.io/v1", "EndpointSlice", namespace, labels=labels)
    ends = [end for each in slices for end in each["endpoints"] or ()]
    return {p["port"] for each in slices for p in each["ports"] or ()}, sum(len(end["addresses"]) for end in ends)


def test_the_autoscaler_finds_its_deployment(running: Kube, fleet: Fleet) -> None:
    (hpa,) = of_kind(fleet, "HorizontalPodAutoscaler")
    name = hpa["metadata"]["name"]
    assert name == "phi4-autoscaled"

    def stored() -> Object:
        return running.get("autoscaling/v2", "HorizontalPodAutoscaler", name, NAMESPACE)

    eventually(lambda: conditions(stored()).get("AbleToScale") == "True")
    assert stored()["spec"]["scaleTargetRef"]["name"] == name
    assert stored()["status"]["currentReplicas"] == hpa["spec"]["minReplicas"]
