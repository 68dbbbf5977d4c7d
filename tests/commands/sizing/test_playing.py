"""Users in virtual time, and the search for the least replicas that serve them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet import TokenPace
from workbench.sizing.checking import least
from workbench.sizing.playing import ThinkingUsers, play, requests_of


def test_one_user_without_a_pause() -> None:
    """By hand: 10 ms for a step of one, 1 ms for each of 20 tokens of a prompt: 30 ms, then ten tokens of 10 ms."""
    found = play(TokenPace(0.009, 0.001, 0.001, 8), 1, ThinkingUsers(1, 0.0, 20, 11))
    assert found.ttft_p95_ms == pytest.approx(30)
    assert found.itl_ms == pytest.approx(10)
    assert found.per_minute == pytest.approx(60 / 0.130)
    assert found.requests == requests_of(1)


def test_one_user_who_thinks() -> None:
    """Little's law: a round is the mean of the pauses and the response."""
    found = play(TokenPace(0.009, 0.001, 0.001, 8), 1, ThinkingUsers(1, 2.0, 20, 11))
    assert found.per_minute == pytest.approx(60 / 2.13, rel=0.05)


@pytest.mark.parametrize("number", [1, 5, 20, 60])
@pytest.mark.parametrize("think_s", [0.0, 3.0])
def test_throughput_is_within_the_bounds_of_closed_queues(number: int, think_s: float) -> None:
    """One request at a time takes D = 0.2 s: N/(S + N D) <= X <= min(N/(S + D), 1/D) (Lazowska et al., chapter 5)."""
    found = play(TokenPace(0.009, 0.001, 0.0, 1), 1, ThinkingUsers(number, think_s, 0, 20))
    rate, demand = found.per_minute / 60, 0.2
    assert number / (think_s + number * demand) * 0.95 <= rate <= min(number / (think_s + demand), 1 / demand) * 1.05


def test_replicas_share_the_users() -> None:
    one, four = (play(TokenPace(0.02, 0.002, 0.0, 64), number, ThinkingUsers(80, 1.0, 0, 50)) for number in (1, 4))
    assert four.itl_ms < one.itl_ms
    assert four.per_minute > one.per_minute


def test_a_run_is_the_same_each_time() -> None:
    users = ThinkingUsers(30, 2.0, 100, 50)
    assert len({play(TokenPace(0.02, 0.002, 1e-5, 16), 2, users) for _ in range(2)}) == 1


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300))
def test_the_least_is_found_from_anywhere(limit: int, start: int, most: int) -> None:
    found = least(lambda number: number >= limit, min(start, most), most)
    assert found == (limit if limit <= most else None)
