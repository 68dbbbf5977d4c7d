"""What a policy, a booster and a target mean once all that is absent is filled in (Kthena spec 1.3, 1.4)."""

from decimal import Decimal
from typing import Any

import pytest

from components.contract.texts.go_durations import milliseconds_of, nanoseconds_of, seconds_of
from components.families.kthena.autoscaling.effective import (
    EffectivePolicy,
    Pace,
    Panic,
    effective_cost_rate,
    effective_endpoint,
    effective_policy,
)
from components.families.kthena.types.autoscaling import AutoscalingPolicySpec, ScalingTarget
from components.families.kthena.types.model_booster import ModelBoosterSpec

HOOK_UP = Pace(4, 100, 60_000, fastest=True, window=0)
HOOK_DOWN = Pace(0, 100, 60_000, fastest=True, window=300_000)
CONTRACT = Pace(1, 100, 15_000, fastest=True, window=0)
METRICS: list[dict[str, Any]] = [{"metricName": "a:b", "targetValue": "1500m"}]


def _policy(behavior: object = None, **fields: object) -> EffectivePolicy:
    body = {"metrics": METRICS, **({} if behavior is None else {"behavior": behavior}), **fields}
    return effective_policy(AutoscalingPolicySpec.model_validate(body))


@pytest.mark.parametrize("behavior", [None, {}, {"scaleUp": {}}])
def test_absent_sections_are_the_hooks(behavior: object) -> None:
    policy = _policy(behavior)
    assert (policy.up, policy.down, policy.panic) == (HOOK_UP, HOOK_DOWN, None)


def test_sections_that_are_there_are_the_contracts() -> None:
    assert _policy({"scaleDown": {}}).down == CONTRACT
    assert _policy({"scaleDown": {}}).up == HOOK_UP
    assert _policy({"scaleUp": {"stablePolicy": {}}}).up == CONTRACT
    assert _policy({"scaleUp": {"stablePolicy": {}}}).down == HOOK_DOWN
    panic = _policy({"scaleUp": {"panicPolicy": {"period": "1m"}}})
    assert (panic.panic, panic.up) == (Panic(1000, 60_000, 200, 60_000), HOOK_UP)


def test_what_is_written_counts() -> None:
    section = {
        "instances": 3, "percent": 50, "period": "1m30s", "selectPolicy": "And", "stabilizationWindow": "0.5s"
    }  # fmt: skip
    panic = {"percent": 10, "period": "0s", "panicThresholdPercent": 110, "panicModeHold": "1500us"}
    policy = _policy(
        {"scaleUp": {"stablePolicy": section, "panicPolicy": panic}, "scaleDown": section}, tolerancePercent=0
    )
    limits = Pace(3, 50, 90_000, fastest=False, window=500)
    assert policy == EffectivePolicy({"a:b": Decimal("1.5")}, 0, limits, limits, Panic(10, 0, 110, 1))


def test_no_hold_is_no_panic() -> None:
    assert _policy({"scaleUp": {"panicPolicy": {"period": "1m", "panicModeHold": "0s"}}}).panic is None


def test_tolerance_by_default() -> None:
    assert _policy().tolerance == 10


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0), ("+5s", 5 * 10**9), ("-5s", -5 * 10**9), ("1h2m3s4ms5us6ns", 3_723_004_005_006),
        ("1.5h", 5_400 * 10**9), (".5s", 5 * 10**8), ("1.s", 10**9), ("1µs1μs", 2000), ("0.9999999999s", 999_999_999),
        ("0.1us0.1us", 200), ("1.1ns", 1),
    ],
)  # fmt: skip
def test_durations_are_go_s(text: str, nanoseconds: int) -> None:
    assert nanoseconds_of(text) == nanoseconds
    assert milliseconds_of(text) == int(nanoseconds / 10**6)
    assert seconds_of(text) == nanoseconds / 10**9


def test_an_endpoint_of_a_target() -> None:
    def target(**fields: object) -> ScalingTarget:
        return ScalingTarget.model_validate({"targetRef": {"name": "a"}, **fields})

    for nothing in (target(), target(metricEndpoint={})):
        endpoint = effective_endpoint(nothing)
        assert (endpoint.uri, endpoint.port) == ("/metrics", 8100)
    written = effective_endpoint(target(metricEndpoint={"port": 9}))
    assert (written.uri, written.port) == ("/metrics", 9)


def _booster(**fields: object) -> ModelBoosterSpec:
    backend = {
        "name": "a", "type": "vLLM", "modelURI": "hf://a/b", "minReplicas": 1, "maxReplicas": 2, "workers": [{}],
    }  # fmt: skip
    return ModelBoosterSpec.model_validate({"backends": [backend], **fields})


@pytest.mark.parametrize(
    ("fields", "rate"),
    [
        ({}, None),
        ({"autoscalingPolicy": {"metrics": METRICS}}, 200),
        ({"autoscalingPolicy": {"metrics": METRICS}, "costExpansionRatePercent": 0}, 0),
        ({"autoscalingPolicy": {"metrics": METRICS}, "costExpansionRatePercent": 120}, 120),
    ],
)
def test_the_cost_rate_of_a_policy_of_the_whole_model(fields: dict[str, Any], rate: int | None) -> None:
    assert effective_cost_rate(_booster(**fields)) == rate
