"""An object that another resource of a fleet renders keeps its identity: its URN has an alias to the former one."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from tests.fleets import open_model, playground, service
from tests.recorded import PROJECT, STACK
from tests.resources.serving.manifests import A10G, Object, in_namespace, inference_service, program, weights
from workbench.engine.program.adapter import Monitor, Run, run_program
from workbench.engine.program.graph import Node, ResourceGraph

SHORT = {"type": "Resource", "name": "cpu", "targetAverageUtilization": 50}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
ELASTIC = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": {"metrics": [CPU]}}}
NODE = {"node.kubernetes.io/instance-type": "g5.2xlarge"}
CONTAINER: Object = {
    "name": "engine",
    "image": "vllm/vllm-openai:v0.20.0",
    "command": ["vllm", "serve", "facebook/opt-125m"],
    "ports": [{"containerPort": 8000}],
    "resources": {"limits": {"nvidia.com/gpu": "1"}},
}
POD: Object = {"spec": {"nodeSelector": NODE, "containers": [CONTAINER]}}


def named(api_version: str, kind: str, spec: Object, name: str = "chat") -> Object:
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


ROLE = {"name": "leader", "replicas": 1, "workerReplicas": 0, "entryTemplate": POD}
LABELS = {"app": "chat"}
KINDS: dict[str, list[Object]] = {
    "Playground": [open_model("opt", "facebook/opt-125m", [A10G]), in_namespace(playground("chat", "opt"), "team")],
    "elastic Playground": [
        open_model("opt", "facebook/opt-125m", [A10G]),
        in_namespace(playground("chat", "opt", elasticConfig=ELASTIC), "team"),
    ],
    "Service": [open_model("opt", "facebook/opt-125m", [A10G]), in_namespace(service("chat", "opt"), "team")],
    "InferenceService": [weights("opt"), inference_service("chat", "opt")],
    "elastic InferenceService": [
        weights("opt"),
        inference_service("chat", "opt", autoscaling={"maxReplicas": 3, "metrics": [SHORT]}, resources={"cpu": "1"}),
    ],
    "ModelServing": [
        named("workload.serving.volcano.sh/v1alpha1", "ModelServing", {"template": {"roles": [ROLE]}}),
    ],
    "LeaderWorkerSet": [
        named(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": POD}},
        )
    ],
    "manifests": [
        named(
            "apps/v1",
            "Deployment",
            {"selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, **POD}},
        ),
        named("v1", "Service", {"selector": LABELS, "ports": [{"port": 8000}]}),
        named(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": POD}},
            "alone",
        ),
    ],
}
Identity = tuple[str, ...]


def graph_of(*documents: Object, **args: Any) -> ResourceGraph:
    graph = ResourceGraph(STACK, PROJECT)
    settings = {"manifests": list(documents), "other_kinds": "apply", **args}
    run_program(program(settings), Monitor(graph), Run(PROJECT, STACK, False, {}))
    return graph


def objects(graph: ResourceGraph) -> dict[Identity, Node]:
    """The objects of a program by API group, kind, namespace and name."""

    def described() -> Iterator[tuple[Identity, Node]]:
        for node in graph.nodes.values():
            if node.registration.is_object:
                inputs, metadata = node.inputs, node.inputs["metadata"]
                group = inputs["apiVersion"].rpartition("/")[0]
                yield (group, inputs["kind"], metadata.get("namespace", ""), metadata["name"]), node

    return dict(described())


GRAPHS: dict[str, ResourceGraph] = {}


def of_kind(kind: str) -> ResourceGraph:
    if kind not in GRAPHS:
        GRAPHS[kind] = graph_of(*KINDS[kind])
    return GRAPHS[kind]


@pytest.mark.parametrize(("before", "after"), list(permutations(KINDS, 2)))
def test_objects_of_one_name_keep_their_identity(before: str, after: str) -> None:
    old, new = objects(of_kind(before)), objects(of_kind(after))
    common = old.keys() & new.keys()
    lost = [key for key in common if old[key].urn not in (new[key].urn, *new[key].former)]
    assert lost == []


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        ("Deployment", ("Playground", "Service", "InferenceService", "elastic Playground", "manifests")),
        ("Service", ("elastic InferenceService", "InferenceService", "manifests")),
        ("HorizontalPodAutoscaler", ("elastic Playground", "elastic InferenceService")),
        ("LeaderWorkerSet", ("ModelServing", "LeaderWorkerSet")),
    ],
)
def test_kinds_of_models_have_objects_in_common(kind: str, kinds: tuple[str, ...]) -> None:
    for each in kinds:
        assert (kind, "team", "chat") in {identity[1:] for identity in objects(of_kind(each))}


def test_no_alias_is_a_resource_of_the_program() -> None:
    """Pulumi rejects such a program. A Service of the first one has the logical name of another Service."""
    documents = [
        *KINDS["Playground"],
        inference_service("chat", "tiny", "other"),
        weights("tiny", "other"),
        inference_service("chat-lb-a", "large"),
        weights("large"),
    ]
    graph = graph_of(*documents, hardening={"network_policies": True}, simulated_nodes=True)
    assert [urn for node in graph.nodes.values() for urn in node.former if urn in graph.nodes] == []
    assert sum(len(node.former) for node in graph.nodes.values()) > 20
