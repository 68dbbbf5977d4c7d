"""Sequences of edits: a VariantAutoscaling changes the replicas of its workload, and nothing else of anybody."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from components.fleet.levels import LatencyTargets, ServiceLevels
from components.fleet.objects import key_of
from components.fleet.rendered import Fleet
from components.fleet.shapes import shape_of
from tests.families.llmd import support
from tests.families.llmd.support import Object, levels, per_minute, profile, variant
from tests.fleets import errors, fleet_of

Made = dict[tuple[str, str, str], Object]
FAMILIES: dict[str, Callable[..., list[Object]]] = {
    "llmaz": support.of_llmaz,
    "llmkube": support.of_llmkube,
    "kthena": support.of_kthena,
    "by hand": support.of_lws,
}
HPA = ("HorizontalPodAutoscaler", "ns", "chat-va")


def made(*documents: Object, **options: Any) -> Made:
    """The objects of documents without an error, by what identifies them."""
    found = fleet_of(*documents, **{"levels": levels(), **options})
    assert [str(each) for each in errors(found)] == []
    return objects_in(found)


def objects_in(found: Fleet) -> Made:
    return {key_of(body): body for body in found.objects}


def without_replicas(bodies: Made) -> Made:
    """The same with no replicas anywhere."""
    stripped = copy.deepcopy(bodies)
    for body in stripped.values():
        body.get("spec", {}).pop("replicas", None)
    return stripped


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Callable[..., list[Object]]:
    return FAMILIES[request.param]


class TestOneVariant:
    def test_comes_and_goes(self, family: Callable[..., list[Object]]) -> None:
        before = made(*family())
        scaled = made(*family(), variant())
        assert scaled.keys() - before.keys() == {HPA}
        del scaled[HPA]
        assert without_replicas(scaled) == without_replicas(before)
        assert all("replicas" not in body["spec"] for body in scaled.values() if shape_of(body))
        assert made(*family()) == before

    def test_another_model_is_left_alone(self, family: Callable[..., list[Object]]) -> None:
        others = [*support.of_llmkube("other"), *support.of_lws("third")]
        before = made(*others)
        after = made(*others, *family(), variant())
        assert {key: after[key] for key in before} == before

    def test_the_order_of_the_files_does_not_matter(self, family: Callable[..., list[Object]]) -> None:
        assert made(variant(), *reversed(family())) == made(*family(), variant())

    def test_another_load_changes_bounds_alone(self, family: Callable[..., list[Object]]) -> None:
        before, after = (made(*family(), variant(), levels=levels(per_minute(rate))) for rate in (40, 200))
        assert (before[HPA]["spec"]["maxReplicas"], after[HPA]["spec"]["maxReplicas"]) == (2, 8)
        after[HPA]["spec"]["maxReplicas"] = 2
        assert after == before

    def test_another_promise_changes_the_autoscaler_alone(self, family: Callable[..., list[Object]]) -> None:
        before, after = (
            made(*family(), variant(), levels=levels(per_minute(200), targets))
            for targets in (LatencyTargets(24, 500), LatencyTargets(24, 5000))
        )
        assert after.pop(HPA)["spec"]["maxReplicas"] < before.pop(HPA)["spec"]["maxReplicas"]
        assert after == before

    def test_another_price_changes_nothing(self, family: Callable[..., list[Object]]) -> None:
        assert made(*family(), variant(), levels=levels(L4="999")) == made(*family(), variant())

    def test_another_profile_keeps_the_name(self, family: Callable[..., list[Object]]) -> None:
        """Names are for life: that of the autoscaler depends on nothing but the workload's."""
        assert HPA in made(*family(), variant("chat", profile(alpha="7.77", beta="0.15")))


class TestRenamed:
    def test_the_workload_alone(self, family: Callable[..., list[Object]]) -> None:
        found = fleet_of(*family("talk"), variant(), levels=levels())
        ((problem),) = errors(found)
        assert (problem.name, problem.path) == ("chat", "metadata.name")
        assert "(available: talk)" in problem.reason
        # What is right is still planned as it was without.
        assert objects_in(found) == made(*family("talk"))

    def test_the_variant_as_well(self, family: Callable[..., list[Object]]) -> None:
        """Everything has a new name, and the load must follow: nothing silently keeps the old one."""
        documents = [*family("talk"), variant("talk")]
        ((problem),) = errors(fleet_of(*documents, levels=levels()))
        assert "set serviceLevels.loads: {ns/talk: " in problem.reason
        renamed = made(*documents, levels=levels(name="talk"))
        assert ("HorizontalPodAutoscaler", "ns", "talk-va") in renamed
        assert HPA not in renamed


class TestMoved:
    def test_the_workload_alone(self, family: Callable[..., list[Object]]) -> None:
        (problem,) = errors(fleet_of(*family(namespace="other"), variant(), levels=levels()))
        assert problem.reason.endswith("it exists in namespace other, but must be in ns, where this one is")

    def test_both(self, family: Callable[..., list[Object]]) -> None:
        """The load of a name counts in every namespace, that of a qualified name in its own."""
        moved = made(*family(namespace="other"), variant(namespace="other"))
        assert ("HorizontalPodAutoscaler", "other", "chat-va") in moved
        qualified = levels(name="ns/chat")
        (problem,) = errors(fleet_of(*family(namespace="other"), variant(namespace="other"), levels=qualified))
        assert "set serviceLevels.loads: {other/chat: " in problem.reason


class TestTakenAway:
    @pytest.mark.parametrize(
        ("left", "path"),
        [
            (ServiceLevels(levels().classes), "metadata.name"),
            (ServiceLevels(loads=levels().loads), "spec.modelID"),
        ],
        ids=["loads", "classes"],
    )
    def test_settings(self, family: Callable[..., list[Object]], left: ServiceLevels, path: str) -> None:
        (problem,) = errors(fleet_of(*family(), variant(), levels=left))
        assert problem.path == path

    def test_the_workload(self) -> None:
        (problem,) = errors(fleet_of(variant(), levels=levels()))
        assert (problem.kind, problem.path) == ("VariantAutoscaling", "metadata.name")


def test_the_same_name_in_two_namespaces() -> None:
    """Natively they have nothing in common but a load that is given for the name alone."""
    both = made(
        *support.of_llmkube(),
        *support.of_llmkube(namespace="other"),
        variant(),
        variant(namespace="other"),
    )
    assert {key for key in both if key[0] == HPA[0]} == {HPA, ("HorizontalPodAutoscaler", "other", "chat-va")}
