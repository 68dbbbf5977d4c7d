"""A replica, against times worked out by hand."""

from dataclasses import replace

import pytest

from livefleet.fleet import TokenPace
from livefleet.pace.replica import EngineReplica, QueueFullError
from tests.livefleet.pace.played import FOREVER, played
from tests.livefleet.pace.tokens import Request

STEPS = TokenPace(alpha=0.010, beta=0.005, prefill=0.0, batch=2)
"""Steps of 15 ms with one request, and of 20 with two."""


class TestByHand:
    @pytest.mark.parametrize(
        ("pace", "requests", "firsts", "ends"),
        [
            # One request: a token each 15 ms.
            (STEPS, [(0.0, 100, 4)], [0.015], [0.060]),
            # A second one comes during a step, and joins at its end: steps of 20 ms until the first has four.
            (STEPS, [(0.0, 0, 4), (0.001, 0, 4)], [0.015, 0.035], [0.075, 0.090]),
            # A third one finds no place until then.
            (STEPS, [(0.0, 0, 2), (0.001, 0, 4), (0.002, 0, 1)], [0.015, 0.035, 0.055], [0.035, 0.085, 0.055]),
            # A prompt of 30 tokens takes 30 ms more, for the other one too.
            (replace(STEPS, prefill=0.001), [(0.0, 0, 4), (0.001, 30, 1)], [0.015, 0.065], [0.095, 0.065]),
            # In parts of 20 tokens it takes two steps, and the other one gets a token in each.
            (replace(STEPS, prefill=0.001, chunk=20), [(0.0, 0, 4), (0.001, 30, 1)], [0.015, 0.085], [0.100, 0.085]),
            # A cache of 20: the second prompt has no room beside the first one until that has ended.
            (replace(STEPS, cache_tokens=20), [(0.0, 10, 4), (0.0, 10, 2)], [0.015, 0.075], [0.060, 0.090]),
            # A request larger than the cache ends all the same, alone.
            (replace(STEPS, cache_tokens=5), [(0.0, 10, 4), (0.0, 1, 1)], [0.015, 0.075], [0.060, 0.075]),
        ],
    )
    def test_times(
        self, pace: TokenPace, requests: list[tuple[float, int, int]], firsts: list[float], ends: list[float]
    ) -> None:
        jobs = played(pace, [Request(*each) for each in requests])
        assert [job.first for job in jobs] == pytest.approx(firsts)
        assert [job.ended for job in jobs] == pytest.approx(ends)

    def test_a_full_cache_takes_out_the_last_that_joined(self) -> None:
        """Both fit at first; after four steps there is no room for two tokens more, and the second one goes.

        The first one has five tokens after 15 + 4 x 20 ms, and goes on alone in steps of 15.
        """
        replica = EngineReplica(replace(STEPS, cache_tokens=29), None, 0.0)
        first, second = replica.submit(0.0, 10, 10), replica.submit(0.0, 10, 10)
        replica.advance(0.096)
        assert (replica.produced(first), replica.produced(second)) == (5, 4)
        assert (replica.running, replica.waiting, replica.cached) == (1, 1, 15)
        replica.advance(FOREVER)
        assert first.ended == pytest.approx(0.095 + 5 * 0.015)
        assert second.first == pytest.approx(0.035)
        assert second.ended == pytest.approx(0.170 + 6 * 0.015)

    def test_what_was_taken_out_is_computed_again(self) -> None:
        """10 tokens of the prompt and 4 of the answer: 14 ms before its next token."""
        replica = EngineReplica(replace(STEPS, cache_tokens=29, prefill=0.001), None, 0.0)
        first, second = replica.submit(0.0, 10, 10), replica.submit(0.0, 10, 10)
        replica.advance(FOREVER)
        assert first.ended == pytest.approx(0.025 + 0.030 + 3 * 0.020 + 5 * 0.015)
        assert second.ended == pytest.approx(0.190 + 0.014 + 6 * 0.015)


class TestDue:
    def test_a_token_is_there_when_it_is_due_and_not_before(self) -> None:
        replica = EngineReplica(STEPS, None, 100.0)
        job = replica.submit(100.0, 10, 1000)
        for tokens in (1, 2, 3, 77, 500, 999, 1000):
            due = replica.due(job, tokens)
            assert due == pytest.approx(100 + tokens * 0.015)
            replica.advance(due - 1e-6)
            assert replica.produced(job) == tokens - 1
            replica.advance(due)
            assert replica.produced(job) == tokens

    def test_it_counts_with_those_that_end_before(self) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        long, short = replica.submit(0.0, 0, 10), replica.submit(0.0, 0, 4)
        replica.advance(0.016)
        assert replica.due(short, 4) == pytest.approx(0.095)
        assert replica.due(long, 10) == pytest.approx(0.095 + 5 * 0.015)

    def test_one_that_waits_counts_with_those_before_it(self) -> None:
        """Its tokens are there after 165 and 315 ms; three quarters of what is after the first answer are waited."""
        replica = EngineReplica(replace(STEPS, batch=1), None, 0.0)
        jobs = [replica.submit(0.0, 0, 10) for _ in range(3)]
        first = [0.015, 0.150 + 0.015 * 0.75, 0.150 + 0.165 * 0.75]
        assert [replica.due(job, 1) for job in jobs] == pytest.approx(first)
        replica.advance(0.150)
        assert replica.due(jobs[1], 1) == pytest.approx(0.165)

    def test_the_present_for_what_is_there_and_what_is_over(self) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        job, other = replica.submit(0.0, 0, 3), replica.submit(0.0, 0, 3)
        replica.cancel(0.001, other)
        replica.advance(0.040)
        assert replica.due(job, 1) == replica.due(job, 0) == replica.due(other, 3) == 0.040
        assert replica.due(job, 100) == replica.due(job, 3) == pytest.approx(0.045)
        replica.advance(1.0)
        assert replica.due(job, 3) == 1.0


