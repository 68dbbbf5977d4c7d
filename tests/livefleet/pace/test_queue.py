"""A replica against the formulas of the queue (WVA spec 8).

Both hold where prompts take no time, the cache has no bound, answers have exponential lengths (here geometric ones:
whole tokens) and there is room for 10 x batch requests. What the formulas leave out is that an engine works in steps:
who comes during a step waits for its end, and the first token is there after one more. So the time to the first token
is the wait of the formulas, half a step for those who find a free place in a busy engine, and a step.

Plain averages over a run need millions of requests, as a queue that is long stays long. So each run has a second one
beside it, of the queue as the model has it (``fluid``), with the same arrivals and answers: what chance made of that
one, which the formulas tell, is taken off. That takes away chance, and no difference.
"""

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import pytest

from components.performance.sizing.cases import Behaviour, Case
from components.performance.sizing.queues import behaviour
from livefleet.fleet import TokenPace
from livefleet.pace.replica import EngineReplica, Job, QueueFullError
from tests.livefleet.pace.fluid import waits
from tests.performance.sizing import plain
from tests.performance.sizing.vectors import VECTORS, Vector

NEAR = 0.05
SEED = 1
REQUESTS = 8_000
PROFILES = (
    (1, 20.0, 0.4, 100),
    (4, 20.58, 0.41, 178),
    (8, 7.0, 1.0, 100),
    (16, 7.7, 0.35, 100),
    (64, 6.973, 0.027, 128),
)
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)
"""Of the largest rate of completions."""


@dataclass(frozen=True)
class Run:
    """What a replica did, in milliseconds and requests a minute."""

    ttft: float
    itl: float
    throughput: float


def run(case: Case, rate: float, pace: TokenPace, requests: int = REQUESTS) -> Run:
    """Let requests come at a rate, per millisecond, with lengths as the case has them."""
    chance, now, tokens = random.Random(SEED), 0.0, int(case.output_tokens)
    replica = EngineReplica(pace, (plain.ROOM - 1) * case.profile.batch, 0.0)
    jobs, asked = list[Job](), list[tuple[float, float]]()
    for _ in range(requests):
        now += chance.expovariate(rate)
        amount = -math.log(1 - chance.random())
        asked.append((now, amount * tokens))
        try:
            jobs.append(replica.submit(now / 1000, 0, 1 + int(-amount / math.log(1 - 1 / tokens))))
        except QueueFullError:
            continue
    replica.advance(math.inf)
    waited = [wait for wait in waits(case.profile, plain.ROOM * case.profile.batch, asked) if wait is not None]
    chance_alone = sum(waited) / len(waited) - plain.behaviour(case, rate * 60_000).wait_ms
    first = sum((job.first or 0) - job.arrived for job in jobs) / len(jobs) * 1000
    at_work = sum((job.ended or 0) - (job.started or 0) for job in jobs) * 1000
    arrived = requests / now * 60_000  # the rate that chance made of it
    return Run(
        first - chance_alone,
        at_work / sum(job.wanted for job in jobs),
        len(jobs) / (jobs[-1].ended or 0) * 60 * rate * 60_000 / arrived,
    )


def expected_ttft(case: Case, rate: float, model: Behaviour) -> float:
    """Return the wait of the formulas, what is left of the step under way, and a step."""
    profile = case.profile
    logs = [0.0]
    for n in range(1, plain.ROOM * profile.batch + 1):
        logs.append(logs[-1] + math.log(rate) - math.log(plain.completions(case, n)))
    weights = [math.exp(log - max(logs)) for log in logs]
    busy = range(1, profile.batch)
    step = sum(weights[n] * (profile.alpha + profile.beta * n) for n in busy) / sum(weights)
    return model.wait_ms + step / 2 + model.itl_ms


def pace_of_case(case: Case, **changes: Any) -> TokenPace:
    """Return the pace of a profile."""
    profile = case.profile
    pace = TokenPace(profile.alpha / 1000, profile.beta / 1000, 0.0, profile.batch)
    return replace(pace, **changes)


def differences(found: Run, case: Case, rate: float) -> dict[str, float]:
    """Return how far a run is from the formulas, in shares of what they say."""
    model = behaviour(case, rate * 60_000)
    return {
        "ttft": abs(found.ttft / expected_ttft(case, rate, model) - 1),
        "itl": abs(found.itl / model.itl_ms - 1),
        "throughput": abs(found.throughput / model.throughput - 1),
    }


def _case(batch: int, alpha: float, beta: float, tokens: int) -> Case:
    return plain.case(alpha, beta, batch, tokens, (0, 0), 1)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: f"batch-{profile[0]}")
def test_a_replica_is_the_queue_of_the_model(profile: tuple[int, float, float, int], load: float) -> None:
    case = _case(*profile)
    rate = load * plain.completions(case, case.profile.batch)
    found = differences(run(case, rate, pace_of_case(case)), case, rate)
    assert {name: far for name, far in found.items() if far > NEAR} == {}


@pytest.mark.parametrize(
    ("changes", "figures"),
    [
        ({"batch": 5}, ["ttft"]),
        ({"alpha": 0.0225}, ["ttft", "itl"]),
        ({"beta": 0.0009}, ["ttft", "itl"]),
        ({"prefill": 0.001}, []),
    ],
    ids=["batch", "alpha", "beta", "prefill"],
)
def test_another_replica_is_told_apart(changes: dict[str, Any], figures: list[str]) -> None:
    """Without prompts, prefill changes nothing."""
    case = _case(4, 20.58, 0.41, 178)
    rate = 0.8 * plain.completions(case, 4)
    found = differences(run(case, rate, pace_of_case(case, **changes)), case, rate)
    assert [name for name, far in found.items() if far > NEAR] == figures


WITH_FIGURES = [vector for vector in VECTORS if "itl_ms" in vector.figures]


@pytest.mark.parametrize(
    "vector", WITH_FIGURES, ids=lambda each: f"{each.case.profile.batch}-{each.case.per_minute:g}"
)
def test_vectors_of_the_specification(vector: Vector) -> None:
    """The figures that upstream's controller logs (8.10): inter-token latency, and the wait where it is printed."""
    case, rate = vector.case, vector.case.per_minute / vector.replicas / 60_000
    model = behaviour(case, rate * 60_000)
    found = run(case, rate, pace_of_case(case))
    assert found.itl == pytest.approx(float(vector.figures["itl_ms"]), rel=NEAR)
    wait = float(vector.figures.get("wait_ms", model.wait_ms))
    beside = expected_ttft(case, rate, model) - model.wait_ms
    assert found.ttft == pytest.approx(wait + beside, rel=NEAR)


def test_the_room_is_bounded_as_in_the_model() -> None:
    """With a place for one and room for ten, 5.1 % find no room at a load of 0.9 (8.3: p(L))."""
    case = _case(1, 20.0, 0.4, 100)
    found = run(case, 0.9 * plain.completions(case, 1), pace_of_case(case))
    offered = 0.9 * plain.completions(case, 1) * 60_000
    assert 1 - found.throughput / offered == pytest.approx(0.0508, abs=0.01)
