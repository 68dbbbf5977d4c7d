"""Installs what the models of a fleet need, each after what it needs itself."""

from collections.abc import Callable, Mapping

import pulumi

from ...aws.components.charts import ON_AWS
from ...aws.words import NodeImage
from ...metrics.words import Adapter
from ...plan.plan import Plan
from ...plan.settings import Prerequisites
from ...prerequisites import accelerators, metrics, networking, operators, workloads
from ...prerequisites.chart import ChartComponent, FixedChart
from ..site import Site

_Make = Callable[[str, "Installation", pulumi.ResourceOptions], ChartComponent]


class Installation:
    """What is installed for a plan, and where."""

    def __init__(self, planned: Plan, wanted: Prerequisites, site: Site) -> None:
        self.planned = planned
        self.wanted = wanted
        self.site = site

    def install(self, prefix: str, parent: pulumi.Resource) -> dict[str, ChartComponent]:
        """Register the charts in order, below a component; return them by their names."""
        installed: dict[str, ChartComponent] = {}
        for each in self.planned.prerequisites if self.wanted.install else ():
            after: list[pulumi.Resource] = [*self.site.after, *(installed[name] for name in each.after)]
            opts = pulumi.ResourceOptions(parent=parent, depends_on=after)
            name = each.chart.name
            installed[name] = _COMPONENTS[name](f"{prefix}-{name}", self, opts)
        return installed


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
        "external": wanted.adapter != Adapter.KEDA and Adapter.KEDA not in wanted.present,
    }
    return metrics.PrometheusAdapter(name, args, opts)


def _gpu_operator(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    cluster = place.planned.environment.cluster
    own = cluster is None or cluster.image != NodeImage.BOTTLEROCKET
    return accelerators.GpuOperator(name, {"device_plugin": own}, opts)


def _envoy_gateway(name: str, place: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    redis = place.planned.environment.door.rate_limit.redis
    return networking.EnvoyGateway(name, {"redis": redis} if redis else {}, opts)


def _fixed(component: type[FixedChart]) -> _Make:
    """Make a component that needs to be told nothing."""
    return lambda name, _place, opts: component(name, opts=opts)


def _sited(component: Callable[[str, Site, pulumi.ResourceOptions], ChartComponent]) -> _Make:
    """Make a component that has to know the cluster."""
    return lambda name, place, opts: component(name, place.site, opts)


_COMPONENTS: Mapping[str, _Make] = {
    **{name: _sited(component) for name, component in ON_AWS.items()},
    "ai-gateway": _fixed(networking.AiGateway),
    "ai-gateway-crds": _fixed(networking.AiGatewayKinds),
    "cert-manager": _fixed(workloads.CertManager),
    "dcgm-exporter": _fixed(accelerators.DcgmExporter),
    "envoy-gateway": _envoy_gateway,
    "gpu-operator": _gpu_operator,
    "keda": _fixed(metrics.Keda),
    "kthena": _fixed(operators.KthenaOperator),
    "leader-worker-set": _fixed(workloads.LeaderWorkerSetController),
    "llmaz": _fixed(operators.LlmazOperator),
    "llmkube": _fixed(operators.LlmkubeOperator),
    "metrics-server": _fixed(metrics.MetricsServer),
    "nvidia-device-plugin": _fixed(accelerators.NvidiaDevicePlugin),
    "prometheus": _prometheus,
    "prometheus-adapter": _adapter,
    "volcano": _fixed(workloads.Volcano),
}
