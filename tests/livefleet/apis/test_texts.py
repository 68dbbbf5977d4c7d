"""Tokens and texts: what is counted is what is sent, and the same question has the same answer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet.apis.texts import AnswerText, embedding, natural_length, planned_text, seed_of
from livefleet.apis.tokens import TokenIds, count, pieces


@given(st.text(max_size=300))
def test_pieces_are_the_text(text: str) -> None:
    found = pieces(text)
    assert "".join(found) == text
    assert count(text) == len(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("word word", ["word", " word"]),
        ("tokens", ["toke", "ns"]),
        ("a, b!", ["a", ",", " b", "!"]),
        ("  x", [" ", " x"]),
        ("über", ["über"]),
    ],
)
def test_the_rule(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_long_texts_are_counted_in_blocks() -> None:
    assert count("word " * 100_000) == pytest.approx(100_001, abs=10)


@given(st.text(max_size=50), st.integers(0, 2**64 - 1), st.integers(1, 400))
def test_an_answer_has_as_many_tokens_as_it_says(model: str, seed: int, tokens: int) -> None:
    planned = planned_text(AnswerText(model, seed), tokens + 1, tokens)
    assert (planned.tokens, planned.finish) == (tokens, "length")
    assert count(planned.sent_text) == tokens
    assert "".join(map(planned.piece, range(tokens))) == planned.sent_text


def test_an_answer_says_that_it_is_simulated() -> None:
    planned = planned_text(AnswerText("org/demo-7b", 1), 100, 200)
    assert planned.sent_text.startswith("Simulated answer of org/demo-7b: ")


def test_an_answer_ends_by_itself_or_at_its_most() -> None:
    text = AnswerText("demo", 5)
    assert planned_text(text, 10, 10).finish == "stop"
    assert planned_text(text, 10, 9).finish == "length"


@given(st.integers(0, 1000), st.integers(0, 30), st.integers(1, 8))
def test_a_stop_sequence_ends_an_answer_before_it(seed: int, start: int, length: int) -> None:
    text = AnswerText("demo", seed)
    stop = text.text(0, 100)[start : start + length]
    planned = planned_text(text, 100, 100, (stop, "nowhere at all"))
    whole = text.text(0, 100)
    assert planned.finish == "stop"
    assert planned.stop == stop
    assert planned.sent_text == whole[: whole.index(stop)]
    assert "".join(map(planned.piece, range(planned.tokens))) == planned.sent_text
    # The last token that is made has the end of the sequence.
    made = text.text(0, planned.tokens)
    assert stop in made
    assert stop not in text.text(0, planned.tokens - 1)


def test_the_first_stop_sequence_counts() -> None:
    text = AnswerText("demo", 0)
    assert planned_text(text, 50, 50, ("demo", "answer")).stop == "answer"


def test_seeds_are_of_their_parts_and_not_of_their_joint() -> None:
    assert seed_of("ab", "c") == seed_of("ab", "c")
    assert seed_of("ab", "c") != seed_of("a", "bc")
    # Half of a pair, as JSON can have it.
    assert seed_of("\ud800") != seed_of("\ud801")


def test_natural_lengths_are_neither_short_nor_endless() -> None:
    found = {natural_length(seed_of(number)) for number in range(2000)}
    assert min(found) >= 40
    assert max(found) <= 240
    assert len(found) > 150


def test_embeddings_are_unit_vectors() -> None:
    one, other = embedding("m", "a", 256), embedding("m", "b", 256)
    assert math.hypot(*one) == pytest.approx(1.0)
    assert embedding("m", "a", 256) == one
    # Those of different texts are far from one another: the cosine of random vectors is about 1/sqrt(256).
    assert abs(sum(a * b for a, b in zip(one, other, strict=True))) < 0.3


def test_numbers_of_tokens_are_found_again() -> None:
    ids = TokenIds()
    assert ids.text(ids.of("Once upon a time")) == "Once upon a time"
    assert ids.text([1]) == "\N{REPLACEMENT CHARACTER}"
    assert TokenIds().of("Once") == ids.of("Once")
