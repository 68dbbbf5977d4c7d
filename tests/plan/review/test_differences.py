"""Which fields of two objects differ, and what belongs together in lists."""

from typing import Any

import pytest

from components.plan.review.differences import MISSING, differences, fixed_fields, is_within, parse_path, path_text

NAMED = [{"name": "a", "v": 1}, {"name": "b", "v": 2}]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(NAMED, [NAMED[0], {"name": "b", "v": 3}], [("[b].v", 2, 3)], id="an item by its name"),
        pytest.param(
            NAMED, [{"name": "new"}, *NAMED], [("[new]", MISSING, {"name": "new"})], id="one before all others"
        ),
        pytest.param(NAMED, NAMED[1:], [("[a]", NAMED[0], MISSING)], id="one that goes"),
        pytest.param(
            NAMED,
            NAMED[::-1],
            [("[0].name", "a", "b"), ("[0].v", 1, 2), ("[1].name", "b", "a"), ("[1].v", 2, 1)],
            id="another order, which names would hide",
        ),
        pytest.param(
            [{"name": "a"}, {"name": "a"}],
            [{"name": "a"}],
            [("", [{"name": "a"}, {"name": "a"}], [{"name": "a"}])],
            id="names that are not unique",
        ),
        pytest.param(["--a", "1"], ["--a", "2"], [("[1]", "1", "2")], id="a word of a command"),
        pytest.param(["--a", "1", "--c"], ["--a", "1", "--b", "--c"], [("[2]", MISSING, "--b")], id="a further word"),
        pytest.param(["--a", "--b"], ["--b"], [("[0]", "--a", MISSING)], id="a word that goes"),
        pytest.param([1], [1, 2], [("", [1], [1, 2])], id="numbers, whole"),
        pytest.param({"a": None}, {}, [("a", None, MISSING)], id="null is something"),
        pytest.param({"a": 1}, {"a": True}, [("a", 1, True)], id="one is not true"),
        pytest.param([], ["x"], [("", [], ["x"])], id="a list that was empty"),
    ],
)
def test_what_differs(old: Any, new: Any, expected: list[tuple[str, Any, Any]]) -> None:
    assert [(path_text(path), before, after) for path, before, after in differences(old, new)] == expected


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("containers[main].image", ("containers", "main", "image")),
        ('labels["a.b/c"].x', ("labels", "a.b/c", "x")),
        ("a[0].b", ("a", "0", "b")),
    ],
)
def test_paths_are_read_as_they_are_written(text: str, steps: tuple[str, ...]) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize(
    ("inputs", "path", "fixed"),
    [
        ({"kind": "Deployment"}, "spec.selector.matchLabels.app", True),
        ({"kind": "Deployment"}, "spec.template.spec", False),
        ({"kind": "Deployment"}, "metadata.name", True),
        ({"kind": "Deployment"}, "metadata.labels", False),
        ({"kind": "PersistentVolumeClaim"}, "spec.storageClassName", True),
        ({"kind": "PersistentVolumeClaim"}, "spec.resources.requests.storage", False),
        ({"kind": "ConfigMap", "immutable": True}, "data.x", True),
        ({"kind": "ConfigMap"}, "data.x", False),
    ],
)
def test_what_no_update_can_change(inputs: dict[str, Any], path: str, *, fixed: bool) -> None:
    assert is_within(parse_path(path), fixed_fields(inputs)) is fixed
