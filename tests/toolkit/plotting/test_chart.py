"""Blocks of text that stand for a series."""

from fractions import Fraction

import pytest

from toolkit.plotting.chart import chart


@pytest.mark.parametrize(
    ("values", "width", "height", "expected"),
    [
        ([0, 1, 2, 4], 10, 1, [" ▂▄█"]),
        ([0, 1, 2, 4], 10, 2, ["   █", " ▄██"]),
        ([Fraction(1, 1000), 1], 10, 1, ["▁█"]),
        ([0, 0], 10, 2, ["", ""]),
        ([], 10, 2, ["", ""]),
        # Four columns for eight values: the largest of each two.
        ([0, 8, 0, 4, 0, 2, 0, 0], 4, 1, ["█▄▂"]),
        ([5] * 1000, 7, 1, ["███████"]),
    ],
)
def test_chart(values: list[Fraction | int], width: int, height: int, expected: list[str]) -> None:
    assert chart(values, width, height) == expected


def test_plain() -> None:
    assert chart([0, 1, 2, 4], 10, 4, plain=True) == ["   #", "   #", "  ##", " ###"]


def test_two_charts_can_have_one_scale() -> None:
    assert chart([2, 4], 10, 2, top=8) == ["", "▄█"]
