"""Replicas that the metrics of a HorizontalPodAutoscaler require (replica_calculator.go, v1.36.3)."""

import math
from fractions import Fraction

from ..trace import TargetReading
from .spec import HpaMetric, HpaSpec

_MOST = 2**31 - 1


def proposed(spec: HpaSpec, replicas: int, reading: TargetReading) -> int | None:
    """Return the largest proposal of all metrics (computeReplicasForMetrics).

    None if no metric is known, or if one is unknown and the others would scale down.
    """
    known = []
    for metric in spec.metrics:
        value = reading.values.get(metric.name)
        if value is not None:
            calculate = _of_pods if metric.of_pods else _of_all
            proposal = calculate(spec, metric, replicas, reading, math.floor(value * 1000))
            if proposal is not None:
                known.append(proposal)
    if not known or (len(known) < len(spec.metrics) and max(known) < replicas):
        return None
    return max(known)


def _of_pods(spec: HpaSpec, metric: HpaMetric, replicas: int, reading: TargetReading, total: int) -> int | None:
    """Return the proposal of a per-pod metric (calcPlainMetricReplicas).

    Failed pods are ignored. Starting pods are Pending and count as idle when scaling up. Running pods without metrics
    count as idle when scaling up, and as exactly at the target when scaling down.
    """
    pods = reading.pods(replicas)
    if not pods.ready:
        return None
    ratio = (total // pods.ready) / metric.target
    if not reading.silent and not (pods.starting and ratio > 1):
        return replicas if _tolerable(spec, ratio) else _int32(math.ceil(ratio * pods.ready))
    count = pods.ready + reading.silent + (pods.starting if ratio > 1 else 0)
    again = ((total + (metric.target * reading.silent if ratio < 1 else 0)) // count) / metric.target
    if _tolerable(spec, again) or (ratio < 1 < again) or (again < 1 < ratio):
        return replicas
    proposal = _int32(math.ceil(again * count))
    against = (again < 1 and proposal > replicas) or (again > 1 and proposal < replicas)
    return replicas if against else proposal


def _of_all(spec: HpaSpec, metric: HpaMetric, replicas: int, reading: TargetReading, usage: int) -> int | None:
    """Return the proposal of a metric with one value for all pods (GetExternal..., GetObject...)."""
    if metric.average:
        count = reading.pods(replicas).count
        if not count:  # the controller divides by zero; the result is never within the tolerance
            return _int32(math.ceil(Fraction(usage, metric.target)))
        if _tolerable(spec, usage / (metric.target * count)):
            return count
        return _int32(math.ceil(usage / metric.target))
    ratio, pods = usage / metric.target, reading.pods(replicas)
    if _tolerable(spec, ratio):
        return replicas
    return _int32(math.ceil(ratio * pods.ready)) if pods.count else None


def _tolerable(spec: HpaSpec, ratio: float) -> bool:
    return 1.0 - spec.down.tolerance <= ratio <= 1.0 + spec.up.tolerance


def _int32(number: int) -> int:
    return min(number, _MOST)
