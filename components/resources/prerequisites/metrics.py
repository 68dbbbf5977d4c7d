"""Metrics and their APIs: metrics-server, Prometheus, its adapter, KEDA."""

from collections.abc import Sequence
from typing import Any

import pulumi

from ...checks.metrics.dashboard import exported_node_labels
from ...plan.prerequisites.prometheus import PROMETHEUS_PORT, PROMETHEUS_URL
from ..serving.arguments import checked_args
from .args import PrometheusAdapterArgs, PrometheusArgs
from .chart import ChartComponent, FixedChart


class MetricsServer(FixedChart):
    """Serves CPU and memory usage of pods to autoscalers. Do not combine it with the EKS add-on of the same name."""

    _chart = "metrics-server"

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"replicas": 2}


class Prometheus(ChartComponent):
    """Installs the Prometheus operator, one Prometheus and Grafana.

    It selects every PodMonitor, ServiceMonitor and rule in the cluster, regardless of labels (lws-hpa spec 2.2). It
    does not scrape the control plane, which managed clusters do not expose. It exports only the node label that the
    dashboard needs for costs.
    """

    def __init__(self, name: str, args: PrometheusArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, PrometheusArgs)
        self.install("prometheus", name, prometheus_values(args), args, opts)


def prometheus_values(args: PrometheusArgs) -> dict[str, Any]:
    kinds = ("podMonitor", "serviceMonitor", "rule", "probe", "scrapeConfig")
    spec: dict[str, Any] = {f"{kind}SelectorNilUsesHelmValues": False for kind in kinds}
    spec["retention"] = args.get("retention", "10d")
    if "storage_gib" in args:
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{args['storage_gib']}Gi"}},
        }
        spec["storageSpec"] = {"volumeClaimTemplate": {"spec": claim}}
    return {
        "kubeEtcd": {"enabled": False},
        "kubeScheduler": {"enabled": False},
        "kubeControllerManager": {"enabled": False},
        "grafana": {"enabled": args.get("grafana", True)},
        "kube-state-metrics": {"metricLabelsAllowlist": exported_node_labels()},
        "prometheus": {"prometheusSpec": spec},
    }


class PrometheusAdapter(ChartComponent):
    """Serves the Prometheus metrics that its rules name to autoscalers."""

    def __init__(self, name: str, args: PrometheusAdapterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, PrometheusAdapterArgs)
        self.install("prometheus-adapter", name, adapter_values(args), args, opts)


def adapter_values(args: PrometheusAdapterArgs) -> dict[str, Any]:
    """Return the chart's values, without its default rules, which would expose every series in the cluster."""
    rules = args.get("rules", {})
    external: Sequence[Any] = rules.get("external", []) if args.get("external", True) else []
    return {
        "prometheus": {"url": args.get("url", PROMETHEUS_URL), "port": args.get("port", PROMETHEUS_PORT)},
        "replicas": 2,
        "metricsRelistInterval": "1m",
        "rules": {"default": False, "custom": list(rules.get("custom", [])), "external": list(external)},
    }


class Keda(FixedChart):
    """Scales on Prometheus metrics, including from and to zero. It provides the external metrics API."""

    _chart = "keda"

    @staticmethod
    def _values() -> dict[str, Any]:
        # KEDA's own series report failed queries.
        return {
            "crds": {"install": True},
            "prometheus": {"operator": {"enabled": True, "serviceMonitor": {"enabled": True}}},
        }
