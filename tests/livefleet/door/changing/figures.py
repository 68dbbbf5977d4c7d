"""What becomes of streams while pods of every family end, in figures."""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from livefleet.load.arrivals import DueRequest
from livefleet.load.client import LoadTarget
from livefleet.load.outcomes import RequestOutcome
from livefleet.load.runner import run
from livefleet.pods.nodes.controller import NOTICE
from livefleet.pods.serving import LINGER_SECONDS
from tests.livefleet.door.changing.models import FAMILIES, GRACE, LONGEST, STEP
from tests.livefleet.door.changing.stage import Change, Stage

STREAMS = int(os.environ.get("INFERENCE_PLATFORM_STREAMS", "40"))
"""How many streams each family gets during a change."""
SPEED = 30.0 if STREAMS <= 100 else 2.0
"""How much faster than real time answers are: as many tokens a second as the machine can handle."""
_SPAN = LONGEST / 3
"""Simulated seconds before a change, and after it, in which streams begin."""
_BUSY = 2.0
"""Real seconds by which a busy machine may prolong a stream."""
_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True)
class Figures:
    """What became of streams during a change.

    Attributes:
        streams: How many there were.
        lost: Why streams that end within the grace were cut or refused.
        longer: How many were cut that take longer than the grace.
        refused: How many were refused because the model had no replica: all end before new ones start.
    """

    streams: int
    lost: Counter[str]
    longer: int
    refused: int

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(
            self.streams + other.streams,
            self.lost + other.lost,
            self.longer + other.longer,
            self.refused + other.refused,
        )

    def __str__(self) -> str:
        return (
            f"{self.streams:5} streams, {self.lost.total():4} lost, {self.longer:4} longer than the grace, "
            f"{self.refused:4} without a replica"
        )


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a stream ended, and how many seconds it takes as a whole at most."""

    outcome: RequestOutcome
    seconds: float

    @property
    def is_refused(self) -> bool:
        """Whether the gateway answered that there is no pod."""
        return self.outcome.error == "HTTP 503"


def streamed(stage: Stage, change: Change) -> dict[str, Figures]:
    """Make a change of models at rest under load; return the figures of each family."""
    ends: dict[str, list[StreamEnd]] = {}

    def load(model: str, streams: int) -> None:
        target = LoadTarget(stage.url, stage.served_name(model), whole=True, timeout=_TIMEOUT)
        requests = _requests(f"{change} {model}", streams)
        tally, _ = run(target, requests, "", lambda _seconds, _tally: None)
        # Requests are numbered in the order of sending.
        lengths = [_seconds(request.output_tokens) / SPEED for request in requests]
        ends[model] = [StreamEnd(outcome, lengths[outcome.number]) for outcome in tally.outcomes]

    threads = [
        threading.Thread(target=load, args=(model, STREAMS // len(models)))
        for models in FAMILIES.values()
        for model in models
    ]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    time.sleep(_SPAN / SPEED)
    first = time.monotonic() - begin
    stage.make(change)
    last = time.monotonic() - begin
    for thread in threads:
        thread.join()

    grace = (NOTICE if change is Change.SPOT_RECLAIM else GRACE) / SPEED
    figures = {}
    for family, models in FAMILIES.items():
        counted = [
            _counted(ends[model], first, last, grace, may_refuse=stage.has_no_replica_during(change, model))
            for model in models
        ]
        figures[family] = sum(counted[1:], counted[0])
    return figures


def _seconds(tokens: int) -> float:
    """Return the most simulated seconds of a stream, which also waits for the step that its engine computes."""
    return (tokens + 1) * STEP


def table(figures: Mapping[str, Figures]) -> str:
    """Return figures as text."""
    return "\n".join(f"{name:24} {each}" for name, each in figures.items())


def _requests(seed: str, count: int) -> list[DueRequest]:
    """Return streams of up to the longest request that begin around a change, in the order of sending."""
    chance = random.Random(seed)
    begins = sorted(chance.uniform(0, 2 * _SPAN) for _ in range(count))
    most = int((LONGEST - _BUSY * SPEED) / STEP) - 1
    lengths = [chance.randint(1, most) for _ in begins]
    return [DueRequest(at / SPEED, 10, tokens) for at, tokens in zip(begins, lengths, strict=True)]


def _counted(ends: Sequence[StreamEnd], first: float, last: float, grace: float, *, may_refuse: bool) -> Figures:
    """Count the streams of a model. Times are real seconds after the begin of the load.

    Args:
        ends: How they ended.
        first: When the first pod was asked to end.
        last: When the last pod was asked to end, or later ones because of it.
        grace: For how long a stream may run on then.
        may_refuse: Whether the model has no replica for a while.
    """
    broken = [end for end in ends if end.outcome.error]
    refused = [end for end in broken if may_refuse and end.is_refused]
    longer = [
        end
        for end in broken
        if end not in refused
        and end.outcome.sent < last + LINGER_SECONDS
        and end.outcome.sent + end.seconds + _BUSY > first + grace
    ]
    lost = [end.outcome.error for end in broken if end not in refused and end not in longer]
    return Figures(len(ends), Counter(lost), len(longer), len(refused))
