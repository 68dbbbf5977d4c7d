"""What is wrong with several variants together: the controller looks at all of a cluster at once (WVA spec 5)."""

from decimal import Decimal
from typing import Any

import pytest

from components.fleet.levels import Accelerator, LatencyTargets, Load, ServiceClass, ServiceLevels
from components.fleet.words import Realization
from tests.families.llmd import support
from tests.families.llmd.refused.support import NATIVE, OPERATOR, refusals, told
from tests.families.llmd.support import MODEL, per_minute, profile, variant


def asked_of(*names: str, models: tuple[str, ...] = (MODEL,)) -> ServiceLevels:
    """The same promise for models, and the same load for variants."""
    classes = (ServiceClass("Premium", 1, {model: LatencyTargets(24, 500) for model in models}),)
    loads: dict[str, Load] = {name: per_minute(40) for name in names}
    return ServiceLevels(classes, loads, {"L4": Accelerator(Decimal(40))})


def test_several_variants_of_a_model_in_a_namespace() -> None:
    """WVA spec 5: the load of the model would be counted twice; natively each has a load of its own."""
    documents = [*support.of_llmkube("a"), *support.of_llmkube("b"), variant("a"), variant("b")]
    ((who, path, reason),) = refusals(*documents, asked=asked_of("a", "b"), how=OPERATOR)
    assert (who, path) == ("VariantAutoscaling/b", "spec.modelID")
    assert "'tiny' is the model of VariantAutoscaling/a in models.yaml:" in reason
    assert "namespace 'ns'" in reason
    assert refusals(*documents, asked=asked_of("a", "b"), how=NATIVE) == []


def test_the_same_model_in_two_namespaces() -> None:
    documents = [*support.of_llmkube("a"), *support.of_llmkube("b", namespace="other")]
    variants = [variant("a"), variant("b", namespace="other")]
    for how in Realization:
        assert refusals(*documents, *variants, asked=asked_of("a", "b"), how=how) == []


def test_the_same_name_in_two_namespaces() -> None:
    """WVA spec 5: the controller's results are kept by name."""
    arguments = ["--served-model-name", "other"]
    documents = [*support.of_llmkube(), *support.of_llmkube(namespace="other", extraArgs=arguments)]
    variants = [variant(), variant(namespace="other", modelID="other")]
    asked = asked_of("chat", models=(MODEL, "other"))
    ((who, path, reason),) = refusals(*documents, *variants, asked=asked, how=OPERATOR)
    assert (who, path) == ("VariantAutoscaling/chat", "metadata.name")
    assert "VariantAutoscaling/chat in models.yaml:" in reason
    assert "namespace 'ns'" in reason
    assert refusals(*documents, *variants, asked=asked, how=NATIVE) == []


@pytest.mark.parametrize(
    "other", [{"alpha": "20.59"}, {"beta": "0.5"}, {"alpha": "20.58", "beta": "0.41", "count": 2}], ids=str
)
def test_two_answers_for_a_model_on_an_accelerator(other: dict[str, Any]) -> None:
    """WVA spec 5: profiles are kept by model and accelerator; an entry for comparison counts too."""
    documents = [*support.of_llmkube("a"), *support.of_llmkube("b", namespace="other")]
    pair = [
        variant("a", profile(), profile("H100")),
        variant("b", profile(), profile("H100", **other), namespace="other"),
    ]
    ((who, path, reason),) = refusals(*documents, *pair, asked=asked_of("a", "b"), how=OPERATOR)
    assert (who, path) == ("VariantAutoscaling/b", "spec.modelProfile.accelerators[1]")
    assert "alpha 20.58, beta 0.41, accCount 1" in reason
    assert "VariantAutoscaling/a in models.yaml:" in reason
    found = told(*documents, *pair, asked=asked_of("a", "b"), how=NATIVE)
    assert "one of the two measurements may be out of date" in found["spec.modelProfile.accelerators[1]"]


def test_the_same_answer_in_other_digits_is_one() -> None:
    """The batch is each variant's own."""
    documents = [*support.of_llmkube("a"), *support.of_llmkube("b", namespace="other")]
    pair = [variant("a"), variant("b", profile(alpha="020.580", beta="0.4100", batch=8), namespace="other")]
    for how in Realization:
        assert told(*documents, *pair, asked=asked_of("a", "b"), how=how) == {}
