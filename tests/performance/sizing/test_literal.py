"""Upstream's own arithmetic, against answers of upstream's own code.

``data/upstream.jsonl`` is what optimizer-light v0.5.0 with queue-analysis v0.1.0 (pkg/core, pkg/solver, pkg/queue,
compiled for amd64) answered, with the texts and conversions of internal/collector and internal/utils of the
Workload Variant Autoscaler at c0f645c around it. The cases are those of WVA spec 8.10, rates and lengths beside the
points at which two decimals are rounded, time per token that is the same under any load, or 1 ms (where upstream's
tolerance is wrong), weights and sums that overflow, and random ones; the last thirty have several accelerators to
choose from. The second and third are in upstream's documents as well: logs in docs/hpa-integration.md and
docs/keda-integration.md.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.fleet.levels import LatencyTargets
from components.performance.sizing.cases import Behaviour, Case, Profile, Sized
from components.performance.sizing.literal.allocation import size_literally
from components.performance.sizing.literal.controller import (
    Current,
    as_read_back,
    chosen,
    cost_text,
    status_text,
    value,
)
from components.performance.sizing.queues import size
from tests.performance.sizing.vectors import DEGENERATE, PREMIUM, VECTORS

LINES = (Path(__file__).parent / "data" / "upstream.jsonl").read_text().splitlines()
ANSWERS: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def cases_of(answer: dict[str, Any]) -> list[Case]:
    targets = LatencyTargets(*answer["promise"])
    return [
        Case(
            Profile(name, count, float(alpha), float(beta), batch),
            targets,
            answer["rate"],
            answer["tokens"],
            float(cost),
            answer["least"],
        )
        for name, count, alpha, beta, batch, cost in answer["profiles"]
    ]


def current_of(answer: dict[str, Any]) -> Current:
    """Return what the variant has: its label is the first profile's accelerator."""
    name, *_, cost = answer["profiles"][0]
    status = cost_text(answer["current"], float(cost))
    return Current(name, answer["current"], float(np.float32(status)))


def same(figure: float, text: str) -> bool:
    """Whether a figure is the float32 that a text stands for: all of its bits."""
    return bool(np.float32(figure) == np.float32(text))


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['profiles'][0][2]}-{answer['rate']:g}")
def test_it_answers_what_upstream_answers(answer: dict[str, Any]) -> None:
    cases, current = cases_of(answer), current_of(answer)
    sized = size_literally([as_read_back(case) for case in cases])
    best = chosen(sized, current, keep=answer["keep"])
    if answer["found"] is None:
        assert best is None
        return
    name, replicas, cost, itl, wait, busy, most, saturated = answer["found"]
    assert best is not None
    assert isinstance(best.behaviour, Behaviour)
    assert (best.case.profile.accelerator, best.replicas, best.is_saturated) == (name, replicas, saturated)
    assert same(best.cents_per_hour, cost)
    assert same(best.most_per_minute, most)
    assert same(best.behaviour.itl_ms, itl)
    assert same(best.behaviour.wait_ms, wait)
    assert same(best.behaviour.utilisation, busy)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['profiles'][0][2]}-{answer['rate']:g}")
def test_the_texts_and_values_are_upstreams(answer: dict[str, Any]) -> None:
    cases, current = cases_of(answer), current_of(answer)
    texts = [status_text(answer["rate"]), status_text(answer["tokens"])]
    assert [*texts, cost_text(answer["current"], cases[0].cents_per_hour)] == answer["texts"]
    sized = [each for each in size_literally([as_read_back(case) for case in cases]) if each.is_feasible]
    values = {each.case.profile.accelerator: value(current, each) for each in sized}
    kept = {name: found for name, found in values.items() if not answer["keep"] or name == current.accelerator}
    assert {name: np.float32(found) for name, found in kept.items()} == {
        name: np.float32(text) for name, text in answer["values"].items()
    }


def test_the_answers_have_every_kind() -> None:
    found = [answer["found"] for answer in ANSWERS]
    assert len(found) == 164
    assert {choice[0] for choice in found[-30:] if choice} == {"A0", "A1", "A2", "A3"}
    degenerate = [a for a in ANSWERS[:-30] if float(a["profiles"][0][3]) == 0 or a["profiles"][0][4] == 1]
    assert {answer["found"] is None for answer in degenerate} == {True, False}  # rounding decides


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (2.475, "2.47"),
        (0.725, "0.73"),
        (0.004, "0.00"),
        (0.005, "0.00"),
        (0.015, "0.01"),
        (0.125, "0.12"),
        (40.0, "40.00"),
        (16_777_217.0, "16777216.00"),
        (float("nan"), "0.00"),
        (float("inf"), "0.00"),
    ],
)
def test_texts_have_two_decimals_of_single_precision(figure: float, text: str) -> None:
    """WVA spec 8.9 has the first two."""
    assert status_text(figure) == text


