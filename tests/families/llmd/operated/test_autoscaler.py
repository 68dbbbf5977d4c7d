"""The autoscaler that follows the controller's signal (WVA spec 10), and what the controller cannot do (5, 7)."""

from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings, metric_chain, with_scaled_objects
from components.checks.metrics.words import Adapter
from components.fleet.words import WorkloadChoice
from tests.families.llmd.operated.support import (
    MODEL,
    Object,
    item,
    levels,
    load,
    operated,
    promised,
    served,
    the_error,
    told,
    variant,
    working,
)


def autoscaler(**given: Any) -> Object:
    """The autoscaler of the only variant."""
    fleet = working(*served("chat"), variant(), given=levels(**given))
    (found,) = item(fleet).autoscalers
    return found.body


def test_it_is_the_one_of_upstream() -> None:
    """config/samples/hpa-integration.yaml at c0f645c, but for the bound that is its default and the way down."""
    found = autoscaler()
    assert found["apiVersion"] == "autoscaling/v2"
    assert found["metadata"] == {"name": "chat-va", "namespace": "default"}
    spec = found["spec"]
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 10)
    assert spec["metrics"] == [
        {
            "type": "External",
            "external": {
                "metric": {
                    "name": "inferno_desired_replicas",
                    "selector": {"matchLabels": {"variant_name": "chat"}},
                },
                "target": {"type": "AverageValue", "averageValue": "1"},
            },
        }
    ]
    assert spec["behavior"]["scaleUp"] == {
        "stabilizationWindowSeconds": 0,
        "policies": [{"type": "Pods", "value": 10, "periodSeconds": 15}],
    }


def test_a_model_that_takes_minutes_to_start_is_not_taken_away_at_once() -> None:
    assert autoscaler()["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] >= 240


@pytest.mark.parametrize(("per_minute", "replicas"), [(10, 1), (40, 2), (100, 4), (200, 8), (500, 20)])
def test_it_may_go_as_far_as_the_peak_needs(per_minute: float, replicas: int) -> None:
    """WVA spec 8.10, first rows; 500 / 25.31145 is 19.8."""
    assert autoscaler(loads={"chat": load(per_minute)})["spec"]["maxReplicas"] == replicas


def test_the_load_of_another_is_not_its_own() -> None:
    assert autoscaler(loads={"code": load(200), "else/chat": load(200)})["spec"]["maxReplicas"] == 10
    assert autoscaler(loads={"default/chat": load(200)})["spec"]["maxReplicas"] == 8


def test_it_owns_the_replicas_and_the_resource_stays_as_it_is_written() -> None:
    written = variant(annotations={"a": "b"})
    fleet = working(*served("chat"), written)
    (workload,) = [each for _, each in fleet.workloads]
    assert "replicas" not in workload.body["spec"]
    assert (workload.replicas, workload.most) == (1, 10)
    (found,) = item(fleet).others
    assert found == {**written, "metadata": {**written["metadata"], "namespace": "default"}}
    assert item(fleet).needs == {"wva", "external-metrics"}


class TestMetrics:
    def test_the_adapter_has_the_rule_because_of_the_variant(self) -> None:
        """WVA spec 10; test_adapter has the rule itself."""
        plain = metric_chain(operated(*served("chat")), MetricSettings())
        assert plain.adapter_rules["external"] == []
        chain = metric_chain(working(*served("chat"), variant()), MetricSettings())
        assert not chain.problems
        (rule,) = chain.adapter_rules["external"]
        assert rule["seriesQuery"] == 'inferno_desired_replicas{variant_name!="",exported_namespace!=""}'
        assert rule["name"] == {"matches": "^inferno_desired_replicas", "as": "inferno_desired_replicas"}
        assert rule["resources"]["overrides"] == {
            "exported_namespace": {"resource": "namespace"},
            "variant_name": {"resource": "deployment"},
        }

    def test_keda_has_the_same_signal(self) -> None:
        """WVA spec 10: one element, and no value is no zero."""
        fleet = working(*served("chat"), variant())
        chain = metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA, prometheus="https://p.m.svc:9090"))
        assert not chain.problems
        assert chain.adapter_rules["external"] == []
        (found,) = item(with_scaled_objects(fleet, chain)).objects[:1]
        assert (found["apiVersion"], found["kind"]) == ("keda.sh/v1alpha1", "ScaledObject")
        spec = found["spec"]
        assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
        assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (1, 10)
        assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
        (trigger,) = spec["triggers"]
        assert (trigger["type"], trigger["metricType"]) == ("prometheus", "AverageValue")
        metadata = trigger["metadata"]
        assert metadata["serverAddress"] == "https://p.m.svc:9090"
        query = 'max(inferno_desired_replicas{exported_namespace="default",variant_name="chat"})'
        assert (metadata["query"], metadata["threshold"], metadata["ignoreNullValues"]) == (query, "1", "false")