class TestCancel:
    def test_the_step_goes_on_and_the_next_is_shorter(self) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        job, other = replica.submit(0.0, 7, 10), replica.submit(0.0, 5, 10)
        replica.advance(0.016)
        replica.cancel(0.020, other)
        assert (replica.running, replica.waiting, replica.cached) == (1, 0, 8)
        replica.advance(FOREVER)
        assert (other.first, other.ended, other.had) == (None, None, 0)
        assert job.ended == pytest.approx(0.035 + 8 * 0.015)

    def test_twice_or_after_the_end_is_nothing(self) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        job, other = replica.submit(0.0, 0, 1), replica.submit(0.0, 0, 5)
        replica.cancel(0.020, job)
        assert (job.first, job.ended) == (0.015, 0.015)
        for now in (0.040, 0.050):
            replica.cancel(now, other)
        assert (replica.running, replica.waiting, replica.cached) == (0, 0, 0)
        assert other.had == 1

    def test_one_that_waits_leaves_the_queue(self) -> None:
        replica = EngineReplica(replace(STEPS, batch=1), None, 0.0)
        first, second, third = (replica.submit(0.0, 0, 2) for _ in range(3))
        replica.cancel(0.001, second)
        replica.advance(FOREVER)
        assert second.started is None
        assert [first.ended, third.first] == pytest.approx([0.030, 0.045])

    def test_the_last_one_leaves_an_idle_engine(self) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        replica.cancel(0.001, replica.submit(0.0, 9, 9))
        late = replica.submit(0.002, 0, 1)  # the step under way is not broken off
        replica.advance(1.0)
        assert late.first == pytest.approx(0.030)
        assert replica.submit(2.0, 0, 1).started == 2.0


class TestContract:
    @pytest.mark.parametrize(("queue", "taken"), [(0, 2), (1, 3), (5, 7)])
    def test_a_full_queue_refuses(self, queue: int, taken: int) -> None:
        """A batch of two, and so many that wait."""
        replica = EngineReplica(STEPS, queue, 0.0)
        jobs = [replica.submit(0.0, 0, 2) for _ in range(taken)]
        with pytest.raises(QueueFullError):
            replica.submit(0.0, 0, 2)
        assert replica.waiting + replica.running == taken
        replica.advance(FOREVER)
        assert all(job.ended for job in jobs)
        replica.submit(FOREVER, 0, 2)

    def test_without_a_bound_all_wait(self) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        for _ in range(5000):
            replica.submit(0.0, 0, 2)
        assert (replica.running, replica.waiting) == (1, 4999)
        replica.advance(0.015)
        assert (replica.running, replica.waiting) == (2, 4998)

    @pytest.mark.parametrize(("prompt", "wanted"), [(-1, 1), (0, 0), (5, -3)])
    def test_there_is_no_such_request(self, prompt: int, wanted: int) -> None:
        replica = EngineReplica(STEPS, None, 0.0)
        with pytest.raises(ValueError, match="must be at least"):
            replica.submit(0.0, prompt, wanted)
        assert (replica.waiting, replica.running) == (0, 0)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"alpha": 0.0, "beta": 0.0},
            {"alpha": -0.1, "beta": 0.2},
            {"alpha": float("inf")},
            {"alpha": float("nan")},
            {"prefill": -1.0},
            {"batch": 0},
            {"chunk": 0},
        ],
        ids=str,
    )
    def test_there_is_no_such_pace(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValueError, match=r"invalid pace|must be at least 1"):
            EngineReplica(replace(STEPS, **wrong), None, 0.0)  # type: ignore[arg-type]

    def test_time_does_not_go_back(self) -> None:
        replica = EngineReplica(STEPS, None, 5.0)
        job = replica.submit(1.0, 0, 2)
        assert job.arrived == 5.0
        replica.advance(5.020)
        replica.advance(2.0)
        assert replica.produced(job) == 1

    def test_a_huge_answer_costs_no_more_than_a_short_one(self) -> None:
        """10^12 tokens: were they counted one by one, this would not end."""
        replica = EngineReplica(STEPS, None, 0.0)
        job = replica.submit(0.0, 10**9, 10**12)
        replica.advance(15e6)
        assert replica.produced(job) == pytest.approx(10**9, rel=1e-9)
        assert replica.due(job, 10**12) == pytest.approx(15e9)
