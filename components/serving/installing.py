"""Installs what the models of a fleet need, each after what it needs itself."""

from collections.abc import Callable, Mapping

import pulumi

from ..plan.plan import Plan
from ..plan.settings import Prerequisites
from ..prerequisites import accelerators, metrics, networking, node_autoscaling, operators, workloads
from ..prerequisites.chart import ChartComponent
from .site import Site

_Make = Callable[[str, "Installation", pulumi.ResourceOptions], ChartComponent]


class Installation:
    """What is installed for a plan, and where."""

    def __init__(self, planned: Plan, wanted: Prerequisites, site: Site) -> None:
        self.planned = planned
        self.wanted = wanted
        self.site = site

    def install(self, prefix: str, parent: pulumi.Resource) -> dict[str, ChartComponent]:
        """Register the charts in order, below a component; return them by their names."""
        made: dict[str, ChartComponent] = {}
        for each in self.planned.prerequisites if self.wanted.install else ():
            after: list[pulumi.Resource] = [*self.site.after, *(made[name] for name in each.after)]
            opts = pulumi.ResourceOptions(parent=parent, depends_on=after)
            name = each.chart.name
            made[name] = _COMPONENTS[name](f"{prefix}-{name}", self, opts)
        return made


def _prometheus(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    wanted = place.wanted
    args: metrics.PrometheusArgs = {"retention": wanted.retention, "grafana": wanted.grafana}
    if wanted.storage_gib:
        args["storage_gib"] = wanted.storage_gib
    return metrics.Prometheus(name, args, opts)


def _adapter(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    wanted = place.wanted
    args: metrics.PrometheusAdapterArgs = {
        "url": wanted.prometheus_url,
        "port": wanted.prometheus_port,
        "rules": dict(place.planned.chain.adapter_rules),
        "external": wanted.adapter != "keda" and "keda" not in wanted.present,
    }
    return metrics.PrometheusAdapter(name, args, opts)


def _cluster_autoscaler(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: node_autoscaling.ClusterAutoscalerArgs = {"cluster_name": place.site.name, "region": place.site.region}
    return node_autoscaling.ClusterAutoscaler(name, args, opts)


def _karpenter(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: node_autoscaling.KarpenterArgs = {
        "cluster_name": place.site.name,
        "interruption_queue": place.site.interruption_queue,
    }
    return node_autoscaling.Karpenter(name, args, opts)


def _load_balancers(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: networking.LoadBalancerControllerArgs = {
        "cluster_name": place.site.name,
        "region": place.site.region,
        "vpc_id": place.site.vpc_id,
    }
    return networking.LoadBalancerController(name, args, opts)


def _gpu_operator(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    cluster = place.planned.environment.cluster
    own = cluster is None or cluster.image != "bottlerocket"
    return accelerators.GpuOperator(name, {"device_plugin": own}, opts)


def _plain(component: Callable[[str, pulumi.ResourceOptions], ChartComponent]) -> _Make:
    """Make a component that needs to be told nothing."""
    return lambda name, _place, opts: component(name, opts)


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
