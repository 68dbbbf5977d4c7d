"""A workload has one autoscaler."""

import pytest

from components.fleet.words import Realization
from tests.families.llmd import support
from tests.families.llmd.support import Object, fleet, told, variant, variant_in

NATIVE = {"llmd": Realization.NATIVE}
TRIGGER: Object = {
    "metrics": [
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": "vllm:num_requests_waiting"},
                "target": {"type": "AverageValue", "averageValue": "5"},
            },
        }
    ]
}


class TestOtherAutoscalers:
    """One workload, one autoscaler: an error that names both, where the variant is."""

    @pytest.mark.parametrize(
        ("documents", "other"),
        [
            (
                support.of_llmaz(
                    elasticConfig={"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": TRIGGER}}
                ),
                "Deployment 'chat' already has the autoscaler 'chat' of Playground/chat in fleet.yaml:",
            ),
            (
                support.of_llmkube(autoscaling={"minReplicas": 1, "maxReplicas": 3}),
                "Deployment 'chat' already has the autoscaler 'chat' of InferenceService/chat in fleet.yaml:",
            ),
        ],
    )
    def test_of_the_workload_itself(self, documents: list[Object], other: str) -> None:
        ((who, path, reason),) = told(*documents, variant())
        assert (who, path) == ("VariantAutoscaling/chat", "metadata.name")
        assert reason.startswith(other)
        assert reason.endswith("remove one of the two")

    def test_added_by_another_resource(self) -> None:
        ((who, path, reason),) = told(*support.of_kthena(), *support.bound("chat"), variant())
        assert (who, path) == ("VariantAutoscaling/chat", "metadata.name")
        assert reason.startswith(
            "LeaderWorkerSet 'chat' already has the autoscaler 'binding' of AutoscalingPolicyBinding/binding in"
        )

    def test_the_same_variant_twice(self) -> None:
        ((who, path, reason),) = told(*support.of_llmkube(), variant(), variant())
        assert (who, path) == ("VariantAutoscaling/chat", "metadata.name")
        assert "is already used by VariantAutoscaling/chat" in reason


def test_realization_of_the_family_alone() -> None:
    """Models may be left to operators while variants are native, and the other way round."""
    found = fleet(*support.of_lws(), variant(), realization=Realization.OPERATOR, realizations=NATIVE)
    assert [body["kind"] for body in variant_in(found).objects] == ["HorizontalPodAutoscaler"]
