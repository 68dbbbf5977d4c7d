"""The spec of a HorizontalPodAutoscaler, with the defaults of the API server and of the controller."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....contract.quantity import parse_quantity

_TOLERANCE = 0.1
_DOWN_WINDOW = 300
"""Of kube-controller-manager (config/v1alpha1/defaults.go): ``--horizontal-pod-autoscaler-tolerance`` and
``--horizontal-pod-autoscaler-downscale-stabilization``."""
_SELECT = "selectPolicy"


class HpaError(ValueError):
    """A HorizontalPodAutoscaler with metrics that a trace cannot contain; the message states the fix."""


@dataclass(frozen=True, slots=True)
class HpaMetric:
    """A metric of an autoscaler.

    Attributes:
        of_pods: Whether it is a per-pod metric (type Pods).
        average: Whether the target is per replica (AverageValue) rather than total (Value).
        target: In thousandths, like in the controller.
    """

    name: str
    of_pods: bool
    average: bool
    target: int


@dataclass(frozen=True, slots=True)
class RatePolicy:
    """A scaling policy.

    Attributes:
        percent: Whether the value is a percentage of the replicas.
        span: Period in milliseconds.
    """

    percent: bool
    value: int
    span: int


@dataclass(frozen=True, slots=True)
class Rules:
    """Scaling rules of one direction.

    Attributes:
        window: Stabilization window in milliseconds.
        select: Selects the loosest or the tightest limit of the policies; None if scaling is disabled.
        tolerance: Tolerated deviation of a metric, as a share of its target.
    """

    window: int
    select: Callable[[Iterable[int]], int] | None
    policies: tuple[RatePolicy, ...]
    tolerance: float = _TOLERANCE


@dataclass(frozen=True, slots=True)
class HpaSpec:
    """The parsed spec of a HorizontalPodAutoscaler.

    Attributes:
        rated: Whether it has a ``behavior``; without one the controller applies its own rates.
    """

    minimum: int
    maximum: int
    metrics: tuple[HpaMetric, ...]
    up: Rules
    down: Rules
    rated: bool


def read_spec(spec: Mapping[str, Any], columns: Mapping[str, str]) -> HpaSpec:
    """Read the spec of an autoscaler as it is rendered.

    Args:
        spec: In wire form (autoscaling/v2).
        columns: Trace column of each metric name.

    Raises:
        HpaError: It has a metric that a trace cannot contain.
    """
    behavior = spec.get("behavior") or {}
    return HpaSpec(
        minimum=int(spec.get("minReplicas", 1)),
        maximum=int(spec["maxReplicas"]),
        metrics=tuple(_metric(metric, columns) for metric in spec.get("metrics") or ({"type": "Resource"},)),
        up=_rules(behavior.get("scaleUp") or {}, _DEFAULT_UP, up=True),
        down=_rules(behavior.get("scaleDown") or {}, _DEFAULT_DOWN, up=False),
        rated=spec.get("behavior") is not None,
    )


_BODIES = {"Pods": "pods", "Object": "object", "External": "external"}


def name_in(metric: Mapping[str, Any]) -> str:
    """Return the name of a metric.

    Raises:
        HpaError: a trace cannot contain metrics of this type.
    """
    kind = str(metric.get("type"))
    if kind not in _BODIES:
        raise HpaError(
            f"a HorizontalPodAutoscaler on a metric of type {kind} cannot be simulated: a trace has metrics of the "
            f"server alone; scale on a metric of type {', '.join(_BODIES)}"
        )
    return str(metric[_BODIES[kind]]["metric"]["name"])


def _metric(metric: Mapping[str, Any], columns: Mapping[str, str]) -> HpaMetric:
    name = name_in(metric)
    target = metric[_BODIES[metric["type"]]]["target"]
    average = "averageValue" in target
    quantity = target["averageValue"] if average else target["value"]
    # resource.Quantity.MilliValue rounds up.
    thousandths = math.ceil(Fraction(parse_quantity(quantity)) * 1000)
    return HpaMetric(columns.get(name, name), metric["type"] == "Pods", average, thousandths)


def _rules(rules: Mapping[str, Any], default: Mapping[str, Any], *, up: bool) -> Rules:
    whole = {**default, **{key: value for key, value in rules.items() if value is not None}}
    loosest, tightest = (max, min) if up else (min, max)
    select = {"Max": loosest, "Min": tightest, "Disabled": None}[whole[_SELECT]]
    policies = tuple(
        RatePolicy(policy["type"] == "Percent", int(policy["value"]), int(policy["periodSeconds"]) * 1000)
        for policy in whole["policies"]
    )
    tolerance = float(parse_quantity(whole["tolerance"])) if "tolerance" in whole else _TOLERANCE
    return Rules(int(whole["stabilizationWindowSeconds"]) * 1000, select, policies, tolerance)


_DEFAULT_UP: Mapping[str, Any] = {
    "stabilizationWindowSeconds": 0,
    _SELECT: "Max",
    "policies": (
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ),
}
_DEFAULT_DOWN: Mapping[str, Any] = {
    "stabilizationWindowSeconds": _DOWN_WINDOW,
    _SELECT: "Max",
    "policies": ({"type": "Percent", "value": 100, "periodSeconds": 15},),
}
"""Defaults of the API server for an incomplete ``behavior`` (pkg/apis/autoscaling/v2/defaults.go)."""
