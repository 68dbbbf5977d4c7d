"""Why an autoscaler follows the queue and what is in work: the model of queues, and what autoscalers make of it."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.fleet.levels import LatencyTargets
from components.performance.simulation.hpa.proposals import proposed
from components.performance.simulation.hpa.spec import read_spec
from components.performance.simulation.trace import TargetReading
from components.performance.sizing.cases import Case, Profile
from components.performance.sizing.queues import behaviour, size
from tests.families.llmd import support
from tests.families.llmd.support import Object, fleet, hpa_in, levels, per_minute, profile, variant

QUEUE, WORK = "vllm:num_requests_waiting", "vllm:num_requests_running"
# WVA spec 8.10 and 12: alpha, beta, batch; tokens; promise; requests a minute at the peak.
CASES: dict[str, tuple[tuple[str, str, int], int, LatencyTargets, int]] = {
    "small batches, bound by the wait": (("20.58", "0.41", 4), 178, LatencyTargets(24, 500), 200),
    "large batches, bound by the time between tokens": (("6.958", "0.042", 512), 512, LatencyTargets(9, 1000), 4800),
    "large batches, bound by the wait": (("6.973", "0.027", 64), 128, LatencyTargets(9, 1000), 24000),
    "slow": (("22.619", "0.181", 512), 512, LatencyTargets(30, 1000), 1200),
    "no promise": (("20.58", "0.41", 4), 178, LatencyTargets(), 400),
}


def spec_of(case: str) -> Object:
    """The autoscaler that a variant becomes."""
    (alpha, beta, batch), tokens, targets, peak = CASES[case]
    document = variant("chat", profile(alpha=alpha, beta=beta, batch=batch))
    found = fleet(*support.of_llmkube(), document, levels=levels(per_minute(peak, output=tokens), targets))
    spec: Object = hpa_in(found)["spec"]
    return spec


def needed(case: str, rate: float) -> int:
    (sized,) = size((asked(case, rate),))
    return sized.replicas


def asked(case: str, rate: float) -> Case:
    (alpha, beta, batch), tokens, targets, _ = CASES[case]
    return Case(Profile("L4", 1, float(alpha), float(beta), batch), targets, rate, tokens)


def wanted(spec: Any, case: str, rate: float, replicas: int) -> int:
    """What the autoscaler asks for in the long run, while so many replicas share a rate."""
    each = behaviour(asked(case, rate), rate / replicas)
    totals = {QUEUE: each.waiting * replicas, WORK: each.in_service * replicas}
    reading = TargetReading({name: Fraction(total) for name, total in totals.items()})
    found = proposed(read_spec(spec, {QUEUE: QUEUE, WORK: WORK}), replicas, reading)
    assert found is not None
    return int(max(spec["minReplicas"], min(spec["maxReplicas"], found)))


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def spec(case: str) -> Object:
    return spec_of(case)


@given(share=st.floats(0.02, 1.0), start=st.floats(0, 1))
def test_too_few_replicas_always_ask_for_more(case: str, spec: Object, share: float, start: float) -> None:
    rate = CASES[case][3] * share
    need = needed(case, rate)
    fewer = 1 + math.floor(start * (need - 1))
    if fewer < need:
        assert wanted(spec, case, rate, fewer) > fewer


@given(share=st.floats(0.02, 1.0), start=st.floats(0, 1))
def test_enough_replicas_are_never_too_many_to_be_enough(case: str, spec: Object, share: float, start: float) -> None:
    rate, most = CASES[case][3] * share, spec["maxReplicas"]
    need = needed(case, rate)
    replicas = need + math.floor(start * (most - need))
    assert wanted(spec, case, rate, replicas) >= need


@given(share=st.floats(0.02, 1.0), start=st.floats(0, 1))
def test_it_does_not_keep_many_more(case: str, spec: Object, share: float, start: float) -> None:
    rate, most = CASES[case][3] * share, spec["maxReplicas"]
    need = needed(case, rate)
    replicas = need + math.floor(start * (most - need))
    for _ in range(10):
        replicas = wanted(spec, case, rate, replicas)
    assert replicas <= math.ceil(need * 1.4) + 1


@pytest.mark.parametrize(
    ("case", "rate"),
    [("small batches, bound by the wait", 120), ("large batches, bound by the time between tokens", 2400)],
)
def test_the_queue_alone_would_not(case: str, rate: int) -> None:
    """While the promise is just kept, it sees no queue, and takes replicas away until it is broken."""
    spec = spec_of(case)
    alone = {**spec, "metrics": spec["metrics"][:1]}
    need = needed(case, rate)
    assert need > 2
    assert wanted(alone, case, rate, need) < need
    assert wanted(spec, case, rate, need) >= need
