"""Differences, ignored fields and fields that cannot change."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.plan.review.differences import parse_path
from workbench.engine.diff import changes, ignored, replacing

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 2}, [("~", "a", 1, 2)]),
        ({"a": 1}, {"a": True}, [("~", "a", 1, True)]),
        ({}, {"a": None}, [("+", "a", None, None)]),
        ({"a": {"b.c/d": "x"}}, {"a": {}}, [("-", 'a["b.c/d"]', "x", None)]),
        ({"a": [{"n": 1}, 2]}, {"a": [{"n": 3}, 2]}, [("~", "a[0].n", 1, 3)]),
        ({"a": [1]}, {"a": [1, 2]}, [("~", "a", [1], [1, 2])]),
        ({"a": {"$sealed": "x"}}, {"a": {"$sealed": "y"}}, [("~", "a", {"$sealed": "x"}, {"$sealed": "y"})]),
    ],
)
def test_changes(old: Any, new: Any, expected: list[tuple[Any, ...]]) -> None:
    assert [(c.op, c.path, c.old, c.new) for c in changes(old, new)] == expected


@given(TREES)
def test_nothing_differs_from_itself(tree: Any) -> None:
    assert changes(tree, tree) == []


@given(TREES, TREES)
def test_values_without_changes_are_equal(old: Any, new: Any) -> None:
    if not changes(old, new):
        assert old == new


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("spec.replicas", ("spec", "replicas")),
        ('metadata.annotations["a.b/c"]', ("metadata", "annotations", "a.b/c")),
        ("spec.containers[0].image", ("spec", "containers", "0", "image")),
        ("spec.containers[*].image", ("spec", "containers", "*", "image")),
    ],
)
def test_property_paths(text: str, parts: tuple[str, ...]) -> None:
    assert parse_path(text) == parts


@pytest.mark.parametrize(
    ("path", "old", "new", "kept"),
    [
        (
            "spec.replicas",
            {"spec": {"replicas": 1}},
            {"spec": {"replicas": 5, "x": 2}},
            {"spec": {"replicas": 1, "x": 2}},
        ),
        ("spec.replicas", {"spec": {}}, {"spec": {"replicas": 5}}, {"spec": {}}),
        ("spec.replicas", {"spec": {"replicas": 1}}, {"spec": {}}, {"spec": {"replicas": 1}}),
        (
            "spec.c[*].i",
            {"spec": {"c": [{"i": 1}]}},
            {"spec": {"c": [{"i": 2, "n": 3}]}},
            {"spec": {"c": [{"i": 1, "n": 3}]}},
        ),
        ('m["a.b"]', {"m": {"a.b": 1}}, {"m": {"a.b": 2, "c": 3}}, {"m": {"a.b": 1, "c": 3}}),
        ("absent.deep", {"a": 1}, {"a": 2}, {"a": 2}),
    ],
)
def test_ignored_fields_stay_what_they_were(path: str, old: Any, new: Any, kept: Any) -> None:
    assert ignored(old, new, [path]) == kept


@pytest.mark.parametrize(
    ("kind", "old", "new", "replaces"),
    [
        (
            "Deployment",
            {"spec": {"selector": {"matchLabels": {"a": "1"}}}},
            {"spec": {"selector": {"matchLabels": {"a": "2"}}}},
            True,
        ),
        ("Deployment", {"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}, False),
        ("StatefulSet", {"spec": {"serviceName": "a"}}, {"spec": {"serviceName": "b"}}, True),
        ("Service", {"spec": {"clusterIP": "None"}}, {"spec": {"clusterIP": "10.0.0.1"}}, True),
        ("Service", {"spec": {"ports": [{"port": 1}]}}, {"spec": {"ports": [{"port": 2}]}}, False),
        ("ConfigMap", {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}, True),
        ("ConfigMap", {"metadata": {"namespace": "a"}}, {"metadata": {"namespace": "b"}}, True),
        ("ConfigMap", {"metadata": {"labels": {"name": "a"}}}, {"metadata": {"labels": {"name": "b"}}}, False),
        ("ConfigMap", {"data": {"a": "1"}, "immutable": True}, {"data": {"a": "2"}, "immutable": True}, True),
    ],
)
def test_fields_that_force_a_replacement(kind: str, old: Any, new: Any, replaces: bool) -> None:
    inputs = {"kind": kind, **new}
    assert any(c.replaces for c in replacing(changes(old, new), inputs, ())) is replaces


def test_replace_on_changes_is_honoured() -> None:
    found = replacing(changes({"a": {"b": 1}}, {"a": {"b": 2}}), {"kind": "X"}, ["a"])
    assert [c.replaces for c in found] == [True]
