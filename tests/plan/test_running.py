"""Plans of what runs without a manifest: workloads, their autoscalers, and the nodes that they run on."""

from decimal import Decimal

import pytest

from components.contract.load import Manifests
from components.contract.problems import Problem
from components.families import objects
from components.fleet.demand import NodeChoice
from components.fleet.objects import Object
from components.fleet.rendered import Rendered
from components.plan.plan import plan
from components.plan.running import RunningFleet
from components.plan.running_objects import malformed, running_workload
from components.plan.scalers import scaler_item
from tests.inspecting.objects import an_object, container, deployment, group, hpa, service

NODE = NodeChoice("node", "g5.2xlarge")


def of(*bodies: Object, nodes: bool = True) -> RunningFleet:
    items: list[Rendered] = []
    problems: list[Problem] = []
    for body in bodies:
        read = scaler_item if body["kind"] == "HorizontalPodAutoscaler" else running_workload
        item, wrong = read(body, "cluster")
        problems += wrong
        items += [item] if item else []
    keys = {(item.kind, item.namespace, item.name): (NODE,) for item in items} if nodes else {}
    return RunningFleet(tuple(items), tuple(problems), keys)


def test_a_deployment_is_a_workload_of_the_plan() -> None:
    planned = plan(Manifests(), running=of(deployment("a", replicas=3)))
    ((item, workload),) = planned.fleet.workloads
    assert (item.title, item.namespace, workload.replicas, workload.model) == (
        "Deployment/a",
        "models",
        3,
        "Qwen/Qwen2.5-7B-Instruct",
    )
    (demand,) = workload.pods
    assert (demand.pods, demand.requests["nvidia.com/gpu"], demand.choices) == (3, Decimal(1), (NODE,))
    assert [verdict.verdict.fit for verdict in planned.verdicts] == ["fits"]
    assert planned.problems == ()


def test_an_instance_type_of_the_manifest_is_kept() -> None:
    body = deployment("a")
    body["spec"]["template"]["spec"]["nodeSelector"] = {"node.kubernetes.io/instance-type": "g6e.2xlarge"}
    ((_, workload),) = plan(Manifests(), running=of(body)).fleet.workloads
    assert [choice.instance_type for choice in workload.pods[0].choices] == ["g6e.2xlarge"]


def test_pods_that_run_nowhere_yet_have_the_nodes_that_could_run_them() -> None:
    running = of(deployment("a"), nodes=False)
    asked: list[Object] = []

    def could_run(pod: Object) -> tuple[NodeChoice, ...]:
        asked.append(pod)
        return (NODE,)

    planned = plan(Manifests(), running=RunningFleet(running.items, could_run=could_run))
    assert [verdict.instance_type for verdict in planned.verdicts] == ["g5.2xlarge"]
    assert [pod["containers"][0]["name"] for pod in asked] == ["server"]


def test_an_autoscaler_owns_the_replicas_of_what_runs_and_of_manifests() -> None:
    body, sets = deployment("a"), group("b", size=1)
    planned = plan(objects([sets]), running=of(body, hpa(body), hpa(sets)))
    assert {workload.name: (workload.replicas, workload.most) for _, workload in planned.fleet.workloads} == {
        "a": (1, 4),
        "b": (1, 4),
    }


def test_two_kinds_of_one_name_are_accepted() -> None:
    """The API server has both; only manifests that would create the same objects are refused."""
    planned = plan(Manifests(), running=of(deployment("a"), deployment("a", kind="StatefulSet", serviceName="a")))
    assert planned.problems == ()
    assert len([*planned.fleet.workloads]) == 2


def test_a_plan_without_anything_that_runs_is_unchanged() -> None:
    manifests = objects([group("a", container(args=["--model", "a/b", "--wrong"]))])
    assert plan(manifests).problems == plan(manifests, running=RunningFleet()).problems


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (an_object("apps/v1", "Deployment", "a"), "spec"),
        (deployment("a") | {"spec": {"template": {"spec": {"containers": [{"image": "a"}]}}}}, "spec.template"),
        (group("a") | {"spec": {}}, "spec.leaderWorkerTemplate"),
        (group("a", size=0), "spec.leaderWorkerTemplate"),
        (group("a", {"image": "a"}), "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0]"),
        (hpa(deployment("a")) | {"spec": {"maxReplicas": 3}}, "spec.scaleTargetRef"),
        (service("a", "a") | {"spec": {"ports": [{"port": "http"}]}}, "spec.ports[0].port"),
        (an_object("v1", "Pod", "a", containers=3), "spec.containers"),
    ],
)
def test_objects_that_cannot_be_read_are_problems(body: Object, path: str) -> None:
    assert any(problem.path.startswith(path) for problem in malformed(body, "file"))


@pytest.mark.parametrize(
    "body",
    [
        deployment("a"),
        group("a"),
        hpa(deployment("a")),
        service("a", "a"),
        an_object("v1", "Pod", "a", containers=[container()]),
        an_object("v1", "ConfigMap", "a"),
    ],
    ids=lambda body: body["kind"],
)
def test_objects_of_a_server_are_read(body: Object) -> None:
    assert malformed(body, "file") == ()
