"""Autoscalers that stand for a variant by their annotations: what the controller of v0.9.0 takes from them."""

import copy
from typing import Any

import pytest
import yaml

from components.families import parse
from components.families.llmd.annotations import annotation_problems, scaled_by
from components.fleet.words import OtherKinds
from components.plan.environment import Environment
from components.plan.plan import plan

Object = dict[str, Any]
AT = "metadata.annotations[llm-d.ai/{}]"


def hpa(annotations: Object | None = None, **spec: Any) -> Object:
    """As config/samples/simulator/label/decode/hpa.yaml at v0.9.0 has it."""
    given = {"managed": "true", "model-id": "tiny", "variant-cost": "30.0"} if annotations is None else annotations
    metric = {"name": "wva_desired_replicas", "selector": {"matchLabels": {"variant_name": "chat-hpa"}}}
    body: Object = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": "chat-hpa",
            "namespace": "ns",
            "annotations": {f"llm-d.ai/{key}": value for key, value in given.items()},
        },
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
            "minReplicas": 1,
            "maxReplicas": 4,
            "metrics": [{"type": "External", "external": {"metric": metric, "target": {"type": "AverageValue"}}}],
            **spec,
        },
    }
    return copy.deepcopy(body)


def scaled_object(**spec: Any) -> Object:
    body = hpa()
    del body["spec"]
    target = {"scaleTargetRef": {"name": "chat"}, "maxReplicaCount": 10, **spec}
    return {**body, "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": target}


@pytest.mark.parametrize(
    "annotations",
    [
        {"managed": "true", "model-id": "m"},
        {"managed": "true", "model-id": "org/m", "variant-cost": "0"},
        {"managed": "true", "model-id": "m", "variant-cost": "1e2"},
        {"managed": "true", "model-id": "m", "variant-cost": ""},  # the default
        {},
    ],
)
def test_what_the_controller_takes(annotations: Object) -> None:
    assert list(annotation_problems(hpa(annotations))) == []


@pytest.mark.parametrize(
    ("annotations", "path", "reason"),
    [
        (
            {"model-id": "m"},
            "managed",
            'is missing, so the other llm-d.ai annotations have no effect; set it to "true"',
        ),
        ({"managed": "True", "model-id": "m"}, "managed", 'is "True"'),
        ({"managed": "yes"}, "managed", 'is "yes"'),
        ({"managed": "true"}, "model-id", "is required beside llm-d.ai/managed"),
        ({"managed": "true", "model-id": ""}, "model-id", "is required"),
        ({"managed": "true", "model-id": "m", "variant-cost": "-1"}, "variant-cost", 'found "-1"'),
        ({"managed": "true", "model-id": "m", "variant-cost": "ten"}, "variant-cost", "must be a number"),
    ],
)
def test_what_it_would_only_log(annotations: Object, path: str, reason: str) -> None:
    """Parse of internal/annotations/annotations.go."""
    ((found, why),) = annotation_problems(hpa(annotations))
    assert found == AT.format(path)
    assert reason in why


@pytest.mark.parametrize("reference", [{}, {"kind": "Deployment"}, None])
def test_a_workload_is_needed(reference: object) -> None:
    ((path, reason),) = annotation_problems(hpa(scaleTargetRef=reference))
    assert path == "spec.scaleTargetRef.name"
    assert "is required" in reason


def test_it_scales_deployments_and_leader_worker_sets() -> None:
    ((path, reason),) = annotation_problems(hpa(scaleTargetRef={"kind": "StatefulSet", "name": "chat"}))
    assert path == "spec.scaleTargetRef.kind"
    assert "Deployment or LeaderWorkerSet" in reason
    assert list(annotation_problems(hpa(scaleTargetRef={"kind": "LeaderWorkerSet", "name": "chat"}))) == []


def test_the_signal_has_the_name_of_the_autoscaler() -> None:
    """Upstream's own sample, config/samples/hpa/annotations/hpa.yaml at v0.9.0, selects the name of the workload."""
    body = hpa()
    labels = body["spec"]["metrics"][0]["external"]["metric"]["selector"]["matchLabels"]
    labels["variant_name"] = "chat"
    ((path, reason),) = annotation_problems(body)
    assert path == "spec.metrics[0].external.metric.selector.matchLabels.variant_name"
    assert '"chat-hpa"' in reason
    body["spec"]["metrics"][0]["external"]["metric"]["name"] = "other"
    assert list(annotation_problems(body)) == []


@pytest.mark.parametrize(
    ("query", "is_wrong"),
    [
        ('wva_desired_replicas{variant_name="chat-hpa",namespace="ns"}', False),
        ('max(wva_desired_replicas{\n  namespace="ns",\n  variant_name = "chat"\n})', True),
        ('other{variant_name="chat"}', False),
        (7, False),
    ],
)
def test_queries_select_the_name_of_the_scaled_object(query: object, is_wrong: bool) -> None:
    body = scaled_object(triggers=[{"type": "prometheus", "metadata": {"query": query}}])
    found = list(annotation_problems(body))
    assert [path for path, _ in found] == (["spec.triggers[0].metadata.query"] if is_wrong else [])


@pytest.mark.parametrize(
    "body",
    [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"annotations": {"llm-d.ai/model-id": "m"}}},
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "x"}, "spec": {}},
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"},
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"annotations": ["odd"]}},
    ],
)
def test_other_objects_are_none_of_its_business(body: Object) -> None:
    assert list(annotation_problems(body)) == []
    assert scaled_by(body) is None


def test_odd_shapes_are_not_read() -> None:
    for metrics in ("odd", ["odd"], [{"external": None}], [{"external": {"metric": None}}]):
        assert list(annotation_problems(hpa(metrics=metrics))) == []


def test_what_a_variant_is_made_of() -> None:
    """VariantAutoscalingFromHPA and VariantAutoscalingFromScaledObject of internal/annotations."""
    found = scaled_by(hpa())
    assert found
    assert (found.name, found.namespace, found.target, found.least, found.most) == ("chat-hpa", "ns", "chat", 1, 4)
    assert (found.is_managed, found.model, found.cost) == (True, "tiny", "30.0")
    keda = scaled_by(scaled_object())
    assert keda
    assert (keda.target_kind, keda.target_api, keda.least, keda.most) == ("Deployment", "apps/v1", None, 10)


def test_a_plan_that_passes_it_through_warns_of_it() -> None:
    bad, good = hpa({"managed": "true"}), hpa()
    good["metadata"]["name"] = "chat-hpa"
    bad["metadata"]["name"] = "other"
    bad["spec"]["metrics"] = []
    manifests = parse(yaml.safe_dump_all([good, bad]), "scalers.yaml")
    found = plan(manifests, Environment(other_kinds=OtherKinds.APPLY))
    # That the targets are not among the manifests is another warning.
    assert [
        (each.name, each.path, str(each.rule), each.line > 0)
        for each in found.problems
        if not each.is_error and each.rule != "reference-elsewhere"
    ] == [("other", AT.format("model-id"), "field-no-effect", True)]
    assert len(found.others) == 2
    skipped = plan(manifests, Environment(other_kinds=OtherKinds.SKIP))
    assert not skipped.problems
