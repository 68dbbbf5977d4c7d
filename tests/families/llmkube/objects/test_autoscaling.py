"""What moves the replicas of an InferenceService."""

import pytest

from components.checks.metrics.chain import metric_chain
from tests.families.llmkube.support import (
    GPUS,
    Object,
    isvc,
    model,
    objects,
    problem,
    served,
)
from tests.fleets import fleet_of, workload_of


class TestAutoscaling:
    @pytest.mark.parametrize(
        ("runtime", "metric"),
        [
            ("llamacpp", "llamacpp:requests_processing"),
            ("vllm", "vllm:num_requests_running"),
            ("tgi", "tgi_queue_size"),
        ],
    )
    def test_the_default_metric_is_one_that_the_server_exports(self, runtime: str, metric: str) -> None:
        service = isvc(runtime=runtime, autoscaling={"maxReplicas": 3}, skipModelInit=True, **GPUS)
        item = served(service, model(source="org/repo"))
        (hpa,) = [body for body in item.objects if body["kind"] == "HorizontalPodAutoscaler"]
        assert hpa == {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {
                "name": "svc",
                "namespace": "ns",
                "labels": {"app": "svc", "inference.llmkube.dev/service": "svc"},
            },
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "svc"},
                "minReplicas": 1,
                "maxReplicas": 3,
                "metrics": [
                    {
                        "type": "Pods",
                        "pods": {
                            "metric": {"name": metric},
                            "target": {"type": "AverageValue", "averageValue": "2"},
                        },
                    }
                ],
            },
        }
        assert item.needs == {"custom-metrics"}
        chain = metric_chain(fleet_of(service, model(source="org/repo")))
        assert [rule["name"]["as"] for rule in chain.adapter_rules["custom"]] == [metric]
        assert not [p for p in chain.problems if p.severity == "error"]

    def test_the_autoscaler_owns_the_replicas(self) -> None:
        service = isvc(autoscaling={"minReplicas": 2, "maxReplicas": 5}, **GPUS)
        assert "replicas" not in objects(service, model())["Deployment"]["spec"]
        item = served(service, model())
        assert workload_of(item).replicas == 2
        assert (item.pods[0].pods, item.pods[0].max_pods) == (2, 5)

    def test_replicas_beside_it_are_told(self) -> None:
        service = isvc(autoscaling={"maxReplicas": 1}, replicas=1)
        assert problem(service, model(), severity="warning").path == "spec.replicas"

    @pytest.mark.parametrize(
        ("metric", "field"),
        [
            ({"type": "Pods", "name": "q"}, "targetAverageValue"),
            ({"type": "Pods", "name": "q", "targetAverageValue": "many"}, "targetAverageValue"),
            ({"type": "Pods", "name": "q", "targetAverageValue": "0"}, "targetAverageValue"),
            ({"type": "Pods", "name": "", "targetAverageValue": "1"}, "name"),
            ({"type": "Resource", "name": "memory"}, "targetAverageUtilization"),
            ({"type": "Resource", "name": "cpu", "targetAverageUtilization": 0}, "targetAverageUtilization"),
            ({"type": "Resource", "name": "q", "targetAverageUtilization": 5}, "name"),
        ],
    )
    def test_an_incomplete_metric_is_refused_at_its_path(self, metric: Object, field: str) -> None:
        good = {"type": "Pods", "name": "q", "targetAverageValue": "3"}
        found = problem(isvc(autoscaling={"maxReplicas": 1, "metrics": [good, metric]}), model())
        assert found.path == f"spec.autoscaling.metrics[1].{field}"

    def test_a_target_of_the_other_type_is_told(self) -> None:
        metric = {"type": "Pods", "name": "q", "targetAverageValue": "3", "targetAverageUtilization": 5}
        service = isvc(autoscaling={"maxReplicas": 1, "metrics": [metric]})
        found = problem(service, model(), severity="warning")
        assert found.path == "spec.autoscaling.metrics[0].targetAverageUtilization"

    @pytest.mark.parametrize("runtime", ["personaplex", "generic"])
    def test_a_server_without_a_known_metric_needs_one(self, runtime: str) -> None:
        service = isvc(runtime=runtime, image="example.com/x:1", autoscaling={"maxReplicas": 1})
        found = problem(service, model(source="org/repo"))
        assert found.path == "spec.autoscaling.metrics"
        assert "targetAverageValue" in found.reason

    def test_resource_metrics_need_the_metrics_server(self) -> None:
        metric = {"type": "Resource", "name": "cpu", "targetAverageUtilization": 5}
        assert served(isvc(autoscaling={"maxReplicas": 1, "metrics": [metric]}), model()).needs == {"metrics-server"}