def test_a_length_is_rounded_before_it_is_cut_off() -> None:
    (usual,) = {vector.case for vector in VECTORS[:1]}
    lengths = [1.999, 0.999, 0.99, 178.994]
    read = [as_read_back(replace(usual, output_tokens=length)).output_tokens for length in lengths]
    assert read == [2, 1, float(np.float32(0.99)), float(np.float32(178.99))]
    without, with_one = size_literally([replace(usual, output_tokens=length) for length in (read[2], read[1])])
    assert without.behaviour is not None
    assert with_one.behaviour is not None
    assert (without.behaviour.utilisation, with_one.behaviour.utilisation > 0) == (0, True)


def test_what_is_shown_as_the_cost_leaves_out_the_accelerators_of_a_replica() -> None:
    case = VECTORS[-1].case  # four accelerators at 40 cents
    (sized,) = size_literally([case])
    assert (sized.replicas, sized.cents_per_hour) == (5, 800)
    assert cost_text(sized.replicas, case.cents_per_hour) == "200.00"


def test_both_models_agree_on_replicas() -> None:
    """WVA spec 8.9: the largest rates differ by 1.6e-5 at most."""
    cases = [vector.case for vector in VECTORS]
    for ours, theirs in zip(size(cases), size_literally(cases), strict=True):
        assert ours.replicas == theirs.replicas
        assert ours.most_per_minute == pytest.approx(theirs.most_per_minute, rel=1.6e-5)
        assert ours.limit is theirs.limit


def test_a_promise_that_follows_from_nothing_is_refused_by_the_model_alone() -> None:
    for case, _ in DEGENERATE:
        assert not size([case])[0].is_feasible
    tried = [replace(DEGENERATE[0][0], targets=LatencyTargets(24 + n, 0), output_tokens=100 + n) for n in range(40)]
    assert {each.is_feasible for each in size(tried)} == {False}


class TestChoice:
    """WVA spec 8.7."""

    @staticmethod
    def sized(name: str, replicas: int, cents: float) -> Sized:
        case = Case(Profile(name, 1, 20.58, 0.41, 4), LatencyTargets(*PREMIUM), 40.0, 178.0, cents)
        return replace(size_literally([case])[0], replicas=replicas, cents_per_hour=cents * replicas)

    def test_the_controller_never_changes_the_accelerator(self) -> None:
        dear, cheap = self.sized("A100", 2, 40), self.sized("G2", 2, 1)
        assert chosen([dear, cheap], Current("A100", 1, 40)) == dear
        assert chosen([cheap], Current("A100", 1, 40)) is None
        assert chosen([dear, cheap], Current()) == cheap  # without a label it takes any

    def test_the_library_asks_a_tenth_of_both_for_a_change(self) -> None:
        stay, change = self.sized("A100", 2, 40), self.sized("G2", 4, 17)
        current = Current("A100", 2, 80)
        assert value(current, stay) == 0
        assert value(current, change) == pytest.approx(0.1 * (80 + 68) + (68 - 80))
        assert chosen([stay, change], current, keep=False) == stay
        much_cheaper = self.sized("G2", 4, 15)
        assert chosen([stay, much_cheaper], current, keep=False) == much_cheaper

    def test_further_replicas_are_worth_their_cost(self) -> None:
        assert value(Current("A100", 1, 40), self.sized("A100", 2, 40)) == 40
        assert value(Current("A100", 3, 120), self.sized("A100", 2, 40)) == -40

    def test_of_two_with_the_same_value_the_first_name_is_taken(self) -> None:
        both = [self.sized(name, 0, 0) for name in ("B", "A")]
        assert chosen(both, Current("C", 0, 0), keep=False) == both[1]
        assert chosen(both[::-1], Current("C", 0, 0), keep=False) == both[1]


def test_it_refuses_what_it_cannot_hold() -> None:
    usual = VECTORS[0].case
    large = replace(usual, profile=replace(usual.profile, batch=8193))
    far = replace(usual, per_minute=1e39)
    negative = replace(usual, per_minute=-1.0)
    many = replace(usual, per_minute=1e12)
    reasons = [each.reason for each in size_literally([large, far, negative, many])]
    assert reasons[0] == "the maximum batch size must be at most 8192, found 8193"
    assert "32-bit floats" in reasons[1]
    assert "the request rate must be between 0 and 1e+200, found -1.0" in reasons[2]
    assert "2147483647 replicas" in reasons[3]
