"""Nodes made from the node groups of an environment, and the real scheduler: what is planned is what happens."""

import copy
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.clouds.aws.nodes.checks import check_nodes
from components.clouds.aws.nodes.plan import NodeEnvironment, NodeGroupPlan, node_plan
from components.families import load
from components.fleet.instances import Instance
from components.fleet.nodes.groups import offered_by
from components.fleet.nodes.policy import TypePolicy
from components.fleet.objects import Object
from components.fleet.rendered import Fleet
from components.plan.rendering import render_fleet
from stacks.settings import declared_defaults, parse
from tests.stacks.shipped import MOMENT, ROOT, settings_of
from toolkit.kube import Kube

NAMESPACE = "groups"
MANAGER = "test-node-groups"
PATIENCE = 90.0
EFFECTS = {"NO_SCHEDULE": "NoSchedule"}


@pytest.fixture
def space(kube: Kube) -> Iterator[Kube]:
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager=MANAGER)
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "model-loader", "namespace": NAMESPACE},
    }
    kube.apply(account, manager=MANAGER)
    yield kube
    for pod in kube.list("v1", "Pod", namespace=NAMESPACE):
        kube.delete("v1", "Pod", pod["metadata"]["name"], NAMESPACE)
    eventually(lambda: not kube.list("v1", "Pod", namespace=NAMESPACE), "no pods left")
    for node in kube.list("v1", "Node"):
        if node["metadata"]["name"].startswith("groups-"):
            kube.delete("v1", "Node", node["metadata"]["name"])


def eventually(condition: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def environment_of(stack: str, **types: TypePolicy) -> tuple[Fleet, NodeEnvironment]:
    """The models of a shipped environment, with its settings, in a namespace of this test's own."""
    values = {**declared_defaults(ROOT / "Pulumi.yaml"), **settings_of(stack), "namespace": NAMESPACE}
    text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    settings = parse(text, f"Pulumi.{stack}.yaml")
    found = load(ROOT / path for path in settings.models)
    fleet = render_fleet(found.resources, settings.options())
    assert settings.cloud_environment
    assert settings.cloud_environment.nodes
    where = replace(settings.cloud_environment.nodes, now=MOMENT)
    rules = {**where.nodes.types, **{name.replace("_", "."): rule for name, rule in types.items()}}
    return fleet, replace(where, nodes=replace(where.nodes, types=rules))


def node_object(group: NodeGroupPlan, index: int) -> Object:
    """A node as the group's instances would join: labels of EC2, kubelet and EKS beside the group's own."""
    facts: Instance = group.node
    offered = offered_by(facts.name, efa=bool(group.interfaces))
    amounts = {
        key: str(int(amount * 1000)) + "m" if key == "cpu" else str(int(amount)) for key, amount in offered.items()
    }
    name = f"groups-{group.name}-{index}"
    labels = {
        "node.kubernetes.io/instance-type": facts.name,
        "kubernetes.io/arch": facts.arch,
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": group.zones[index % len(group.zones)],
        "eks.amazonaws.com/capacityType": group.capacity_type,
        **group.labels,
    }
    taints = [{**taint, "effect": EFFECTS[taint["effect"]]} for taint in group.taints]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": {"taints": taints},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def make_nodes(kube: Kube, groups: tuple[NodeGroupPlan, ...]) -> None:
    wanted = [node_object(group, index) for group in groups for index in range(group.maximum)]
    for node in wanted:
        kube.apply(node, manager=MANAGER)
    names = {node["metadata"]["name"] for node in wanted}
    eventually(lambda: names <= {n["metadata"]["name"] for n in kube.list("v1", "Node") if usable(n)}, "nodes ready")


def usable(node: dict[str, Any]) -> bool:
    conditions = {c["type"]: c["status"] for c in node["status"].get("conditions") or []}
    keys = [taint["key"] for taint in node["spec"].get("taints") or []]
    return conditions.get("Ready") == "True" and not any(key.startswith("node.kubernetes.io/") for key in keys)


def pods_of(fleet: Fleet, *, largest: bool) -> list[Object]:
    """Every pod of every workload, as its controller would make it from the rendered template."""
    made = []
    for item, workload in fleet.workloads:
        counts = [demand.most if largest else demand.pods for demand in workload.pods]
        for part, (template, count) in enumerate(zip(templates(workload.body), counts, strict=True)):
            made += [pod(item.name, f"{workload.name}-{part}-{index}", template) for index in range(count)]
    return made


def templates(workload: Object) -> list[Object]:
    if workload["kind"] == "Deployment":
        return [workload["spec"]["template"]]
    both = workload["spec"]["leaderWorkerTemplate"]
    return [both[key] for key in ("leaderTemplate", "workerTemplate") if key in both]


def pod(model: str, name: str, template: Object) -> Object:
    spec = copy.deepcopy(template["spec"])
    spec["automountServiceAccountToken"] = False
    # Whether nodes are enough is asked here, not who goes first and what is mounted.
    spec.pop("priorityClassName", None)
    # No Volcano runs here; gangs are what it adds.
    spec.pop("schedulerName", None)
    for volume in spec.get("volumes", ()):
        if volume.pop("persistentVolumeClaim", None):
            volume["emptyDir"] = {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"model": model}},
        "spec": spec,
    }


