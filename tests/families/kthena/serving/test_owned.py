"""Serving groups whose number an autoscaler decides."""

from typing import Any

from components.fleet.words import Realization
from tests.families.kthena.serving.support import model_serving
from tests.fleets import errors, fleet_of, warnings

Object = dict[str, Any]
API = "workload.serving.volcano.sh/v1alpha1"
POLICY: Object = {
    "apiVersion": API,
    "kind": "AutoscalingPolicy",
    "metadata": {"name": "busy", "namespace": "ns"},
    "spec": {"metrics": [{"metricName": "kthena:num_requests_waiting", "targetValue": 10}]},
}
BINDING: Object = {
    "apiVersion": API,
    "kind": "AutoscalingPolicyBinding",
    "metadata": {"name": "bound", "namespace": "ns"},
    "spec": {
        "policyRef": {"name": "busy"},
        "scalingConfiguration": {"target": {"targetRef": {"name": "ms"}}, "minReplicas": 1, "maxReplicas": 3},
    },
}


def warned(*documents: Object, **options: Any) -> list[tuple[str, str]]:
    fleet = fleet_of(*documents, **options)
    assert errors(fleet) == []
    return [(problem.path, problem.reason) for problem in warnings(fleet) if problem.kind == "ModelServing"]


def test_a_number_beside_an_autoscaler_has_no_effect() -> None:
    assert warned(model_serving("ms", replicas=2), POLICY, BINDING) == [
        (
            "spec.replicas",
            "has no effect: the autoscaler of AutoscalingPolicyBinding 'bound' owns the replicas; remove it",
        )
    ]


def test_no_number_or_no_autoscaler_is_no_matter() -> None:
    assert warned(model_serving("ms"), POLICY, BINDING) == []
    assert warned(model_serving("ms", replicas=1)) == []


def test_the_controller_begins_with_the_number() -> None:
    fleet = fleet_of(model_serving("ms", replicas=2), POLICY, BINDING, realization=Realization.OPERATOR)
    assert [p for p in fleet.problems if (p.kind, p.path) == ("ModelServing", "spec.replicas")] == []
