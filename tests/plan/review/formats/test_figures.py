"""Figures, each worked out by hand."""

from decimal import Decimal

import pytest

from components.plan.costs.bill import Amounts
from components.plan.spans import about, span
from workbench.planning.wording.figures import (
    cents,
    integer,
    join_words,
    monthly,
    percentage,
    pluralize,
    usd,
    usd_difference,
)


@pytest.mark.parametrize(
    ("value", "text", "difference", "plain"),
    [
        ("0", "$0.00", "$0.00", "0.00"),
        ("-0.001", "$0.00", "$0.00", "0.00"),
        ("0.005", "$0.01", "+$0.01", "0.01"),  # half a cent is rounded up, as in accounting
        ("2.675", "$2.68", "+$2.68", "2.68"),
        ("1652.1", "$1,652.10", "+$1,652.10", "1652.10"),
        ("-1652.1", "-$1,652.10", "-$1,652.10", "-1652.10"),
        ("1e30", "$1" + ",000" * 10 + ".00", "+$1" + ",000" * 10 + ".00", "1" + "000" * 10 + ".00"),
    ],
)
def test_money(value: str, text: str, difference: str, plain: str) -> None:
    amount = Decimal(value)
    assert (usd(amount), usd_difference(amount), cents(amount)) == (text, difference, plain)


def test_a_month_has_730_hours() -> None:
    assert monthly(Amounts(Decimal(1), Decimal("0.5"), Decimal("2.2632"))) == Amounts(
        Decimal(730), Decimal(365), Decimal("1652.136")
    )
    assert monthly(None) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (45, "45 s"), (60, "1 min"), (270, "4 min 30 s"), (3600, "1 h"), (7_530, "2 h 5 min")],
)
def test_spans(seconds: int, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "about 0 s"),
        (119, "about 119 s"),
        (149, "about 2 min"),
        (953, "about 16 min"),
        (7250, "about 2 h 1 min"),
    ],
)
def test_estimates_are_not_more_exact_than_anybody_knows(seconds: int, text: str) -> None:
    assert about(seconds) == text


def test_shares() -> None:
    assert (percentage(1, 8), percentage(0, 0)) == ("13%", "0%")


def test_words() -> None:
    assert (pluralize(1, "model"), pluralize(0, "model"), pluralize(1_000, "model")) == (
        "1 model",
        "0 models",
        "1,000 models",
    )
    assert (pluralize(2, "is", "are"), integer(131_072)) == ("2 are", "131,072")
    assert [join_words([]), join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
