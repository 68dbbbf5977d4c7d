"""The Kthena samples on the simulated cluster: the real scheduler finds nodes for the pods of each role.

No controller of LeaderWorkerSets and no Volcano run here. What the first one makes is made by the stand-in in
``tests/group_pods.py``; pods that ask for Volcano are given to the default scheduler, a whole gang at once.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import load
from components.fleet.demand import INSTANCE_TYPE_LABEL
from components.fleet.nodes.groups import node_groups
from components.fleet.objects import key_of
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.plan.rendering import render_fleet
from components.resources.prerequisites.custom_resources import installable
from components.resources.serving.simulated_nodes import node_object
from tests.cluster.models.test_llmkube_samples import conditions, led_to
from tests.cluster.models.test_node_groups import decided
from tests.fleet.test_on_cluster import established, eventually, usable
from tests.fleets import errors
from tests.group_pods import API, pods_of, service_of
from tests.kubelet import environment
from tests.stacks.shipped import ROOT
from toolkit.kube import Kube

SAMPLES = sorted((ROOT / "stacks" / "models").glob("kthena-*.yaml"))
NAMESPACE = "kthena-samples"
MANAGER = "test-kthena-samples"
PREFIX = "kthena-samples-"
SERVING = "modelserving.volcano.sh"
GANG = "scheduling.k8s.io/group-name"
Object = dict[str, Any]

WHERE = {
    ("llama-pd-a100", "prefill"): {"p4d.24xlarge": 1},
    ("llama-pd-a100", "decode"): {"p4de.24xlarge": 1},
    ("llama2-7b-l4", "leader"): {"g6.2xlarge": 1},
    ("mistral-nemo", "leader"): {"g6e.2xlarge": 1},
    ("phi4-l40s", "leader"): {"g6e.2xlarge": 1},
    ("qwen2-5-72b-two-nodes", "leader"): {"g6e.12xlarge": 2},
    ("qwen2-5-7b-a10g", "leader"): {"g5.2xlarge": 1},
    ("qwen2-5-7b-l40s", "leader"): {"g6e.2xlarge": 1},
    ("qwen3-14b-l4", "leader"): {"g6.12xlarge": 1},
    ("qwen3-8b-l40s", "leader"): {"g6e.2xlarge": 2},
    ("qwen3-pd", "decode"): {"g6e.8xlarge": 2},
    ("qwen3-pd", "prefill"): {"g6e.8xlarge": 1},
    ("qwen3-pd", "router"): {"m7i.2xlarge": 1},
}
"""Nodes of the pods of each role at rest, as the manifests say: ModelServing, role, instance type."""


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    found = render_fleet(load(SAMPLES).resources, Options(namespace=NAMESPACE))
    assert not errors(found)
    return found


@pytest.fixture(scope="module")
def ready(kube: Kube, fleet: Fleet) -> Iterator[Kube]:
    """A namespace for the samples. Other tests count nodes and pods on the same control plane: nothing is left."""
    for value in definitions(fleet):
        kube.apply(value, manager=MANAGER)
        eventually(lambda name=value["metadata"]["name"]: established(kube, name))
    kube.forget()
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager=MANAGER)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": NAMESPACE}}
    kube.apply(account, manager=MANAGER)
    yield kube
    kube.delete("v1", "Namespace", NAMESPACE)
    for name in node_names(kube):
        kube.delete("v1", "Node", name)


def definitions(fleet: Fleet) -> list[Object]:
    """Of every kind that the samples become, what their charts bring."""
    used = {(body["apiVersion"], body["kind"]) for body in fleet.objects}
    return [crd(kind) for kind in installable() if (kind.api_version, kind.kind) in used]


def node_names(kube: Kube) -> list[str]:
    return [n["metadata"]["name"] for n in kube.list("v1", "Node") if n["metadata"]["name"].startswith(PREFIX)]


def make_nodes(kube: Kube, fleet: Fleet) -> None:
    """The nodes of each group that pods at rest need."""
    for group in node_groups(fleet):
        for index in range(group.nodes):
            kube.apply(node_object(replace(group, name=f"{PREFIX}{group.name}"), index), manager=MANAGER)
    names = set(node_names(kube))
    eventually(lambda: names <= {n["metadata"]["name"] for n in kube.list("v1", "Node") if usable(n)})


def play(kube: Kube, namespace: str) -> list[Object]:
    """Be the controller of LeaderWorkerSets, and Volcano: return the pods as they were asked for."""
    asked: list[Object] = []
    for stored in kube.list(API, "LeaderWorkerSet", namespace=namespace):
        kube.apply(service_of(stored), manager=MANAGER)
        asked += pods_of(stored)
    for pod in asked:
        given = {key: value for key, value in pod["spec"].items() if key != "schedulerName"}
        kube.apply({**pod, "spec": given}, manager=MANAGER)
    return asked


class Running:
    """The samples as they run."""

    def __init__(self, kube: Kube, asked: list[Object]) -> None:
        self.kube = kube
        self.asked = asked

    @property
    def pods(self) -> list[Object]:
        return self.kube.list("v1", "Pod", namespace=NAMESPACE)


@pytest.fixture(scope="module")
def running(ready: Kube, fleet: Fleet) -> Running:
    """The samples once their nodes have come; before that, every pod has to wait."""
    for body in fleet.objects:
        ready.apply(body, manager=MANAGER)
    found = Running(ready, play(ready, NAMESPACE))
    eventually(lambda: len(found.pods) == len(found.asked) and all(decided(pod) for pod in found.pods))
    assert not any(pod["spec"].get("nodeName") for pod in found.pods)
    make_nodes(ready, fleet)
    eventually(lambda: all(conditions(pod).get("Ready") == "True" for pod in found.pods))
    return found


def role_of(pod: Object) -> tuple[str, str]:
    labels = pod["metadata"]["labels"]
    return labels[f"{SERVING}/name"], labels[f"{SERVING}/role"]


def test_the_pods_of_each_role_are_on_their_instance_type(running: Running) -> None:
    nodes = running.kube.list("v1", "Node")
    types = {node["metadata"]["name"]: node["metadata"]["labels"][INSTANCE_TYPE_LABEL] for node in nodes}
    found: dict[tuple[str, str], Counter[str]] = {}
    for pod in running.pods:
        found.setdefault(role_of(pod), Counter())[types[pod["spec"]["nodeName"]]] += 1
    assert found == WHERE


def test_a_gang_is_one_group_for_volcano(running: Running) -> None:
    """Name, annotations and counts as Volcano reads them (Kthena spec 3.3)."""
    gangs = {g["metadata"]["name"]: g["spec"] for g in running.kube.list("scheduling.volcano.sh/v1beta1", "PodGroup")}
    members = [pod for pod in running.asked if GANG in pod["metadata"].get("annotations", {})]
    assert all(pod["spec"]["schedulerName"] == "volcano" for pod in members)
    by_gang = Counter(pod["metadata"]["annotations"][GANG] for pod in members)
    assert {"qwen3-pd-0": 4}.items() <= by_gang.items()
    assert {name: spec["minMember"] for name, spec in gangs.items()} == by_gang
    tasks = Counter(pod["metadata"]["annotations"]["volcano.sh/task-spec"] for pod in members)
    assert {task: tasks[task] for task in gangs["qwen3-pd-0"]["minTaskMember"]} == {
        "router-0": 1,
        "prefill-0": 1,
        "decode-0": 1,
        "decode-1": 1,
    }


def test_pods_that_ask_for_no_gang_are_scheduled_as_usual(running: Running) -> None:
    """Volcano is no part of what the others need."""
    usual = [pod for pod in running.asked if GANG not in pod["metadata"].get("annotations", {})]
    assert len(usual) > 0
    assert all(pod["spec"].get("schedulerName", "default-scheduler") == "default-scheduler" for pod in usual)


def test_every_pod_of_a_group_finds_its_entry(running: Running) -> None:
    """``ENTRY_ADDRESS`` is a name that one of the Services gives to the entry pod of the same group."""
    by_name = {pod["metadata"]["name"]: pod for pod in running.asked}
    services = {s["metadata"]["name"]: s["spec"] for s in running.kube.list("v1", "Service", namespace=NAMESPACE)}
    for pod in running.asked:
        variables = environment(pod["spec"]["containers"][0], {})
        *host, service, namespace = variables["ENTRY_ADDRESS"].split(".")
        entry = by_name[host[0] if host else service]
        assert namespace == NAMESPACE
        assert services[service]["clusterIP"] == "None"
        assert services[service]["selector"].items() <= entry["metadata"]["labels"].items()
        assert role_of(entry) == role_of(pod)
        assert entry["metadata"]["labels"][f"{SERVING}/entry"] == "true"
        assert variables["GROUP_SIZE"] == ("2" if role_of(pod)[0] == "qwen2-5-72b-two-nodes" else "1")


def test_services_lead_to_the_entry_pods_alone(running: Running, fleet: Fleet) -> None:
    """The control plane's own EndpointSlices name the addresses of the pods that take requests, and their port."""
    entries = Counter(role_of(pod) for pod in running.asked if f"{SERVING}/entry" in pod["metadata"]["labels"])
    for _, endpoint in fleet.endpoints:
        for backend in endpoint.backends:
            if backend.namespace != NAMESPACE:
                continue
            (body,) = (b for b in fleet.objects if key_of(b) == ("Service", NAMESPACE, backend.service))
            selector = body["spec"]["selector"]
            wanted = {backend.port}, entries[selector[f"{SERVING}/name"], selector[f"{SERVING}/role"]]
            labels = f"kubernetes.io/service-name={backend.service}"
            eventually(lambda labels=labels, wanted=wanted: led_to(running.kube, labels, NAMESPACE) == wanted)


def test_autoscalers_find_their_groups(running: Running, fleet: Fleet) -> None:
    """Replicas are set through the scale subresource of the LeaderWorkerSet."""
    scalers = {body["metadata"]["name"]: body for body in fleet.objects if body["kind"] == "HorizontalPodAutoscaler"}
    aims = {body["spec"]["scaleTargetRef"]["name"]: body["spec"]["maxReplicas"] for body in scalers.values()}
    assert aims == {"phi4-l40s": 3, "qwen2-5-7b-l40s": 2, "qwen2-5-7b-a10g": 4, "mistral-nemo": 3}
    for name in scalers:
        eventually(lambda name=name: able(running.kube, name))


def able(kube: Kube, name: str) -> bool:
    stored = kube.get("autoscaling/v2", "HorizontalPodAutoscaler", name, NAMESPACE)
    return conditions(stored).get("AbleToScale") == "True"


def test_pods_go_with_their_groups(running: Running) -> None:
    """Last, as it ends what the others look at."""
    for stored in running.kube.list(API, "LeaderWorkerSet", namespace=NAMESPACE):
        running.kube.delete(API, "LeaderWorkerSet", stored["metadata"]["name"], NAMESPACE)
    eventually(lambda: not running.pods)