def place(kube: Kube, pods: list[Object]) -> set[str]:
    """Create the pods in order; return the models of those that the scheduler finds no node for."""
    for each in pods:
        kube.apply(each, manager=MANAGER)
    eventually(lambda: all(decided(p) for p in kube.list("v1", "Pod", namespace=NAMESPACE)), "all pods looked at")
    found = kube.list("v1", "Pod", namespace=NAMESPACE)
    assert len(found) == len(pods)
    return {p["metadata"]["labels"]["model"] for p in found if not p["spec"].get("nodeName")}


def decided(pod: dict[str, Any]) -> bool:
    if pod["spec"].get("nodeName"):
        return True
    conditions = {c["type"]: c for c in pod.get("status", {}).get("conditions") or []}
    reason: str = conditions.get("PodScheduled", {}).get("reason", "")
    return reason == "Unschedulable"


def predicted(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], where: NodeEnvironment, severity: str) -> set[str]:
    found = check_nodes(fleet, groups, where)
    return {p.name for p in found if p.severity == severity and "will stay Pending" in p.reason}


@pytest.mark.parametrize(("stack", "largest"), [("prod", False), ("prod", True), ("dev", True)])
def test_every_pod_finds_a_node(space: Kube, stack: str, largest: bool) -> None:
    """All of stacks/models is in prod; largest is with everything that autoscalers and updates may add."""
    fleet, where = environment_of(stack)
    groups = node_plan(fleet, where)
    assert predicted(fleet, groups, where, "error") == set()
    make_nodes(space, groups)
    assert place(space, pods_of(fleet, largest=largest)) == set()


def test_prod_has_every_model() -> None:
    fleet, _ = environment_of("prod")
    served = [item for item in fleet.rendered if item.endpoints]
    assert len(served) == len(list((ROOT / "stacks" / "models").glob("*.yaml")))


def test_with_one_node_less_the_preview_names_the_model_that_waits(space: Kube) -> None:
    """405B needs two p5; with one its second pod stays Pending, and nothing else does."""
    _, where = environment_of("prod")
    rule = replace(where.nodes.types["p5.48xlarge"], max_nodes=1)
    fleet, where = environment_of("prod", p5_48xlarge=rule)
    groups = node_plan(fleet, where)
    assert {group.maximum for group in groups if group.node.name == "p5.48xlarge"} == {1}
    assert predicted(fleet, groups, where, "error") == {"llama-405b"}
    make_nodes(space, groups)
    assert place(space, pods_of(fleet, largest=False)) == {"llama-405b"}


def test_of_two_models_on_one_type_the_one_is_named_that_comes_last(space: Kube, tmp_path: Path) -> None:
    fleet, where = environment_of("prod", g5_2xlarge=TypePolicy(max_nodes=1))
    fleet = replace(fleet, rendered=tuple(i for i in fleet.rendered if i.name in ("qwen-chat", "mistral-tgi")))
    groups = node_plan(fleet, where)
    waiting = predicted(fleet, groups, where, "error")
    assert len(waiting) == 1
    make_nodes(space, groups)
    assert place(space, pods_of(fleet, largest=False)) == waiting


def test_at_its_largest_a_model_may_wait_and_that_is_a_warning(space: Kube) -> None:
    """gemma-elastic grows to three pods on nodes of one GPU."""
    fleet, where = environment_of("prod", g6e_2xlarge=TypePolicy(max_nodes=2))
    fleet = replace(fleet, rendered=tuple(i for i in fleet.rendered if i.name == "gemma-elastic"))
    groups = node_plan(fleet, where)
    assert predicted(fleet, groups, where, "error") == set()
    assert predicted(fleet, groups, where, "warning") == {"gemma-elastic"}
    make_nodes(space, groups)
    assert place(space, pods_of(fleet, largest=False)) == set()
    more = pods_of(fleet, largest=True)
    assert place(space, more) == {"gemma-elastic"}
