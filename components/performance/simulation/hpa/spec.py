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
    """A HorizontalPodAutoscaler that reads what no trace says; the text says what to do."""


@dataclass(frozen=True, slots=True)
class HpaMetric:
    """What is scaled on.

    Attributes:
        of_pods: Whether it is read from each pod (type Pods), and not for all of them at once.
        average: Whether the target is for one replica (AverageValue), and not for all (Value).
        target: In thousandths, as the controller computes.
    """

    name: str
    of_pods: bool
    average: bool
    target: int


@dataclass(frozen=True, slots=True)
class RatePolicy:
    """How much may change in so many milliseconds.

    Attributes:
        percent: Whether the value is a share of the replicas.
    """

    percent: bool
    value: int
    span: int


@dataclass(frozen=True, slots=True)
class Rules:
    """How to scale in one direction.

    Attributes:
        window: Stabilization in milliseconds.
        select: Which of the policies' limits holds, the loosest or the tightest; None where scaling is disabled.
        tolerance: Share of the target by which a metric may miss it.
    """

    window: int
    select: Callable[[Iterable[int]], int] | None
    policies: tuple[RatePolicy, ...]
    tolerance: float = _TOLERANCE


@dataclass(frozen=True, slots=True)
class HpaSpec:
    """What a HorizontalPodAutoscaler says.

    Attributes:
        rated: Whether it has a behavior; without one the controller has rates of its own.
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
        columns: By the name of a metric there, what the trace calls it.

    Raises:
        HpaError: It reads something that no trace says.
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
    """Return the name of a metric that a trace can say.

    Raises:
        HpaError: it is of a type that no trace says.
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
"""What the API server stores where a behavior leaves it out (pkg/apis/autoscaling/v2/defaults.go)."""
