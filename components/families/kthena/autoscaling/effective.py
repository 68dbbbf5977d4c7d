"""Policies, boosters and targets with their defaults (Kthena spec 1.3, 1.4 M1 and M2, D-19).

A policy has two sets of defaults. Within an existing section, those of the CRD apply, which the API server sets. A
missing section gets what Kthena's admission webhook would set if it were ever called: growth by four replicas or
100 %, scale-down after five minutes, no panic mode. They disagree about one field: the webhook would set a window of
five minutes in a ``scaleDown`` without one, where the CRD has none. The CRD wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from ....contract.quantity import parse_quantity
from ....contract.texts.go_durations import milliseconds_of
from ..types.autoscaling import (
    AutoscalingPolicyPanicPolicy,
    AutoscalingPolicySpec,
    AutoscalingPolicyStablePolicy,
    MetricEndpoint,
    ScalingTarget,
)
from ..types.model_booster import ModelBoosterSpec

COST_EXPANSION_RATE = 200
DEFAULT_ENDPOINT = MetricEndpoint.model_validate({})


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits of scaling in one direction: at most ``instances`` or ``percent`` of the replicas per ``period``.

    Attributes:
        period: In milliseconds, like in Kthena; 0 for no limit.
        fastest: Whether the looser of the two limits counts (``Or``) rather than the tighter one (``And``).
        window: In milliseconds; 0 for none.
    """

    instances: int
    percent: int
    period: int
    fastest: bool
    window: int


@dataclass(frozen=True, slots=True)
class Panic:
    """Limits of growth in panic mode; times in milliseconds.

    Attributes:
        period: 0 for no limit.
        threshold: Recommendation, in percent of the replicas, at which panic mode begins.
        hold: How long it lasts; never 0, which would be no panic mode.
    """

    percent: int
    period: int
    threshold: int
    hold: int


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy with all defaults.

    Attributes:
        targets: Target value per replica, by name of the metric.
        tolerance: In percent.
        panic: None without a panic mode.
    """

    targets: Mapping[str, Decimal]
    tolerance: int
    up: Pace
    down: Pace
    panic: Panic | None


_UP = Pace(instances=4, percent=100, period=60_000, fastest=True, window=0)
_DOWN = Pace(instances=0, percent=100, period=60_000, fastest=True, window=300_000)


def effective_policy(spec: AutoscalingPolicySpec) -> EffectivePolicy:
    """Return a policy with its defaults."""
    behavior = spec.behavior
    scale_up = behavior.scale_up if behavior else None
    scale_down = behavior.scale_down if behavior else None
    return EffectivePolicy(
        targets={metric.key: parse_quantity(metric.target_value) for metric in spec.metrics or ()},
        tolerance=spec.tolerance_percent,
        up=_pace(scale_up.stable_policy if scale_up else None, _UP),
        down=_pace(scale_down, _DOWN),
        panic=_panic(scale_up.panic_policy if scale_up else None),
    )


def _pace(policy: AutoscalingPolicyStablePolicy | None, absent: Pace) -> Pace:
    if policy is None:
        return absent
    window = policy.stabilization_window
    return Pace(
        instances=policy.instances,
        percent=policy.percent,
        period=milliseconds_of(policy.period),
        fastest=policy.select_policy == "Or",
        window=milliseconds_of(window) if window is not None else 0,
    )


def _panic(policy: AutoscalingPolicyPanicPolicy | None) -> Panic | None:
    hold = milliseconds_of(policy.panic_mode_hold) if policy else 0
    if policy is None or hold <= 0:
        return None
    return Panic(policy.percent, milliseconds_of(policy.period), policy.panic_threshold_percent, hold)


def effective_endpoint(target: ScalingTarget) -> MetricEndpoint:
    """Return the metrics endpoint of a target; without one, that of ``metricEndpoint: {}`` (D-19)."""
    return target.metric_endpoint or DEFAULT_ENDPOINT


def effective_cost_rate(spec: ModelBoosterSpec) -> int | None:
    """Return the growth rate of the blocks of replicas of a booster, in percent (M1, D-25).

    None without a policy of the whole model, because nothing reads it then. An explicit 0 stays 0 (D-27).
    """
    if spec.autoscaling_policy is None:
        return None
    rate = spec.cost_expansion_rate_percent
    return COST_EXPANSION_RATE if rate is None else rate
