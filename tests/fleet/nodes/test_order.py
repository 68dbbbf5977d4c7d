"""One order of node groups out of the preferences of many models."""

import random

import pytest

from components.fleet.nodes.order import group_order


@pytest.mark.parametrize(
    ("preferences", "levels"),
    [
        ([], {}),
        ([["a"]], {"a": 0}),
        ([["a", "b"]], {"a": 1, "b": 0}),
        # B is the first choice of the second model, and still after A for the first.
        ([["a", "b"], ["b"]], {"a": 1, "b": 0}),
        ([["a", "b"], ["b", "c"]], {"a": 2, "b": 1, "c": 0}),
        ([["a", "c"], ["a", "b", "c"]], {"a": 2, "b": 1, "c": 0}),
        ([["a", "b"], ["c", "b"]], {"a": 1, "c": 1, "b": 0}),
        # Two flavors on nodes of one group.
        ([["a", "a", "b"]], {"a": 1, "b": 0}),
    ],
    ids=str,
)
def test_every_preference_is_followed(preferences: list[list[str]], levels: dict[str, int]) -> None:
    order = group_order(preferences)
    assert (order.levels, order.tied) == (levels, {})


def test_opposite_preferences_are_on_one_level_and_others_still_hold() -> None:
    order = group_order([["top", "a", "b", "low"], ["b", "a"]])
    assert order.levels == {"top": 2, "a": 1, "b": 1, "low": 0}
    assert order.tied == {"a": {"b"}, "b": {"a"}}


def test_a_circle_through_several_models_is_one_too() -> None:
    order = group_order([["a", "b"], ["b", "c"], ["c", "a"], ["c", "low"]])
    assert order.levels == {"a": 1, "b": 1, "c": 1, "low": 0}
    assert order.tied == {"a": {"b", "c"}, "b": {"a", "c"}, "c": {"a", "b"}}


@pytest.mark.parametrize("seed", range(50))
def test_a_preference_holds_unless_it_is_reported(seed: int) -> None:
    chance = random.Random(seed)
    preferences = [chance.sample("abcdefg", chance.randint(1, 4)) for _ in range(chance.randint(1, 6))]
    order = group_order(preferences)
    for names in preferences:
        for index, first in enumerate(names):
            for second in names[index + 1 :]:
                lost = second in order.tied.get(first, ())
                assert (order.levels[first] > order.levels[second]) is not lost
                assert (order.levels[first] == order.levels[second]) is lost
