"""What a benchmark measures whose clients send one request after the other, by hand and against the replica."""

from dataclasses import replace

import pytest

from livefleet.fleet import TokenPace
from livefleet.pace.closed_loop import benchmark_times
from livefleet.pace.replica import EngineReplica
from tests.livefleet.pace.measured import under_load

ALONE = TokenPace(0.010, 0.0, 0.0001, 64, chunk=1000)


def test_one_client() -> None:
    """A prompt of 100 tokens takes 10 ms and the step of its first token 10; the server is free."""
    times = benchmark_times(ALONE, 1, 100, 1000)
    # Of 1,000 steps one computes the prompt, and half a step passes before it begins.
    assert times.between == pytest.approx(0.010 + 0.010 / 1000)
    assert times.first == pytest.approx(0.010 + 0.010 + times.between / 2)


@pytest.mark.parametrize(
    ("changes", "arguments", "later"),
    [
        ({"latency": 0.040}, {}, 0.040),
        ({"tokenizing": 0.00002}, {}, 100 * 0.00002),
        ({}, {"start": 1.0}, 0.1),  # a tenth of the requests are the first of their client
        ({}, {"start": 1.0, "rounds": 100}, 0.01),
        ({}, {"receive_steps": 11}, 5 * 0.01001),
    ],
    ids=str,
)
def test_what_is_before_the_first_token(changes: dict[str, float], arguments: dict[str, float], later: float) -> None:
    plain = benchmark_times(ALONE, 1, 100, 1000)
    times = benchmark_times(replace(ALONE, **changes), 1, 100, 1000, **arguments)  # type: ignore[arg-type]
    assert times.first - plain.first == pytest.approx(later)
    assert times.between == pytest.approx(plain.between)


def test_a_step_with_prompts_is_longer() -> None:
    plain, eager = (benchmark_times(replace(ALONE, eager=longer), 1, 100, 1000) for longer in (0.0, 0.020))
    # 0.1 % of the steps have a prompt: 1 - e^-0.001.
    assert eager.between - plain.between == pytest.approx(0.020 * 0.0009995, rel=1e-3)
    assert eager.first - plain.first == pytest.approx(0.020, rel=1e-3)


def test_the_first_wave_waits_for_half_of_all_prompts() -> None:
    """By hand: 32 prompts of 10 ms, of which 16 are before the average one, in the first of ten requests."""
    ten, never = (benchmark_times(ALONE, 32, 100, 10_000, rounds=rounds) for rounds in (10, 10**9))
    # Ten prompts share a step of 1,000 tokens, of whose 10 ms half are there in the mean.
    assert ten.first - never.first == pytest.approx(16 * (0.010 + 0.005 / 10) / 10, rel=0.01)


@pytest.mark.parametrize("clients", [1, 4, 16])
def test_the_replica_has_the_same_time_between_tokens(clients: int) -> None:
    """With more clients, requests of one length come in step, and share steps for prompts."""
    pace = TokenPace(0.008, 0.00005, 0.00002, 256, chunk=8192, cached=2e-9, eager=0.004)
    simulated = under_load(pace, clients, 900, 500)
    times = benchmark_times(pace, clients, 900, 500)
    assert times.between * 1000 == pytest.approx(simulated["itl_ms"], rel=0.06)


class TestReplica:
    """Steps of 10 ms, a prompt token of 0.1 ms."""

    def test_a_request_is_in_the_queue_after_its_latency(self) -> None:
        replica = EngineReplica(replace(ALONE, latency=0.5, tokenizing=0.001), None, 0.0)
        job = replica.submit(0.0, 100, 3)
        assert (replica.running, replica.waiting) == (0, 1)
        assert replica.changes_at == pytest.approx(0.6)
        assert replica.due(job, 1) >= 0.6
        replica.advance(10.0)
        assert job.arrived == 0.0
        assert job.started == pytest.approx(0.6)
        assert job.first == pytest.approx(0.620)
        assert job.ended == pytest.approx(0.640)

    def test_a_short_prompt_overtakes_a_long_one(self) -> None:
        replica = EngineReplica(replace(ALONE, tokenizing=0.001), None, 0.0)
        long, short = replica.submit(0.0, 1000, 1), replica.submit(0.1, 10, 1)
        replica.advance(10.0)
        assert (short.started, long.started) == pytest.approx((0.11, 1.0))

    def test_one_that_is_cancelled_never_arrives(self) -> None:
        replica = EngineReplica(replace(ALONE, latency=0.5), None, 0.0)
        job, other = replica.submit(0.0, 0, 1), replica.submit(0.0, 0, 1)
        replica.cancel(0.1, job)
        replica.advance(10.0)
        assert (job.started, job.ended) == (None, None)
        assert other.ended == pytest.approx(0.510)
        assert (replica.waiting, replica.running) == (0, 0)

    def test_a_step_with_prompts_is_longer(self) -> None:
        replica = EngineReplica(replace(ALONE, eager=0.005), None, 0.0)
        job = replica.submit(0.0, 100, 2)
        replica.advance(10.0)
        assert (job.first, job.ended) == pytest.approx((0.025, 0.035))
