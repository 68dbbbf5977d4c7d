# ruff: noqa: E501, RUF001 - tables of values
"""Quantities, against the Kubernetes documentation of ``resource.Quantity`` and an independent reading of it."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.quantity import format_quantity, is_quantity, parse_quantity

SUFFIXES = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18), "Ki": Fraction(2**10), "Mi": Fraction(2**20),
    "Gi": Fraction(2**30), "Ti": Fraction(2**40), "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", "0"), ("500m", "0.5"), ("1.5", "1.5"), (".5", "0.5"), ("5.", "5"), ("+1", "1"), ("-1", "-1"),
        ("8Gi", "8589934592"), ("1k", "1000"), ("1Ki", "1024"), ("1e3", "1000"), ("1E3", "1000"), ("1E", str(10**18)),
        ("1e-3", "0.001"), ("0.5Gi", "536870912"), ("100n", "0.0000001"), ("12e6", "12000000"), (2, "2"), (0.5, "0.5"),
        ("1Ei", str(2**60)),
    ],
)  # fmt: skip
def test_quantities_mean_what_kubernetes_says(text: str | int | float, number: str) -> None:
    assert parse_quantity(text) == Decimal(number)


@pytest.mark.parametrize("text", ["0.1n", "0.0000000001", "1e-30", "1e-999999999"])
def test_less_than_a_billionth_is_rounded_up(text: str) -> None:
    assert parse_quantity(text) == Decimal("1e-9")
    assert parse_quantity("-" + text) == Decimal("-1e-9")


@pytest.mark.parametrize("text", ["9223372036854775808", "10E", "1e30", "1e999999999"])
def test_more_than_int64_is_capped(text: str) -> None:
    assert parse_quantity(text) == 2**63 - 1
    assert parse_quantity("-" + text) == -(2**63 - 1)


BAD = [
    "",
    " ",
    "1 Gi",
    "1GB",
    "1gi",
    "1K",
    "1KI",
    "e3",
    "1e",
    "1e1.5",
    "Gi",
    "1Gi\n",
    "\n1",
    ".",
    "+",
    "--1",
    "1..2",
    "0x1",
    "1_000",
    "١",
    "1 ",
    "1e+",
    "inf",
    "NaN",
    "1i",
]


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_quantity_is_refused_with_an_example(text: str) -> None:
    assert not is_quantity(text)
    with pytest.raises(ValueError, match="must be a quantity such as 500m, 2 or 8Gi, found"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("wrong", "right"), [("8GB", "8G"), ("8GiB", "8Gi"), ("64K", "64k"), ("8 Gi", "8Gi"), ("8g", "8G")]
)
def test_near_misses_are_corrected(wrong: str, right: str) -> None:
    with pytest.raises(ValueError, match=f"write '{right}'"):
        parse_quantity(wrong)


@pytest.mark.parametrize("value", [True, None, [], {}, 1.5, 2**63, "1" * 65])
def test_other_values_are_no_quantities(value: object) -> None:
    assert not is_quantity(value)


@given(
    sign=st.sampled_from(["", "+", "-"]),
    whole=st.integers(0, 10**12),
    fraction=st.none() | st.text("0123456789", max_size=12),
    suffix=st.sampled_from(sorted(SUFFIXES)) | st.integers(-12, 12).map(lambda e: f"e{e}"),
)
def test_every_quantity_is_its_digits_times_its_suffix(
    sign: str, whole: int, fraction: str | None, suffix: str
) -> None:
    text = f"{sign}{whole}{'' if fraction is None else '.' + fraction}{suffix}"
    factor = SUFFIXES[suffix] if suffix in SUFFIXES else Fraction(10) ** int(suffix[1:])
    exact = (Fraction(whole) + Fraction(int(fraction or 0), 10 ** len(fraction or ""))) * factor
    nano = -(-exact * 10**9 // 1)  # up, as the sign is put back afterwards
    expected = min(Fraction(nano, 10**9), Fraction(2**63 - 1)) * (-1 if sign == "-" else 1)
    assert Fraction(parse_quantity(text)) == expected


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=9))
def test_what_is_written_is_read_back(number: Decimal) -> None:
    assert parse_quantity(format_quantity(number)) == number


@pytest.mark.parametrize(
    ("number", "text"), [("4", "4"), ("0.5", "500m"), ("-2", "-2"), ("0.000001", "1u"), ("0", "0")]
)
def test_quantities_are_written_short(number: str, text: str) -> None:
    assert format_quantity(Decimal(number)) == text
