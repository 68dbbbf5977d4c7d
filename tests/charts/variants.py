"""Every chart under every choice that changes its values, as its component hands them to helm."""

import copy
import functools
from collections.abc import Iterator
from typing import Any

from components.resources.aws import charts as aws_charts
from components.resources.prerequisites import accelerators, metrics, networking, workloads
from tests.resources.prerequisites.test_components import COMPONENTS, LBC, RELEASE, RULES, Make, made

Values = dict[str, Any]
Path = tuple[str, ...]
USUAL = "usual"
"""The choice that every chart has."""

_CHOICES: dict[tuple[str, str], Make] = {
    ("prometheus", "nothing said"): lambda o: metrics.Prometheus("x", {}, o),
    ("prometheus", "without grafana"): lambda o: metrics.Prometheus("x", {"grafana": False, "retention": "30d"}, o),
    ("prometheus-adapter", "no rules"): lambda o: metrics.PrometheusAdapter("x", {}, o),
    ("prometheus-adapter", "beside keda"): lambda o: metrics.PrometheusAdapter(
        "x", {"rules": RULES, "external": False}, o
    ),
    ("prometheus-adapter", "another prometheus"): lambda o: metrics.PrometheusAdapter(
        "x", {"url": "https://thanos.observability.svc", "port": 443, "rules": RULES}, o
    ),
    ("envoy-gateway", "counting"): lambda o: networking.EnvoyGateway(
        "x", {"redis": "rediss://redis.example:6379"}, o
    ),
    ("gpu-operator", "bottlerocket"): lambda o: accelerators.GpuOperator("x", {"device_plugin": False}, o),
    ("cluster-autoscaler", "a role"): lambda o: aws_charts.ClusterAutoscaler(
        "x", {"cluster_name": "c", "region": "us-east-1", "role_arn": "arn"}, o
    ),
    ("cluster-autoscaler", "bounds"): lambda o: aws_charts.ClusterAutoscaler(
        "x",
        {"cluster_name": "c", "region": "us-east-1", "bounds": [{"name": "asg-1", "minSize": 1, "maxSize": 4}]},
        o,
    ),
    ("cluster-autoscaler", "bounds alone, in order"): lambda o: aws_charts.ClusterAutoscaler(
        "x",
        {
            "cluster_name": "c",
            "region": "us-east-1",
            "bounds": [
                {"name": "asg-1", "minSize": 1, "maxSize": 4, "priority": 20},
                {"name": "asg-2", "minSize": 0, "maxSize": 2},
            ],
            "bounded_only": True,
        },
        o,
    ),
    ("karpenter", "features"): lambda o: aws_charts.Karpenter(
        "x",
        {
            "cluster_name": "c",
            "interruption_queue": "q",
            "features": ["nodeRepair", "spotToSpotConsolidation", "staticCapacity"],
        },
        o,
    ),
    ("karpenter", "a role"): lambda o: aws_charts.Karpenter(
        "x", {"cluster_name": "c", "interruption_queue": "q", "role_arn": "arn"}, o
    ),
    ("cert-manager", "a role"): lambda o: workloads.CertManager(
        "x", {"values": {"serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn"}}}}, o
    ),
    ("load-balancer-controller", "a role"): lambda o: aws_charts.LoadBalancerController(
        "x", {**LBC, "role_arn": "arn"}, o
    ),
}
VARIANTS: dict[tuple[str, str], Make] = {**{(chart, USUAL): make for chart, make in COMPONENTS.items()}, **_CHOICES}


@functools.cache
def _handed_over(chart: str, choice: str) -> Values:
    (release,) = made(VARIANTS[chart, choice]).of(RELEASE)
    found: Values = release.inputs.get("values", {})
    return found


def values(chart: str, choice: str = USUAL) -> Values:
    """What helm is given: a copy that the caller may change."""
    return copy.deepcopy(_handed_over(chart, choice))


def leaves(found: Values, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that is not itself a map, by its path; an empty map is one."""
    for key, value in found.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def at(found: Values, path: Path) -> Any:
    """The value at a path.

    Raises:
        KeyError: there is nothing.
    """
    value: Any = found
    for key in path:
        if not isinstance(value, dict):
            raise KeyError(key)
        value = value[key]
    return value
