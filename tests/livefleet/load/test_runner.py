"""Open and closed loops against a server that counts who is there at once."""

import os
import signal

import pytest

from livefleet.load.arrivals import Arrivals, DueRequest, Lengths, Range, planned
from livefleet.load.client import LoadTarget
from livefleet.load.outcomes import Tally
from livefleet.load.runner import Users, run
from tests.livefleet.load.server import DONE, event, serving, streamed

SHORT = Lengths(Range(1, 1), Range(1, 1))


def test_an_open_loop_does_not_wait_for_answers() -> None:
    """Whoever waits for a slow server sends less, and never sees how slow it is."""
    with serving(streamed(1.5, event(), DONE)) as served:
        requests = [DueRequest(number * 0.02, 1, 1) for number in range(20)]
        tally, _ = run(LoadTarget(served.url, "m"), requests, "", lambda *_: None)
    assert served.most >= 15
    assert tally.most_in_flight >= 15
    assert len(tally.outcomes) == 20
    # A busy machine may delay some. A client that waited for answers would be 14 s late on average.
    assert sum(each.sent - each.due for each in tally.outcomes) / 20 < 1
    assert all(each.sent >= each.due for each in tally.outcomes)


def test_users_wait_for_their_answer() -> None:
    with serving(streamed(0.1, event(), DONE)) as served:
        tally, _ = run(LoadTarget(served.url, "m"), Users(3, 0.0, 1.0, SHORT, 0), "", lambda *_: None)
    assert served.most == tally.most_in_flight == 3
    # Each answer takes at least 0.1 s, so that no user has more than ten in a second.
    assert 3 <= len(tally.outcomes) <= 30


def test_users_who_think_ask_less() -> None:
    with serving(streamed(event(), DONE)) as served:
        tally, _ = run(LoadTarget(served.url, "m"), Users(2, 0.4, 2.0, SHORT, 0), "", lambda *_: None)
    assert 4 <= len(tally.outcomes) <= 10


def test_the_last_requests_are_waited_for() -> None:
    with serving(streamed(1.0, event(), DONE)) as served:
        load = planned(Range(50, 50), 0.2, Arrivals.EVEN, 1, SHORT, 0)
        tally, whole = run(LoadTarget(served.url, "m"), load, "", lambda *_: None)
    assert whole
    assert len(tally.outcomes) == 10
    assert not tally.errors
    assert tally.in_flight == 0


def test_it_says_how_it_goes() -> None:
    seen: list[tuple[float, int]] = []

    def watch(seconds: float, tally: Tally) -> None:
        seen.append((seconds, tally.in_flight))

    with serving(streamed(2.5, event(), DONE)) as served:
        run(LoadTarget(served.url, "m"), [DueRequest(0, 1, 1)], "", watch)
    assert len(seen) >= 2
    assert seen[0][1] == 1
    assert seen[-1][1] == 0


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # connections that an interrupt leaves behind
def test_an_interrupt_keeps_what_was_seen() -> None:
    def interrupt(_: float, tally: Tally) -> None:
        if len(tally.outcomes) >= 5:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with serving(streamed(event(), DONE)) as served:
            requests = planned(Range(20, 20), 60, Arrivals.EVEN, 1, SHORT, 0)
            tally, whole = run(LoadTarget(served.url, "m"), requests, "", interrupt)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not whole
    assert 5 <= len(tally.outcomes) < 1200
