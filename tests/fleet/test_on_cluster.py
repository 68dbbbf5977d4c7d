"""A real API server accepts what is rendered, and a real scheduler puts pods where placement says."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import kinds, load
from components.fleet.nodes.groups import NodeGroupDemand, allocatable, node_groups
from components.fleet.options import ModelCache, Options
from components.fleet.rendered import Fleet
from components.fleet.words import Edition, WorkloadChoice
from components.plan.rendering import render_fleet
from tests.fleets import SAMPLES, errors, fleet_of, open_model, playground
from toolkit.kube import Kube, KubeError

MANAGER = "test-render"
PATIENCE = 60.0


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    """The control plane with our CRD of LeaderWorkerSets and a namespace."""
    definition = crd(kinds().by_name("LeaderWorkerSet"))
    kube.apply(definition, manager=MANAGER)
    name = definition["metadata"]["name"]
    eventually(lambda: established(kube, name))
    kube.forget()
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "render"}}, manager=MANAGER)
    yield kube
    # Other tests count nodes and pods on the same control plane.
    kube.delete("v1", "Namespace", "render")
    for node in kube.list("v1", "Node"):
        if node["metadata"]["name"].startswith("render-"):
            kube.delete("v1", "Node", node["metadata"]["name"])


def eventually(condition: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.1)


def established(kube: Kube, name: str) -> bool:
    found = kube.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    return any(
        c["type"] == "Established" and c["status"] == "True"
        for c in (found.get("status") or {}).get("conditions") or []
    )


@pytest.mark.parametrize("sample", sorted(path.stem for path in SAMPLES.glob("*.yaml")))
@pytest.mark.parametrize(
    "options",
    [{}, {"workload": WorkloadChoice.LWS}, {"runtimes": Edition.CURRENT, "cache": ModelCache(claim="weights")}],
)
def test_the_api_server_accepts_every_sample(ready: Kube, sample: str, options: dict[str, Any]) -> None:
    fleet = render_fleet(load([SAMPLES / f"{sample}.yaml"]).resources, Options(namespace="render", **options))
    assert not errors(fleet)
    for body in (body for item in fleet.rendered for body in item.objects):
        stored = ready.apply(body, manager=MANAGER, dry_run=True)
        assert stored["metadata"]["name"] == body["metadata"]["name"]


def two_flavors(name: str) -> Fleet:
    """Four pods of one GPU; g6 is preferred to g5."""
    flavors = [
        {"name": kind, "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": kind}}
        for kind in ("g6.2xlarge", "g5.2xlarge")
    ]
    return fleet_of(open_model(name, flavors=flavors), playground(name, name, replicas=2), namespace="render")


def add_node(kube: Kube, group: NodeGroupDemand, name: str) -> None:
    """A node as kwok plays it: ready, with what the instance type offers."""
    from components.fleet.instances import instance

    facts = instance(group.instance_type)
    assert facts is not None
    offered = {key: str(int(amount)) for key, amount in allocatable(facts).items()}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": dict(group.labels),
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {"taints": [dict(taint) for taint in group.taints]},
        "status": {"capacity": offered, "allocatable": offered},
    }
    kube.apply(node, manager=MANAGER)


def test_pods_take_the_preferred_nodes_first_and_the_others_when_they_are_full(ready: Kube) -> None:
    fleet = two_flavors("ordered")
    groups = {group.instance_type: group for group in node_groups(fleet)}
    assert (groups["g6.2xlarge"].nodes, groups["g5.2xlarge"].nodes) == (2, 0)
    for name, kind in (("render-g6-0", "g6.2xlarge"), ("render-g5-0", "g5.2xlarge"), ("render-g5-1", "g5.2xlarge")):
        add_node(ready, groups[kind], name)
    eventually(lambda: accounts_are_there(ready))
    eventually(
        lambda: all(
            usable(node) for node in ready.list("v1", "Node") if node["metadata"]["name"].startswith("render-")
        )
    )
    deployment = next(body for body in fleet.rendered[0].objects if body["kind"] == "Deployment")
    one = {**deployment, "spec": {**deployment["spec"], "replicas": 1}}
    ready.apply(one, manager=MANAGER)
    eventually(lambda: placed(ready) == ["render-g6-0"])
    ready.apply(deployment, manager=MANAGER)
    eventually(lambda: len(placed(ready)) == 2)
    first, second = placed(ready)
    assert first.startswith("render-g5-")
    assert second == "render-g6-0"


def usable(node: dict[str, Any]) -> bool:
    """Whether the node is ready and the controllers' own taints are gone; else a pod may pass it by."""
    conditions = {c["type"]: c["status"] for c in node["status"].get("conditions") or []}
    keys = [taint["key"] for taint in node["spec"].get("taints") or []]
    return conditions.get("Ready") == "True" and not any(key.startswith("node.kubernetes.io/") for key in keys)


def accounts_are_there(kube: Kube) -> bool:
    """Pods are refused until the namespace has its service account."""
    try:
        kube.get("v1", "ServiceAccount", "default", "render")
    except KubeError:
        return False
    return True


def placed(kube: Kube) -> list[str]:
    pods = kube.list("v1", "Pod", namespace="render")
    return sorted(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))
