"""What a load comes to, worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet.load.outcomes import RequestOutcome, Tally
from livefleet.load.report import live_line, sentences
from livefleet.load.summary import spread, summary


def tally(*outcomes: RequestOutcome, gaps: tuple[tuple[float, float], ...] = ()) -> Tally:
    found = Tally(most_in_flight=2)
    found.outcomes += outcomes
    for at, gap in gaps:
        found.add_gap(at, gap)
    return found


def answered(sent: float, ttft: float, took: float, tokens: int = 10, asked: int | None = 5) -> RequestOutcome:
    return RequestOutcome(sent, sent, sent + ttft, sent + took, asked, tokens)


def failed(sent: float, took: float, error: str) -> RequestOutcome:
    return RequestOutcome(sent, sent, None, sent + took, None, 0, error)


def test_percentiles_are_nearest_ranks() -> None:
    found = spread(number / 100 for number in range(100, 0, -1))
    assert (found.p50, found.p90, found.p95, found.p99, found.most) == (0.5, 0.9, 0.95, 0.99, 1.0)
    assert found.mean == pytest.approx(0.505)
    few = spread([3.0, 1.0, 2.0])
    assert (few.p50, few.p90, few.p99) == (2.0, 3.0, 3.0)
    assert spread([]).p50 is None


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_so_many_are_not_larger(values: list[float]) -> None:
    found = spread(values)
    for percent, value in ((50, found.p50), (90, found.p90), (95, found.p95), (99, found.p99)):
        assert value is not None
        assert sum(each <= value for each in values) >= percent / 100 * len(values) - 1e-9
        assert sum(each < value for each in values) < percent / 100 * len(values)


def test_rates_count_answers_alone() -> None:
    found = summary(
        tally(
            answered(0.0, 0.1, 1.0),
            answered(1.0, 0.3, 3.0, tokens=30),
            failed(2.0, 0.5, "HTTP 429"),
            failed(2.5, 0.5, "HTTP 429"),
            failed(3.0, 0.1, "connection lost"),
        )
    )
    assert (found.requests, found.answered, found.seconds) == (5, 2, 4.0)
    assert found.errors == {"HTTP 429": 2, "connection lost": 1}
    assert (found.request_rate, found.token_rate) == (0.5, 10.0)
    assert (found.input_tokens, found.output_tokens) == (10, 40)
    assert found.ttft.p50 == pytest.approx(0.1)
    assert found.ttft.most == pytest.approx(0.3)
    assert found.took.most == pytest.approx(3.0)


def test_tokens_that_nobody_counts_are_not_told() -> None:
    found = summary(tally(answered(0, 0.1, 1), answered(0, 0.1, 1, asked=None)))
    assert found.input_tokens is None
    assert not any("tokens in" in line for line in sentences(found))


def test_moments() -> None:
    found = summary(
        tally(
            answered(0.2, 0.1, 0.3),  # ends at 0.5
            answered(0.4, 0.2, 2.0),  # ends at 2.4
            failed(1.1, 0.2, "HTTP 503"),
            gaps=((0.5, 0.01), (1.5, 0.02), (1.6, 0.04)),
        )
    )
    assert found.step == 1
    first, second, third = found.moments
    assert (first.sent, first.answered, first.failed, first.tokens, first.in_flight) == (2, 1, 0, 10, 1)
    assert (second.sent, second.answered, second.failed, second.tokens, second.in_flight) == (1, 0, 1, 0, 1)
    assert (third.sent, third.answered, third.failed, third.tokens, third.in_flight) == (0, 1, 0, 10, 0)
    assert first.ttft.most == pytest.approx(0.2)
    assert third.ttft.p50 is None
    assert second.itl.p50 == pytest.approx(0.02)


@given(st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 100), st.booleans()), min_size=1, max_size=50))
def test_moments_lose_nothing(drawn: list[tuple[float, float, bool]]) -> None:
    outcomes = [answered(sent, took / 2, took) if good else failed(sent, took, "x") for sent, took, good in drawn]
    found = summary(tally(*outcomes))
    assert len(found.moments) <= 61
    for total, name in ((found.requests, "sent"), (found.answered, "answered")):
        assert math.fsum(getattr(each, name) for each in found.moments) * found.step == pytest.approx(total)
    assert found.moments[-1].in_flight == 0


def test_nothing_at_all() -> None:
    found = summary(Tally())
    assert (found.requests, found.seconds, found.request_rate) == (0, 0.0, 0.0)
    assert len(found.moments) == 1


def test_late_requests_are_told() -> None:
    late, early = RequestOutcome(0, 0.2, 0.3, 0.4, 1, 1), RequestOutcome(0, 0.05, 0.3, 0.4, 1, 1)
    found = summary(tally(late, early))
    assert found.late == 1
    assert any(line.startswith("sent more than 100 ms late: 1 of 2 requests") for line in sentences(found))
    for few in ([early], [late, *[early] * 99]):
        assert not any("late" in line for line in sentences(summary(tally(*few))))


def test_live_figures_are_of_the_last_ten_seconds() -> None:
    seen = tally(answered(0, 5, 6), failed(1, 1, "HTTP 500"), answered(12, 0.1, 1, tokens=50), answered(14, 0.2, 2))
    seen.outcomes.sort(key=lambda each: each.ended)
    assert live_line(20.0, seen) == (
        "   20 s: 0.2 answers/s, 0 in flight, 6 tokens/s, first token 100 ms (p95 200), 1 error"
    )
