"""Pods that no node of an environment takes, where all nodes are known: an error that says what to write."""

import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.nodes.plan import NodeEnvironment
from components.contract.problems import Problem
from components.families import load, objects
from components.fleet.instances import instance
from components.fleet.nodes.unschedulable import NodeKind, untolerated
from components.fleet.options import Options, PodOverrides
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.families.llmkube.support import isvc
from tests.families.llmkube.support import model as gguf
from tests.fleets import open_model, playground, runner, service

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
TYPE = "node.kubernetes.io/instance-type"
NODES = NodeEnvironment("us-east-1", ("us-east-1a",), "1.35", datetime.datetime(2026, 9, 1, tzinfo=datetime.UTC))
SIMULATED = Environment(simulated=True)
OURS = Environment(cloud=AwsEnvironment("us-east-1", NODES, system_types=("m7i.large",)))
THEIRS = Environment(cloud=AwsEnvironment("us-east-1", NODES, existing=True, system_types=("m7i.large",)))
ELSEWHERE = Environment()


def typed(name: str, instance_type: str, **limits: int) -> Json:
    """A Playground whose model has a flavor of a type, with a namesake."""
    flavor = {"name": "f", "limits": limits, "params": {"INSTANCE-TYPE": instance_type}}
    return open_model(name, flavors=[flavor])


GPU_MODEL = [typed("gpu", "g5.2xlarge", **{GPU: 1}), playground("on-gpu", "gpu")]
CPU_MODEL = [
    typed("cpu", "m7i.2xlarge"),
    playground("on-cpu", "cpu", backendRuntimeConfig={"backendName": "llamacpp"}),
]


def on_cpu(**spec: Any) -> list[Json]:
    return [gguf(), isvc(**{"resources": {"cpu": "4", "memory": "8Gi"}, **spec})]


def chat(*flavors: Json) -> list[Json]:
    """A Playground on a model with these flavors, or none."""
    backend = {"backendName": "llamacpp"}
    return [open_model("m", flavors=list(flavors) or None), playground("p", "m", backendRuntimeConfig=backend)]


def group(size: int = 2, **pod: Any) -> Json:
    """A hand-written Service over several nodes."""
    container = runner(ports=[{"name": "http", "containerPort": 8080}], resources={"limits": {GPU: 8}})
    return service("several", "m", workloadTemplate={
        "size": size, "workerTemplate": {"spec": {"containers": [container], **pod}}})  # fmt: skip


def lws(**pod: Any) -> Json:
    container = {"name": "c", "image": "example.com/x:1", "resources": {"limits": {GPU: 1}}}
    template = {"spec": {"containers": [container], **pod}}
    spec = {
        "replicas": 2,
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": template, "workerTemplate": template},
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "hand"},
        "spec": spec,
    }


def unschedulable(documents: list[Json], environment: Environment = SIMULATED) -> list[Problem]:
    return [p for p in plan(objects(documents), environment).problems if "would stay Pending" in p.reason]


TOLERATES = {"tolerations": [{"key": GPU, "operator": "Exists"}]}
PENDING = [
    # Each with where it is told, and what there is to write.
    ([*GPU_MODEL, *on_cpu()], "spec.nodeSelector", f"{{{TYPE}: "),
    (on_cpu(), "spec.nodeSelector", "it has no nodes"),
    ([*CPU_MODEL, *on_cpu(resources={"cpu": "64"})], "spec.nodeSelector", "m7i-2xlarge has only"),
    ([*GPU_MODEL, *chat()], "spec.modelClaim.modelName", "inferenceConfig.flavors"),
    ([*GPU_MODEL, *chat({"name": "f"})], "spec.modelClaim.modelName", "INSTANCE-TYPE"),
    ([*CPU_MODEL, *chat({"name": "f", "limits": {GPU: 1}})], "spec.modelClaim.modelName", "INSTANCE-TYPE"),
    ([*CPU_MODEL, *chat({"name": "f", "nodeSelector": {"pool": "x"}})], "spec.modelClaim.modelName", "label pool;"),
    ([*GPU_MODEL, open_model("m"), group()], "spec.modelClaims.models", "INSTANCE-TYPE"),
    ([*GPU_MODEL, lws()], "spec.leaderWorkerTemplate.leaderTemplate.spec.nodeSelector", TYPE),
    (
        [lws(nodeSelector={TYPE: "g5.2xlarge"})],
        "spec.leaderWorkerTemplate.leaderTemplate.spec.nodeSelector",
        f"tolerations: [{{key: {GPU}, operator: Exists}}]",
    ),
]
SERVED = [
    [*CPU_MODEL, *on_cpu()],
    [*CPU_MODEL, *chat()],
    [*GPU_MODEL, *on_cpu(nodeSelector={TYPE: "m7i.2xlarge"})],
    [*GPU_MODEL, *on_cpu(tolerations=[{"operator": "Exists"}])],
    [*GPU_MODEL, gguf(hardware={"accelerator": "cuda", "gpu": {"count": 1}}), isvc()],
    [typed("m", "p5.48xlarge", **{GPU: 8}), group()],
    [lws(nodeSelector={TYPE: "g5.2xlarge"}, **TOLERATES)],
    [*GPU_MODEL, lws(**TOLERATES)],
    [*GPU_MODEL, *on_cpu(replicas=0)],
]


