"""What those find that are attached to the workloads of other resources."""

import pytest

from components.contract.problems import Problem, Severity
from components.fleet.library import Library
from components.fleet.rendered import Rendered
from tests.families.llmd import support
from tests.fleets import fleet_of, read


def library(*items: Rendered, unread: tuple[Problem, ...] = ()) -> Library:
    found = Library((), "models", unread)
    for item in items:
        found.add(item)
    return found


def rendered(name: str = "chat", namespace: str = "ns") -> Rendered:
    return fleet_of(*support.of_lws(name, namespace)).rendered[0]


def booster() -> Rendered:
    return fleet_of(*support.of_booster()).rendered[0]


def unread(kind: str, name: str, severity: Severity = Severity.ERROR) -> tuple[Problem, ...]:
    return (Problem(file="a.yaml", line=1, kind=kind, name=name, path="spec", reason="is wrong", severity=severity),)


class TestWorkloads:
    def test_are_found_by_namespace_and_name(self) -> None:
        item = rendered()
        found = library(item).workload("ns", "chat")
        assert found
        assert found == (item, item.workloads[0])

    @pytest.mark.parametrize(("namespace", "name"), [("ns", "other"), ("models", "chat"), ("", "chat")])
    def test_others_are_not(self, namespace: str, name: str) -> None:
        assert library(rendered()).workload(namespace, name) is None

    def test_the_first_of_a_name_counts(self) -> None:
        first = rendered()
        found = library(first, rendered()).workload("ns", "chat")
        assert found
        assert found[0] is first

    def test_have_names_of_their_own(self) -> None:
        there = library(booster())
        assert there.workload("ns", "chat") is None
        assert there.workload("ns", "chat-l4")
        item = there.item("ns", "chat")
        assert item
        assert item.title == "ModelBooster/chat"

    def test_are_listed(self) -> None:
        there = library(rendered("b"), rendered("a"), rendered("c", "other"))
        assert there.workload_names("ns") == ["a", "b"]
        assert there.workload_names("nowhere") == []

    def test_namespaces(self) -> None:
        there = library(rendered("a", "two"), rendered("a", "one"), rendered("b"))
        assert there.namespaces_with_workload("a") == ["one", "two"]
        assert there.namespaces_with_workload("c") == []


class TestLost:
    """What is wrong at a resource is told there alone, and not again at what it should have become."""

    @pytest.mark.parametrize("name", ["chat", "chat-l4"])
    def test_not_rendered(self, name: str) -> None:
        there = library()
        there.lose(read(support.of_lws()[0]))
        assert there.is_lost("ns", name, "Other")
        assert not there.is_lost("models", name, "Other")

    def test_not_rendered_in_the_default_namespace(self) -> None:
        document = support.of_lws()[0]
        del document["metadata"]["namespace"]
        there = library()
        there.lose(read(document))
        assert there.is_lost("models", "chat", "Other")

    def test_not_read(self) -> None:
        there = library(unread=unread("Playground", "chat"))
        assert there.is_lost("anywhere", "chat", "VariantAutoscaling")

    @pytest.mark.parametrize(
        "problems",
        [
            (),
            # Of a kind that becomes no workload.
            unread("VariantAutoscaling", "chat"),
            # A warning: it was read.
            unread("Playground", "chat", Severity.WARNING),
            # What is no YAML has no name.
            unread("", ""),
            unread("Playground", "ch"),
        ],
    )
    def test_nothing_is_lost(self, problems: tuple[Problem, ...]) -> None:
        assert not library(unread=problems).is_lost("ns", "chat", "VariantAutoscaling")