class TestZero:
    @pytest.mark.parametrize("adapter", Adapter)
    def test_only_keda_goes_there(self, adapter: Adapter) -> None:
        fleet = working(*served("chat"), variant(), given=levels(scale_to_zero=True))
        (found,) = item(fleet).autoscalers
        assert found.minimum == 0
        problems = [str(p) for p in metric_chain(fleet, MetricSettings(adapter=adapter)).problems]
        if adapter == Adapter.KEDA:
            (problem,) = problems
            assert "[autoscaling-unheld]" in problem
        else:
            (problem,) = problems
            assert "serviceLevels.controller.scaleToZero: 0 requires KEDA" in problem

    def test_that_nothing_comes_back_is_said(self) -> None:
        fleet = working(*served("chat"), variant(), given=levels(scale_to_zero=True))
        (warning,) = told(fleet)
        assert "do not wake it up again" in warning
        assert not told(working(*served("chat"), variant()))


class TestRefused:
    def test_groups_of_pods(self) -> None:
        found = the_error(operated(*served("chat"), variant(), workload=WorkloadChoice.LWS))
        assert "'chat' is a LeaderWorkerSet" in found
        assert "realizations: {llmd: native}" in found

    @pytest.mark.parametrize("model", ['a"b', "a\\b", "a\nb", '"} or vector(1) #'])
    def test_names_that_are_more_than_a_name_in_a_query(self, model: str) -> None:
        found = the_error(operated(*served("chat", model=model), variant(model=model), given=promised(model)))
        assert "spec.modelID" in found
        assert "queries" in found

    @pytest.mark.parametrize("model", ["a'b", "a b", "${X}", "модель", "a{b}"])
    def test_other_names_are_not(self, model: str) -> None:
        assert working(*served("chat", model=model), variant(model=model), given=promised(model))

    def test_a_workload_that_has_an_autoscaler(self) -> None:
        """Both are named; the message is that of all families."""
        llmkube = "inference.llmkube.dev/v1alpha1"
        arguments = ["--served-model-name", MODEL]
        gpu = {"accelerator": "cuda", "gpu": {"enabled": True, "count": 1, "vendor": "nvidia"}}
        engine = {"modelRef": "m", "runtime": "vllm", "skipModelInit": True, "extraArgs": arguments}
        service = {
            "apiVersion": llmkube,
            "kind": "InferenceService",
            "metadata": {"name": "chat"},
            "spec": {**engine, "autoscaling": {"maxReplicas": 3}},
        }
        weights = {
            "apiVersion": llmkube,
            "kind": "Model",
            "metadata": {"name": "m"},
            "spec": {"source": "org/m", "format": "safetensors", "hardware": gpu},
        }
        found = the_error(operated(weights, service, variant()))
        assert "Deployment 'chat' already has the autoscaler 'chat' of InferenceService/chat" in found
        service["spec"] = engine
        assert working(weights, service, variant())
