"""Accounts and classes that pods name: without them the API server refuses the pods, and nothing is Pending."""

from typing import Any

import pytest

from components.contract.findings.ids import RuleId
from components.contract.problems import Severity
from components.families import objects
from components.fleet.options import Options, PodOverrides
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.settings import FleetSettings
from tests.checks.memory.fleets import (
    booster,
    inference_service,
    leader_worker_set,
    llmkube_model,
    model_serving,
    pod,
    worker,
)
from tests.fleets import open_model, playground

Found = list[tuple[str, str, Severity]]
"""The kind that is missing, the field, and the severity."""
NAMED = {"serviceAccountName": "reader", "priorityClassName": "high", "runtimeClassName": "sandboxed"}
POD = pod("g6.2xlarge", ["vllm", "serve", "Qwen/Qwen3-8B"])
WRITTEN = {"spec": {**POD["spec"], **NAMED}}


def found(*documents: Any, other_kinds: OtherKinds = OtherKinds.APPLY, **environment: Any) -> Found:
    environment.setdefault("options", Options(namespace="models"))
    planned = plan(objects(documents), Environment(other_kinds=other_kinds, **environment))
    kinds = ("ServiceAccount", "PriorityClass", "RuntimeClass")
    return [
        (next(kind for kind in kinds if f"the {kind} " in each.reason), each.path, each.severity)
        for each in planned.problems
        if each.rule == RuleId.PODS_REFUSED
    ]


def made(kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    groups = {"ServiceAccount": "v1", "PriorityClass": "scheduling.k8s.io/v1", "RuntimeClass": "node.k8s.io/v1"}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": groups[kind], "kind": kind, "metadata": metadata}


ALL = [made("ServiceAccount", "reader"), made("PriorityClass", "high"), made("RuntimeClass", "sandboxed")]
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {
        "selector": {"matchLabels": {"app": "d"}},
        "template": {"metadata": {"labels": {"app": "d"}}, **WRITTEN},
    },
}
JOB = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "c"},
    "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": WRITTEN}}},
}
KUBE = inference_service(priorityClassName="high", runtimeClassName="sandboxed")
BOOSTER = booster(worker("g6.2xlarge"), schedulerName="volcano")
FAMILIES = {
    "leaderworkerset": ([leader_worker_set(WRITTEN)], "spec.leaderWorkerTemplate.workerTemplate.spec", list(NAMED)),
    "kthena": ([model_serving(("r", WRITTEN))], "spec.template.roles[0].entryTemplate.spec", list(NAMED)),
    "llmkube": ([llmkube_model(), KUBE], "spec", ["priorityClassName", "runtimeClassName"]),
    "unchanged": ([DEPLOYMENT], "spec.template.spec", list(NAMED)),
    "unchanged without accelerators": ([JOB], "spec.jobTemplate.spec.template.spec", list(NAMED)),
}
KINDS = {
    "serviceAccountName": "ServiceAccount",
    "priorityClassName": "PriorityClass",
    "runtimeClassName": "RuntimeClass",
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("realization", [Realization.NATIVE, Realization.OPERATOR])
def test_what_nothing_creates_is_named_at_its_field(family: str, realization: Realization) -> None:
    documents, below, fields = FAMILIES[family]
    options = Options(namespace="models", realization=realization)
    expected = {(KINDS[field], f"{below}.{field}", Severity.NOTE) for field in fields}
    assert set(found(*documents, options=options)) == expected
    new = {(kind, path, Severity.WARNING) for kind, path, _ in expected}
    assert set(found(*documents, options=options, simulated=True)) == new
    assert found(*documents, *ALL, options=options, simulated=True) == []


def test_an_account_of_another_namespace_is_not_that_of_the_pods() -> None:
    elsewhere = [made("ServiceAccount", "reader", "team"), *ALL[1:]]
    planned = plan(objects([leader_worker_set(WRITTEN), *elsewhere]), Environment(other_kinds=OtherKinds.APPLY))
    (reason,) = (each.reason for each in planned.problems if each.rule == RuleId.PODS_REFUSED)
    assert "'reader' in namespace default (only in team); whether the cluster has it is not checked" in reason


def test_whoever_skips_other_kinds_creates_them_elsewhere() -> None:
    assert found(leader_worker_set(WRITTEN), *ALL, other_kinds=OtherKinds.SKIP) == []


def test_what_every_cluster_has_is_not_reported() -> None:
    names = {"serviceAccountName": "default", "priorityClassName": "system-cluster-critical"}
    assert found(leader_worker_set({"spec": {**POD["spec"], **names}}), simulated=True) == []
    assert found(open_model("m"), playground("p", "m"), BOOSTER, simulated=True) == []


def test_a_name_in_the_settings_is_reported_there_once() -> None:
    overrides = PodOverrides(service_account_name="reader", priority_class_name="high")
    options = Options(namespace="models", overrides=overrides)
    models = [open_model("m"), playground("p", "m"), playground("q", "m"), leader_worker_set(POD)]
    expected = [
        ("ServiceAccount", "pods.serviceAccountName", Severity.NOTE),
        ("PriorityClass", "pods.priorityClassName", Severity.NOTE),
    ]
    assert sorted(found(*models, options=options)) == sorted(expected)


def test_the_account_of_models_in_buckets_is_created() -> None:
    models = [open_model("m"), playground("p", "m")]
    settings = FleetSettings.model_validate({"modelBuckets": ["weights"]})
    assert found(*models, options=settings.options(), simulated=True) == []
    settings = FleetSettings.model_validate(
        {"modelBuckets": ["weights"], "pods": {"serviceAccountName": "model-loader"}}
    )
    assert [path for _, path, _ in found(*models, options=settings.options())] == ["pods.serviceAccountName"]


def test_the_gpu_operator_brings_its_runtime_classes() -> None:
    named = {"spec": {**POD["spec"], "runtimeClassName": "nvidia"}}
    facts = FleetSettings.model_validate({"prerequisites": {"present": ["gpu-operator"]}}).facts()
    assert found(leader_worker_set(named), cluster=facts) == []
    assert [kind for kind, _, _ in found(leader_worker_set(named))] == ["RuntimeClass"]
