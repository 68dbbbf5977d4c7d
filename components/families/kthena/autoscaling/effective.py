"""What a policy, a booster and a target mean once what is absent is filled in (Kthena spec 1.3, 1.4 M1 and M2, D-19).

Two sets of defaults meet in a policy. Inside a section that is there, the contract's own apply, as the API server
fills them in. A section that is absent gets what Kthena's admission hook would write, had it ever been called:
growing by four or by everything, shrinking after five minutes, no panic. The two disagree about a window: the hook
would write five minutes into a ``scaleDown`` without one, the contract calls an unset window none. The contract wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from ....contract.quantity import parse_quantity
from ..durations import milliseconds_of
from ..types.autoscaling import (
    AutoscalingPolicyPanicPolicy,
    AutoscalingPolicySpec,
    AutoscalingPolicyStablePolicy,
    MetricEndpoint,
    ScalingTarget,
)
from ..types.model_booster import ModelBackend, ModelBoosterSpec

COST_EXPANSION_RATE = 200
GRACE_PERIOD = "30s"


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast replicas may change: at most ``instances`` or ``percent`` of them per ``period``.

    Attributes:
        period: In milliseconds, as Kthena counts; 0 for no limit.
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
    """How fast replicas may grow once the load has jumped; times in milliseconds.

    Attributes:
        period: 0 for no limit.
        threshold: How many per cent of the replicas must be wanted.
        hold: How long it lasts; never 0, as that is no panic.
    """

    percent: int
    period: int
    threshold: int
    hold: int


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy with nothing left open.

    Attributes:
        targets: The value for each replica, by name of the metric.
        tolerance: In per cent.
        panic: None where there is no panic mode.
    """

    targets: Mapping[str, Decimal]
    tolerance: int
    up: Pace
    down: Pace
    panic: Panic | None


_UP = Pace(instances=4, percent=100, period=60_000, fastest=True, window=0)
_DOWN = Pace(instances=0, percent=100, period=60_000, fastest=True, window=300_000)


def effective_policy(spec: AutoscalingPolicySpec) -> EffectivePolicy:
    """Return what a policy means."""
    behavior = spec.behavior
    growing = behavior.scale_up if behavior else None
    shrinking = behavior.scale_down if behavior else None
    return EffectivePolicy(
        targets={metric.metric_name: parse_quantity(metric.target_value) for metric in spec.metrics},
        tolerance=spec.tolerance_percent,
        up=_pace(growing.stable_policy if growing else None, _UP),
        down=_pace(shrinking, _DOWN),
        panic=_panic(growing.panic_policy if growing else None),
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
    """Return where the metrics of a target are: where nothing is said, as if ``metricEndpoint: {}`` were (D-19)."""
    return target.metric_endpoint or MetricEndpoint.model_validate({})


def effective_cost_rate(spec: ModelBoosterSpec) -> int | None:
    """Return how much dearer each block of replicas of a booster is than the one before, in per cent (M1, D-25).

    None without a policy of the whole model: nothing reads it then. A written 0 stays 0 (D-27).
    """
    if spec.autoscaling_policy is None:
        return None
    written = spec.cost_expansion_rate_percent
    return COST_EXPANSION_RATE if written is None else written


def effective_grace_period(spec: ModelBoosterSpec, backend: ModelBackend) -> str | None:
    """Return how long a backend waits before it scales to zero (M1); None without a policy of the whole model."""
    return (backend.scale_to_zero_grace_period or GRACE_PERIOD) if spec.autoscaling_policy else None