@pytest.mark.parametrize(("documents", "path", "words"), PENDING)
def test_a_pod_without_a_node_is_an_error_that_says_what_to_write(
    documents: list[Json], path: str, words: str
) -> None:
    found = unschedulable(documents)
    assert found, "nothing was found"
    assert found[0].path == path
    assert all(problem.is_error for problem in found)
    assert words in found[0].reason


@pytest.mark.parametrize("documents", SERVED)
def test_a_pod_that_some_node_takes_is_none(documents: list[Json]) -> None:
    assert unschedulable(documents) == []


@pytest.mark.parametrize(("documents", "path", "words"), PENDING)
@pytest.mark.parametrize("environment", [THEIRS, ELSEWHERE])
def test_where_other_nodes_may_be_nothing_is_checked(
    documents: list[Json], path: str, words: str, environment: Environment
) -> None:
    assert path, words
    assert unschedulable(documents, environment) == []


def test_the_nodes_of_the_system_take_what_fits_them() -> None:
    small = on_cpu(resources={"cpu": "500m", "memory": "1Gi"})
    assert unschedulable([*GPU_MODEL, *small], OURS) == []
    (problem,) = unschedulable([*GPU_MODEL, *on_cpu()], OURS)
    assert "the node group of the system (m7i.large) has only 1.93 cpu" in problem.reason
    selecting = Environment(
        cloud=OURS.cloud, options=Options(overrides=PodOverrides(node_selector={"pool": "models"}))
    )
    (problem,) = unschedulable([*GPU_MODEL, *small], selecting)
    assert "does not have the label pool=models" in problem.reason


def test_an_api_server_that_tolerates_devices_lets_pods_onto_them() -> None:
    """The admission plugin ExtendedResourceToleration, which EKS runs; a pod without a device stays off."""
    admitting = Environment(simulated=True, options=Options(tolerates_devices=True))
    assert unschedulable([lws(nodeSelector={TYPE: "g5.2xlarge"})], admitting) == []
    assert unschedulable([*GPU_MODEL, lws()], admitting) == []
    assert unschedulable([*GPU_MODEL, *on_cpu()], admitting) != []


def test_what_is_suggested_exists_and_is_enough() -> None:
    (problem,) = unschedulable([*GPU_MODEL, *on_cpu()])
    suggested = instance(problem.reason.rpartition(f"{TYPE}: ")[2].rstrip("}"))
    assert suggested
    assert suggested.vcpu > 4
    assert not suggested.accelerators
    assert unschedulable([*GPU_MODEL, *on_cpu(nodeSelector={TYPE: suggested.name})]) == []


def test_a_hand_written_set_asks_for_nodes() -> None:
    planned = plan(objects([lws(nodeSelector={TYPE: "g5.2xlarge"}, **TOLERATES)]), SIMULATED)
    (found,) = planned.groups
    assert (found.instance_type, found.nodes) == ("g5.2xlarge", 4)


def test_the_error_stands_alone_at_its_field() -> None:
    """The warning that there is no node group says less."""
    problems = plan(objects(chat({"name": "f", "limits": {GPU: 1}})), SIMULATED).problems
    assert len([p for p in problems if p.path == "spec.modelClaim.modelName"]) == 1


def test_the_shipped_samples_all_have_nodes() -> None:
    manifests = load(["stacks/models"])
    for environment in (SIMULATED, OURS):
        assert not [p for p in plan(manifests, environment).problems if "would stay Pending" in p.reason]


AFFINITY = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"])


@given(AFFINITY, st.sampled_from(["pool", "zone.kubernetes.io/x"]), st.sampled_from(["a", "b"]), st.booleans())
def test_affinity_is_held_against_labels_as_the_scheduler_does(
    operator: str, key: str, value: str, labelled: bool
) -> None:
    node = NodeKind("n", {"cpu": Decimal(8)}, {"pool": "a"} if labelled else {})
    expression = {"key": key, "operator": operator, **({"values": [value]} if operator.endswith("n") else {})}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    pod = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}
    has = labelled and key == "pool"
    by_cloud = key != "pool"
    expected = {
        "In": by_cloud or (has and value == "a"),
        "NotIn": by_cloud or not has or value != "a",
        "Exists": by_cloud or has,
        "DoesNotExist": by_cloud or not has,
    }[operator]
    assert (node.obstacle(pod, {"cpu": Decimal(1)}) == "") is expected


@pytest.mark.parametrize(
    ("toleration", "met"),
    [
        ({"key": GPU, "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": GPU, "operator": "Equal", "value": "true", "effect": "NoSchedule"}, True),
        ({"key": GPU, "operator": "Equal", "value": "present"}, False),
        ({"key": GPU, "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "amd.com/gpu", "operator": "Exists"}, False),
    ],
)
def test_tolerations_are_read_as_the_scheduler_reads_them(toleration: Json, met: bool) -> None:
    taint = {"key": GPU, "value": "true", "effect": "NoSchedule"}
    assert untolerated({"tolerations": [toleration]}, [taint]) == ("" if met else GPU)
