"""Installs what the models of a stack need, each after what it needs itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes

from components.planning.prerequisites import Prerequisite
from components.prerequisites import accelerators, metrics, networking, node_autoscaling, operators, workloads
from components.prerequisites.chart import ChartComponent

from .settings import Settings


@dataclass(frozen=True, slots=True)
class Place:
    """Where prerequisites go, and what they must be told of it.

    Attributes:
        after: What must be there before any of them, such as identities.
    """

    provider: pulumi_kubernetes.Provider
    vpc_id: pulumi.Input[str] = ""
    interruption_queue: pulumi.Input[str] = ""
    adapter_rules: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[pulumi.Resource, ...] = ()


_Make = Callable[[str, Settings, Place, pulumi.ResourceOptions], ChartComponent]


def _prometheus(name: str, settings: Settings, _: Place, opts: pulumi.ResourceOptions) -> ChartComponent:
    said = settings.prerequisites
    args: metrics.PrometheusArgs = {"retention": said.retention, "grafana": said.grafana}
    if said.storage_gib:
        args["storage_gib"] = said.storage_gib
    return metrics.Prometheus(name, args, opts)


def _adapter(name: str, settings: Settings, place: Place, opts: pulumi.ResourceOptions) -> ChartComponent:
    said = settings.prerequisites
    args: metrics.PrometheusAdapterArgs = {
        "url": said.prometheus_url,
        "port": said.prometheus_port,
        "rules": place.adapter_rules,
        "external": said.adapter != "keda" and "keda" not in said.present,
    }
    return metrics.PrometheusAdapter(name, args, opts)


def _cluster_autoscaler(name: str, settings: Settings, _: Place, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: node_autoscaling.ClusterAutoscalerArgs = {
        "cluster_name": settings.cluster_name,
        "region": settings.region,
    }
    return node_autoscaling.ClusterAutoscaler(name, args, opts)


def _karpenter(name: str, settings: Settings, place: Place, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: node_autoscaling.KarpenterArgs = {
        "cluster_name": settings.cluster_name,
        "interruption_queue": place.interruption_queue,
    }
    return node_autoscaling.Karpenter(name, args, opts)


def _load_balancers(name: str, settings: Settings, place: Place, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: networking.LoadBalancerControllerArgs = {
        "cluster_name": settings.cluster_name,
        "region": settings.region,
        "vpc_id": place.vpc_id,
    }
    return networking.LoadBalancerController(name, args, opts)


def _gpu_operator(name: str, settings: Settings, _: Place, opts: pulumi.ResourceOptions) -> ChartComponent:
    own = settings.gpu_nodes.image != "bottlerocket"
    return accelerators.GpuOperator(name, {"device_plugin": own}, opts)


def _plain(component: Callable[[str, pulumi.ResourceOptions], ChartComponent]) -> _Make:
    """Make a component that needs to be told nothing."""
    return lambda name, _settings, _place, opts: component(name, opts)


_COMPONENTS: Mapping[str, _Make] = {
    "ai-gateway": _plain(networking.AiGateway),
    "ai-gateway-crds": _plain(networking.AiGatewayKinds),
    "cert-manager": _plain(workloads.CertManager),
    "cluster-autoscaler": _cluster_autoscaler,
    "dcgm-exporter": _plain(accelerators.DcgmExporter),
    "efa-device-plugin": _plain(accelerators.EfaDevicePlugin),
    "envoy-gateway": _plain(networking.EnvoyGateway),
    "gpu-operator": _gpu_operator,
    "karpenter": _karpenter,
    "keda": _plain(metrics.Keda),
    "kthena": _plain(operators.KthenaOperator),
    "leader-worker-set": _plain(workloads.LeaderWorkerSetController),
    "llmaz": _plain(operators.LlmazOperator),
    "llmkube": _plain(operators.LlmkubeOperator),
    "load-balancer-controller": _load_balancers,
    "metrics-server": _plain(metrics.MetricsServer),
    "neuron-device-plugin": _plain(accelerators.NeuronDevicePlugin),
    "nvidia-device-plugin": _plain(accelerators.NvidiaDevicePlugin),
    "prometheus": _prometheus,
    "prometheus-adapter": _adapter,
    "volcano": _plain(workloads.Volcano),
}


def install(listed: tuple[Prerequisite, ...], settings: Settings, place: Place) -> dict[str, ChartComponent]:
    """Register the prerequisites in order; return them by name."""
    made: dict[str, ChartComponent] = {}
    for each in listed:
        after: list[pulumi.Resource] = [*place.after, *(made[name] for name in each.after)]
        opts = pulumi.ResourceOptions(providers=[place.provider], depends_on=after)
        made[each.chart.name] = _COMPONENTS[each.chart.name](each.chart.name, settings, place, opts)
    return made
