"""What a VariantAutoscaling says of its model, as numbers."""

from decimal import Decimal
from typing import Any

import pytest

from components.families import objects, variants
from components.fleet.levels import Load
from components.performance.sizing.cases import ModelVariant, Profile

VARIANT: dict[str, Any] = {
    "apiVersion": "llmd.ai/v1alpha1",
    "kind": "VariantAutoscaling",
    "metadata": {"name": "chat", "labels": {"inference.optimization/acceleratorName": "A100"}},
    "spec": {
        "modelID": "default/default",
        "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
        "modelProfile": {
            "accelerators": [
                {"acc": "A100", "accCount": 1, "alpha": "20.58", "beta": "0.41", "maxBatchSize": 4},
                {"acc": "G2", "accCount": 2, "alpha": "17", "beta": "0.34", "maxBatchSize": 8},
            ]
        },
    },
}


def described(**changes: Any) -> ModelVariant:
    manifests = objects([{**VARIANT, **changes}])
    assert manifests.problems == ()
    (found,) = variants(manifests.resources)
    return found


def test_profiles_and_accelerator() -> None:
    found = described()
    assert (found.source.title, found.model, found.accelerator) == (
        "VariantAutoscaling/chat",
        "default/default",
        "A100",
    )
    assert found.profiles == (Profile("A100", 1, 20.58, 0.41, 4), Profile("G2", 2, 17.0, 0.34, 8))


def test_without_a_label_it_runs_on_none() -> None:
    assert described(metadata={"name": "chat"}).accelerator == ""


def observed(rate: str, length: str) -> dict[str, Any]:
    numbers = {"numReplicas": 1, "maxBatch": 256, "variantCost": "40.00", "itlAverage": "21.5", "waitAverage": "70"}
    return {"currentAlloc": {"accelerator": "A100", **numbers, "load": {"arrivalRate": rate, "avgLength": length}}}


def test_what_was_observed_is_its_load() -> None:
    assert described(status=observed("41.32", "178.00")).load == Load(Decimal("41.32"), Decimal(178))


@pytest.mark.parametrize("rate", ["", "-1", "1e3", "NaN", "40.00\n"])
def test_what_is_no_number_is_no_load(rate: str) -> None:
    assert described(status=observed(rate, "178")).load is None
    assert described().load is None


def test_other_kinds_describe_none() -> None:
    other = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat"},
        "spec": {
            "leaderWorkerTemplate": {
                "workerTemplate": {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.10.1"}]}}
            }
        },
    }
    manifests = objects([other])
    assert manifests.problems == ()
    assert variants(manifests.resources) == ()
