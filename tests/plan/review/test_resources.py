"""What becomes of resources: by URN, by aliases, by the object that they stand for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.plan.review.cascade import URN
from components.plan.review.resources import resource_changes
from components.plan.review.review import ChangeKind, FieldDifference
from components.plan.review.snapshot import RegisteredResource
from tests.plan.review.revisions import changed, cloud, deployment, resource

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
OLD = resource(deployment())


def kinds(before: list[RegisteredResource], after: list[RegisteredResource]) -> list[tuple[ChangeKind, str]]:
    return [(change.kind, change.title) for change in resource_changes(before, after)]


def test_what_comes_and_goes() -> None:
    other = resource(deployment("other"))
    assert kinds([OLD], [other]) == [
        (ChangeKind.DELETED, "Deployment ml/chat"),
        (ChangeKind.CREATED, "Deployment ml/other"),
    ]


def test_a_field_that_changes_in_place() -> None:
    new = resource(changed(deployment(), "spec.replicas", 3))
    (change,) = resource_changes([OLD], [new])
    assert change.kind is ChangeKind.UPDATED
    assert change.fields == (FieldDifference("spec.replicas", None, "3"),)


def test_a_field_that_no_update_can_change() -> None:
    before = resource(deployment(selector={"matchLabels": {"app": "a"}}))
    after = resource(deployment(selector={"matchLabels": {"app": "b"}}))
    (change,) = resource_changes([before], [after])
    assert change.kind is ChangeKind.REPLACED
    assert change.fields == (FieldDifference("spec.selector.matchLabels.app", "a", "b", replaces=True),)


def test_a_renamed_resource_with_an_alias_is_the_same() -> None:
    assert kinds([OLD], [resource(deployment(), "fleet2-chat", former=(OLD.urn,))]) == []


def test_a_renamed_resource_without_an_alias_is_replaced() -> None:
    """As after a ModelFleet was renamed: the objects have their names still, and Pulumi would not know them."""
    renamed = resource(deployment(), "fleet2-chat")
    (change,) = resource_changes([OLD], [renamed])
    assert (change.kind, change.former) == (ChangeKind.REPLACED, OLD.urn)
    assert change.fields == (FieldDifference(URN, OLD.urn, renamed.urn, replaces=True),)


def test_an_alias_of_a_resource_that_is_still_there_is_no_move() -> None:
    copy = resource(deployment("copy"), former=(OLD.urn,))
    assert kinds([OLD], [OLD, copy]) == [(ChangeKind.CREATED, "Deployment ml/copy")]


def test_two_objects_that_exchange_their_names() -> None:
    a, b = resource(deployment("a"), "one"), resource(deployment("b"), "two")
    swapped = [resource(deployment("b"), "one"), resource(deployment("a"), "two")]
    assert kinds([a, b], swapped) == [
        (ChangeKind.REPLACED, "Deployment ml/a"),
        (ChangeKind.REPLACED, "Deployment ml/b"),
    ]


def test_components_only_hold_others() -> None:
    component = RegisteredResource("urn:pulumi:dev::p::x:index:Y::z", "x:index:Y", "Y z", {}, is_component=True)
    assert kinds([component], []) == []


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("nodeGroupName", ChangeKind.REPLACED),
        ("instanceTypes", ChangeKind.REPLACED),
        ("releaseVersion", ChangeKind.UPDATED),
        ("labels", ChangeKind.UPDATED),
    ],
)
def test_what_the_cloud_replaces(field: str, kind: ChangeKind) -> None:
    before, after = (cloud(NODE_GROUP, "g", {field: value}) for value in ("a", "b"))
    assert kinds([before], [after]) == [(kind, "g")]


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        ((), [(ChangeKind.UPDATED, "g")]),
        (("scalingConfig",), []),
        (("scalingConfig.desiredSize",), []),
        (("scalingConfig.minSize",), [(ChangeKind.UPDATED, "g")]),
    ],
)
def test_changes_that_the_program_ignores(ignored: tuple[str, ...], expected: list[Any]) -> None:
    before, after = ({"scalingConfig": {"desiredSize": size, "minSize": 0}} for size in (1, 2))
    assert kinds([cloud(NODE_GROUP, "g", before)], [cloud(NODE_GROUP, "g", after, ignored=ignored)]) == expected


def test_what_the_program_says_to_replace_on() -> None:
    before, after = (cloud("x:y:Z", "g", {"a": value}) for value in (1, 2))
    assert kinds([before], [cloud("x:y:Z", "g", after.inputs, replaced_on=("a",))]) == [(ChangeKind.REPLACED, "g")]


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
INPUTS = st.dictionaries(st.text(min_size=1, max_size=3), VALUES | st.lists(VALUES, max_size=3), max_size=4)
GRAPHS = st.dictionaries(st.sampled_from("abcdef"), INPUTS).map(
    lambda graph: [cloud("x:y:Z", name, inputs) for name, inputs in graph.items()]
)


@given(GRAPHS)
def test_nothing_becomes_of_what_stays(graph: list[RegisteredResource]) -> None:
    assert resource_changes(graph, graph[::-1]) == ()


@given(GRAPHS, GRAPHS)
def test_each_resource_is_told_of_at_most_once_and_backwards_it_is_the_opposite(
    before: list[RegisteredResource], after: list[RegisteredResource]
) -> None:
    there, back = resource_changes(before, after), resource_changes(after, before)
    opposite = {ChangeKind.CREATED: ChangeKind.DELETED, ChangeKind.DELETED: ChangeKind.CREATED}
    assert len({change.urn for change in there}) == len(there)
    assert {(change.urn, change.kind) for change in there} == {
        (change.urn, opposite.get(change.kind, change.kind)) for change in back
    }
