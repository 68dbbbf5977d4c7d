"""Users who wait for their answers: the law of interactive response times, and the least replicas."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.fleet.levels import LatencyTargets
from components.performance.sizing.cases import Case, Profile, Sized
from components.performance.sizing.closed import (
    ClosedLoop,
    offered_per_minute,
    replicas_for,
    users_within_targets,
)
from components.performance.sizing.queues import behaviour, size

PROFILE = Profile("L40S", 1, 20.0, 0.5, 32)


def sized(targets: LatencyTargets, tokens: float = 100) -> Sized:
    """Return a replica within targets, at any rate."""
    (found,) = size([Case(PROFILE, targets, 1.0, tokens)])
    return found


@pytest.mark.parametrize("users", [1, 7, 50, 400])
@pytest.mark.parametrize("think_s", [0.5, 20.0])
def test_users_are_the_rate_times_their_round(users: int, think_s: float) -> None:
    """Little's law over thinking and waiting (Lazowska et al., Quantitative System Performance, chapter 3)."""
    one, loop = sized(LatencyTargets(30, 2000)), ClosedLoop(users, think_s)
    replicas = replicas_for(one, loop)
    assert replicas
    rate = offered_per_minute(one, loop, replicas)
    response = behaviour(one.case, rate / replicas).response_ms / 1000
    assert rate / 60 * (think_s + response) == pytest.approx(users, rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3000), st.floats(0, 120), st.integers(22, 60), st.sampled_from([0, 500, 3000]))
def test_the_replicas_are_the_least_within_the_targets(users: int, think_s: float, itl: int, ttft: int) -> None:
    one, loop = sized(LatencyTargets(itl, ttft)), ClosedLoop(users, think_s)
    replicas = replicas_for(one, loop)
    assert replicas
    assert offered_per_minute(one, loop, replicas) / replicas <= one.most_per_minute * (1 + 1e-5)
    if replicas > 1:
        assert offered_per_minute(one, loop, replicas - 1) / (replicas - 1) >= one.most_per_minute * (1 - 1e-5)


def test_targets_out_of_reach_have_no_replicas() -> None:
    one = sized(LatencyTargets(20, 0))
    assert users_within_targets(one, ClosedLoop(10, 1.0)) == 0
    assert replicas_for(one, ClosedLoop(10, 1.0)) is None


def test_more_users_than_a_replica_serves_wait_longer() -> None:
    """Without a pause the rate is at most the capacity, whatever the users."""
    one = sized(LatencyTargets(60, 0))
    rates = [offered_per_minute(one, ClosedLoop(users, 0.0), 1) for users in (1, 8, 32, 1000, 10_000)]
    assert rates == sorted(rates)
    assert rates[-1] == rates[-2] == one.capacity_per_minute
    # Alone, a request of 100 tokens takes 100 x 20.5 ms.
    assert rates[0] <= 60 / 2.05


def test_a_prefill_beside_the_queue_counts() -> None:
    one = sized(LatencyTargets(30, 2000))
    beside = offered_per_minute(one, ClosedLoop(20, 5.0, 3000.0), 1)
    assert beside == pytest.approx(offered_per_minute(one, ClosedLoop(20, 8.0), 1), rel=1e-5)
    assert beside < offered_per_minute(one, ClosedLoop(20, 5.0), 1)
