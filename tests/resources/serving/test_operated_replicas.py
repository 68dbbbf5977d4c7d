"""Resources of operators whose replicas an autoscaler takes over: updates leave them alone, on, off and on again."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.problems import Severity
from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.fleet.workloads import with_own_replicas
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.resources.serving.workload_component import declared_replicas, kept_fields
from tests.fleets import open_model, playground
from tests.monitoring.simulated.workload import pods_metric

Json = dict[str, Any]
QUEUE = pods_metric("vllm:num_requests_waiting", "5")
KTHENA, LLMKUBE = "workload.serving.volcano.sh/v1alpha1", "inference.llmkube.dev/v1alpha1"
ENGINE = {"name": "engine", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "Qwen/Qwen3-8B"]}
ROLES = [{"name": "leader", "entryTemplate": {"spec": {"containers": [ENGINE]}}, "workerReplicas": 0}]
REFERENCE = {"targetRef": {"kind": "ModelServing", "name": "chat"}, "metricEndpoint": {"port": 8000}}

RELEASES = {"kthena": "v0.1.0"}
"""Its controller watches bindings in its own namespace alone."""
ENVIRONMENT = Environment(
    options=Options(namespace="kthena-system", realization=Realization.OPERATOR, releases=RELEASES)
)


def resource(api_version: str, kind: str, **spec: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "chat"}, "spec": spec}


def llmaz(replicas: Json, *, scaled: bool) -> list[Json]:
    elastic = {"minReplicas": 1, "maxReplicas": 4, "scaleTrigger": {"hpa": {"metrics": [QUEUE]}}}
    return [open_model("m"), playground("chat", "m", **({"elasticConfig": elastic} if scaled else replicas))]


def llmkube(replicas: Json, *, scaled: bool) -> list[Json]:
    model = resource(LLMKUBE, "Model", source="https://example.com/model.gguf")
    metric = {"type": "Pods", "name": "llamacpp:requests_deferred", "targetAverageValue": "2"}
    scaling = {"autoscaling": {"maxReplicas": 4, "metrics": [metric]}}
    return [model, resource(LLMKUBE, "InferenceService", modelRef="chat", **(scaling if scaled else replicas))]


def kthena(replicas: Json, *, scaled: bool) -> list[Json]:
    policy = resource(KTHENA, "AutoscalingPolicy", metrics=[{"metricName": "load", "targetValue": "5"}])
    bounds = {"minReplicas": 1, "maxReplicas": 4, "target": REFERENCE}
    binding = resource(KTHENA, "AutoscalingPolicyBinding", policyRef={"name": "chat"}, scalingConfiguration=bounds)
    # Its replicas stay in the manifest, as users leave them there.
    serving = resource(KTHENA, "ModelServing", schedulerName="volcano", template={"roles": ROLES}, **replicas)
    return [serving, *([policy, binding] if scaled else ())]


KINDS = {"Playground": llmaz, "InferenceService": llmkube, "ModelServing": kthena}


def planned(kind: str, replicas: Json, *, scaled: bool) -> Plan:
    return plan(objects(KINDS[kind](replicas, scaled=scaled), releases=RELEASES), ENVIRONMENT)


def registered(kind: str, replicas: Json, *, scaled: bool) -> tuple[Json, list[str]]:
    """Return the resource as it is registered, and the fields that updates ignore."""
    found = planned(kind, replicas, scaled=scaled)
    item = next(item for item in found.fleet.rendered if item.kind == kind)
    item = replace(item, scaled=found.scaled)
    (body,) = (body for body in item.objects if body["kind"] == kind)
    kept = kept_fields(item).get(id(body)) or []
    return (body if kept else with_own_replicas(body, declared_replicas(item, body))), kept


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("replicas", [{"replicas": 3}, {}], ids=["3", "default"])
def test_replicas_are_left_to_the_autoscaler_and_taken_back(kind: str, replicas: Json) -> None:
    on, kept = registered(kind, replicas, scaled=True)
    assert kept == ["spec.replicas"]
    assert "annotations" not in on["metadata"]
    off, kept = registered(kind, replicas, scaled=False)
    assert kept == []
    assert off["spec"]["replicas"] == replicas.get("replicas", 1)
    assert off["metadata"]["annotations"] == {"pulumi.com/patchForce": "true"}


@pytest.mark.parametrize("is_role", [False, True])
def test_a_role_that_is_scaled_leaves_the_groups_alone(*, is_role: bool) -> None:
    """An update resets the roles (tests/cluster/test_left_out.py), and a warning says so."""
    releases = {"kthena": "v0.4.0"}
    documents = kthena({"replicas": 3}, scaled=True)
    bounds = documents[-1]["spec"].pop("scalingConfiguration")
    target = {**REFERENCE, **({"subTargets": {"kind": "Role", "name": "leader"}} if is_role else {})}
    documents[-1]["spec"]["homogeneousTarget"] = {**bounds, "target": target}
    environment = replace(ENVIRONMENT, options=replace(ENVIRONMENT.options, releases=releases))
    found = plan(objects(documents, releases=releases), environment)
    assert [problem.reason for problem in found.problems if problem.severity is Severity.ERROR] == []
    assert found.scaled == (frozenset() if is_role else {("ModelServing", "kthena-system", "chat")})
    warned = [problem.path for problem in found.problems if "sets the replicas of its roles" in problem.reason]
    assert warned == (["spec.homogeneousTarget.target.subTargets"] if is_role else [])
