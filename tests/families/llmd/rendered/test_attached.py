"""Which workload a VariantAutoscaling scales: that of its name and namespace, whatever family it is of."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from components.families import parse
from components.fleet.options import Options
from components.fleet.words import Realization, WorkloadChoice
from components.plan.rendering import render_fleet
from tests.families.kthena.serving.support import model_serving, role
from tests.families.llmd import support
from tests.families.llmd.support import Object, told, variant

Make = Callable[..., list[Object]]
OPERATORS: Any = {"realization": Realization.OPERATOR, "realizations": {"llmd": Realization.NATIVE}}
"""Models are left to their operators, variants are not."""


class TestMissing:
    def test_names_are_told(self) -> None:
        ((who, path, reason),) = told(*support.of_llmkube("chat"), *support.of_lws("code"), variant("chta"))
        assert (who, path) == ("VariantAutoscaling/chta", "metadata.name")
        assert reason.startswith("no workload named 'chta'; did you mean 'chat'? (available: chat, code); ")

    def test_there_are_none(self) -> None:
        ((_, _, reason),) = told(variant())
        assert reason.startswith("no workload named 'chat' (none exist); it has the name and namespace of the")

    def test_it_is_in_another_namespace(self) -> None:
        ((_, path, reason),) = told(*support.of_llmkube(namespace="other"), variant())
        assert path == "metadata.name"
        assert reason.endswith("it exists in namespace other, but must be in ns, where this one is")

    def test_the_default_namespace_counts(self) -> None:
        """A VariantAutoscaling without namespace is where the environment's models are."""
        document = variant(namespace=None)
        assert told(*support.of_lws(namespace="models"), document, namespace="models") == []
        ((_, _, reason),) = told(*support.of_lws(namespace="models"), document, namespace="others")
        assert "it exists in namespace models, but must be in others" in reason

    def test_a_workload_with_another_name_than_its_resource(self) -> None:
        ((_, _, reason),) = told(*support.of_booster(), variant())
        assert reason == (
            "ModelBooster/chat becomes LeaderWorkerSet 'chat-l4'; name the VariantAutoscaling like the one that it "
            "scales"
        )


class TestFirstCauses:
    """Where the workload's own resource is wrong, that alone is told."""

    @pytest.mark.parametrize("name", ["chat", "chat-l4"])
    def test_what_could_not_be_rendered(self, name: str) -> None:
        broken = support.of_booster()
        broken[0]["spec"]["backends"][0]["workers"][0]["config"] = {"no-such-flag": 1, "max-model-len": "x"}
        problems = told(*broken, variant(name))
        assert problems
        assert {who for who, _, _ in problems} == {"ModelBooster/chat"}

    def test_a_reference_to_nothing(self) -> None:
        ((who, path, _),) = told(support.of_llmkube()[1], variant())
        assert (who, path) == ("InferenceService/chat", "spec.modelRef")

    def test_what_could_not_be_read(self) -> None:
        broken = support.of_llmkube()
        broken[1]["spec"]["replicas"] = "many"
        manifests = parse(yaml.safe_dump_all([*broken, variant()]), "fleet.yaml")
        assert [each.name for each in manifests.problems] == ["chat"]
        found = render_fleet(manifests.resources, Options(levels=support.levels()), unread=manifests.problems)
        assert [str(each) for each in found.problems] == []

    def test_a_wrong_resource_of_another_name_is_no_excuse(self) -> None:
        problems = told(support.of_llmkube("code")[1], variant())
        assert sorted(who for who, _, _ in problems) == ["InferenceService/code", "VariantAutoscaling/chat"]

    def test_a_wrong_resource_in_another_namespace_is_no_excuse(self) -> None:
        problems = told(support.of_llmkube(namespace="other")[1], variant())
        assert sorted(who for who, _, _ in problems) == ["InferenceService/chat", "VariantAutoscaling/chat"]

    def test_a_wrong_variant_is_no_excuse_for_another(self) -> None:
        problems = told(variant("chat"), variant("chat-large"))
        assert sorted(who for who, _, _ in problems) == ["VariantAutoscaling/chat", "VariantAutoscaling/chat-large"]


class TestLeftToOperators:
    """Operators set the replicas of what they make themselves: LLMKube spec 4.5, llmaz spec 2.6, Kthena spec 3.2."""

    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            (
                support.of_llmaz,
                "Playground/chat is left to an operator, which resets the replicas of LeaderWorkerSet 'chat' to "
                "those of Playground/chat; render that natively",
            ),
            (
                support.of_llmkube,
                "InferenceService/chat is left to an operator, which resets the replicas of Deployment 'chat' to "
                "those of InferenceService/chat; render that natively",
            ),
            (
                support.of_kthena,
                "ModelServing/chat is left to an operator, which creates its pods one by one, without a Deployment "
                "or LeaderWorkerSet that could be scaled; render that natively",
            ),
        ],
    )
    def test_cannot_be_scaled(self, make: Make, reason: str) -> None:
        ((who, path, found),) = told(
            *make(),
            variant(),
            **OPERATORS,
            tolerates_devices=True,
        )
        assert (who, path) == ("VariantAutoscaling/chat", "metadata.name")
        assert found.startswith(reason)

    def test_what_no_operator_makes_can(self) -> None:
        assert told(*support.of_lws(), variant(), **OPERATORS) == []


class TestSeveralWorkloads:
    @pytest.mark.parametrize("name", ["chat", "chat-0-a-0"])
    def test_cannot_be_scaled(self, name: str) -> None:
        ((_, path, reason),) = told(model_serving("chat", role("a"), role("b")), variant(name))
        assert path == "metadata.name"
        assert reason == (
            "ModelServing/chat becomes 2 LeaderWorkerSets with one replica each, such as 'chat-0-a-0', which cannot "
            "be scaled; scale a resource that becomes a single workload"
        )


class TestReplicas:
    @pytest.mark.parametrize(
        "make",
        [support.of_llmaz, support.of_llmkube, support.of_kthena, support.of_lws],
        ids=lambda make: make.__name__,
    )
    @pytest.mark.parametrize("replicas", [0, 2])
    def test_have_no_effect(self, make: Make, replicas: int) -> None:
        document = make()[-1]
        found = told(*make(replicas=replicas), variant(), severity="warning")
        title = f"{document['kind']}/chat"
        reason = "has no effect: VariantAutoscaling/chat owns the replicas; remove it"
        assert (title, "spec.replicas", reason) in found

    def test_of_a_resource_that_stands_for_the_one_with_the_workload(self) -> None:
        """A ModelBooster must say how many there are; that is where it is told, and it need not go."""
        found = told(*support.of_booster(), variant("chat-l4"), severity="warning")
        ((who, path, reason),) = [each for each in found if "owns the replicas" in each[2]]
        assert (who, path) == ("ModelBooster/chat", "spec.backends[0].minReplicas")
        assert reason.endswith("has no effect: VariantAutoscaling/chat-l4 owns the replicas")

    def test_none_are_written(self) -> None:
        found = told(*support.of_llmkube(), variant(), severity="warning")
        assert [path for _, path, _ in found if path == "spec.replicas"] == []


def test_the_choice_of_workloads_does_not_matter() -> None:
    assert told(*support.of_llmaz(), variant(), workload=WorkloadChoice.LWS) == []
