"""llmaz spec 2.8: autoscaling."""

from typing import Any

import pytest

from components.fleet.words import WorkloadChoice
from tests.families.llmaz.services import CPU, HPA, MODEL, PODS, QUEUE
from tests.fleets import (
    fleet_of,
    objects,
    playground,
    runtime,
    the_error,
    workload_of,
)


class TestScaling:
    OWN = runtime(recommendedConfigs=[
        {"name": "default"},
        {"name": "busy", "scaleTrigger": {"hpa": {"metrics": [PODS]}}},
    ])  # fmt: skip

    def elastic(self, trigger: Any = None, config: str = "default", **bounds: int) -> dict[str, Any]:
        triggered = {"scaleTrigger": trigger} if trigger else {}
        return playground(
            elasticConfig={**bounds, **triggered},
            backendRuntimeConfig={"backendName": "own", "configName": config},
        )

    @pytest.mark.parametrize(
        ("workload", "target"),
        [
            (WorkloadChoice.AUTO, {"apiVersion": "apps/v1", "kind": "Deployment", "name": "p"}),
            (
                WorkloadChoice.LWS,
                {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "p"},
            ),
        ],
    )
    def test_the_autoscaler_owns_the_replicas_of_the_workload(self, workload: WorkloadChoice, target: Any) -> None:
        made = objects(MODEL, self.OWN, self.elastic(HPA, minReplicas=2, maxReplicas=5), workload=workload)
        assert made["HorizontalPodAutoscaler"] == {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 5, **HPA["hpa"]},
        }
        assert "replicas" not in made[target["kind"]]["spec"]

    def test_without_upper_bound_it_is_the_constant_of_llmaz(self) -> None:
        spec = objects(MODEL, self.OWN, self.elastic(HPA))["HorizontalPodAutoscaler"]["spec"]
        assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 99999)

    def test_no_metrics_leave_the_choice_to_kubernetes(self) -> None:
        spec = objects(MODEL, self.OWN, self.elastic({"hpa": {}}))["HorizontalPodAutoscaler"]["spec"]
        assert not {"metrics", "behavior"} & set(spec)

    def test_a_named_configuration_brings_its_trigger(self) -> None:
        made = objects(MODEL, self.OWN, self.elastic(config="busy", maxReplicas=3))
        assert made["HorizontalPodAutoscaler"]["spec"]["metrics"] == [PODS]

    def test_the_users_trigger_wins(self) -> None:
        made = objects(MODEL, self.OWN, self.elastic(HPA, config="busy", maxReplicas=3))
        assert made["HorizontalPodAutoscaler"]["spec"]["metrics"] == [CPU]

    def test_a_recommended_trigger_without_bounds_makes_none(self) -> None:
        spec: dict[str, Any] = {"backendRuntimeConfig": {"backendName": "own", "configName": "busy"}}
        assert "HorizontalPodAutoscaler" not in objects(MODEL, self.OWN, playground(**spec))

    def test_bounds_without_trigger_name_what_is_missing(self) -> None:
        """Bounds that nothing applies are an error (decision 58)."""
        problem = the_error(MODEL, self.OWN, self.elastic(maxReplicas=3))
        assert problem.path == "spec.elasticConfig"
        assert "scaleTrigger" in problem.reason

    @pytest.mark.parametrize(
        ("metrics", "needs"),
        [
            ([CPU], {"metrics-server"}),
            ([], {"metrics-server"}),
            ([PODS], {"custom-metrics"}),
            ([QUEUE, CPU], {"external-metrics", "metrics-server"}),
        ],
    )
    def test_what_it_needs_of_the_cluster(self, metrics: list[Any], needs: set[str]) -> None:
        trigger = {"hpa": {"metrics": metrics}} if metrics else {"hpa": {}}
        (item,) = fleet_of(MODEL, self.OWN, self.elastic(trigger)).rendered
        assert item.needs == needs

    def test_demand_starts_at_the_lower_bound(self) -> None:
        (item,) = fleet_of(MODEL, self.OWN, self.elastic(HPA, minReplicas=2, maxReplicas=5)).rendered
        assert workload_of(item).replicas == 2
        assert [(demand.pods, demand.max_pods) for demand in item.pods] == [(2, 5)]

    def test_the_autoscaler_comes_after_its_target(self) -> None:
        (item,) = fleet_of(MODEL, self.OWN, self.elastic(HPA)).rendered
        assert [body["kind"] for body in item.objects] == ["Deployment", "Service", "HorizontalPodAutoscaler"]

    def test_replicas_beside_an_autoscaler_are_pointed_out(self) -> None:
        document = self.elastic(HPA)
        document["spec"]["replicas"] = 2
        (problem,) = fleet_of(MODEL, self.OWN, document).problems
        assert (problem.severity, problem.path) == ("warning", "spec.replicas")
