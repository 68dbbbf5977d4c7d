"""Installs the prerequisites of a fleet, in the order of their dependencies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pulumi

from ....checks.metrics.words import Adapter
from ....families import operator_family
from ....plan.monitoring import asked_over_https, scraper_of
from ....plan.namespaces import gate_labels
from ....plan.plan import Plan
from ....plan.prerequisites.charts import LOAD_BALANCER, charts, providers_of
from ....plan.prerequisites.images import image_values
from ....plan.prerequisites.prometheus import PROMETHEUS_ACCOUNT
from ....plan.settings import Prerequisites
from ...prerequisites import accelerators, metrics, networking, operators, variants, workloads
from ...prerequisites.args import (
    ChartArgs,
    EnvoyGatewayArgs,
    PrometheusAdapterArgs,
    PrometheusArgs,
    VariantAutoscalerArgs,
)
from ...prerequisites.chart import SYSTEM, ChartComponent, release_timeout
from ..objects import KubernetesObject, kubernetes_object
from ..site import Site
from .cloud_charts import COMPONENTS, ROLE_ANNOTATION, OnCloud

_Chart = Callable[[str, ChartArgs, pulumi.ResourceOptions], ChartComponent]
"""Creates the component of a chart that has no settings of its own."""
_Make = Callable[[str, "Installation", pulumi.ResourceOptions], pulumi.ComponentResource]


class Installation:
    """The prerequisites of a plan in one cluster."""

    def __init__(self, planned: Plan, settings: Prerequisites, site: Site) -> None:
        self.planned = planned
        self.settings = settings
        self.site = replace(site, longest_grace=planned.longest_grace)

    def image_values(self, chart: str) -> dict[str, Any]:
        """Return Helm values that redirect a chart's images to the image cache; empty without one."""
        return image_values(chart, self.planned.environment.image_cache)

    def install(
        self, prefix: str, parent: pulumi.Resource, namespaces: Mapping[str, KubernetesObject]
    ) -> dict[str, pulumi.ComponentResource]:
        """Create the components of all prerequisites, and return them by chart name.

        Args:
            prefix: Prefix of logical names.
            parent: The parent component.
            namespaces: Namespaces of the models, by name.
        """
        installed: dict[str, pulumi.ComponentResource] = {}
        all_namespaces = dict(namespaces)
        for prerequisite in self.planned.prerequisites if self.settings.install else ():
            name, namespace = prerequisite.chart.name, prerequisite.chart.namespace
            after: list[pulumi.Resource] = [*self.site.after, *(installed[name] for name in prerequisite.after)]
            if self.site.owned and namespace != SYSTEM and namespace not in all_namespaces:
                cleaners = [installed[key] for key in providers_of(LOAD_BALANCER) if key in installed]
                labels = gate_labels(self.planned, namespace)
                all_namespaces[namespace] = _namespace(
                    prefix, namespace, labels, parent, [*self.site.after, *cleaners]
                )
            after += [all_namespaces[namespace]] if namespace in all_namespaces else []
            within = release_timeout(self.planned.environment.waits.charts)
            opts = pulumi.ResourceOptions(parent=parent, depends_on=after, transformations=within)
            installed[name] = _COMPONENTS[name](f"{prefix}-{name}", self, opts)
        return installed


def _namespace(
    prefix: str, name: str, labels: Mapping[str, str], parent: pulumi.Resource, after: Sequence[pulumi.Resource]
) -> KubernetesObject:
    """Create the namespace of a chart, whose deletion also deletes what controllers created in it.

    Examples are the Service of a gateway, whose load balancer would block the deletion of the VPC, and the claim of
    Prometheus. The load balancer controller removes the Service's finalizer and must therefore be deleted last (its
    controllers/service/service_controller.go). The gateway's controller adds no finalizer to a Gateway, and is
    deleted before (envoyproxy/gateway v1.9.0, internal/provider/kubernetes/controller.go).
    """
    metadata = {"name": name, **({"labels": dict(labels)} if labels else {})}
    value = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    options = pulumi.ResourceOptions(parent=parent, depends_on=list(after))
    return kubernetes_object(value, f"{prefix}-{name}", options)


def _prometheus(name: str, installation: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    settings = installation.settings
    args: PrometheusArgs = {
        "retention": settings.retention,
        "grafana": settings.grafana,
        "values": installation.image_values("prometheus"),
    }
    if settings.storage_gib:
        args["storage_gib"] = settings.storage_gib
    return metrics.Prometheus(name, args, opts)


def _adapter(name: str, installation: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    settings = installation.settings
    args: PrometheusAdapterArgs = {
        "url": settings.prometheus_url,
        "port": settings.prometheus_port,
        "rules": dict(installation.planned.chain.adapter_rules),
        "external": settings.adapter != Adapter.KEDA and Adapter.KEDA not in settings.present,
        "values": installation.image_values("prometheus-adapter"),
    }
    return metrics.PrometheusAdapter(name, args, opts)


def _gpu_operator(name: str, installation: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    cluster = installation.planned.environment.cluster
    own = cluster is None or "nvidia.com/gpu" not in cluster.on_nodes
    values = installation.image_values("gpu-operator")
    return accelerators.GpuOperator(name, {"device_plugin": own, "values": values}, opts)


def _envoy_gateway(name: str, installation: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: EnvoyGatewayArgs = {"values": installation.image_values("envoy-gateway")}
    redis = installation.planned.environment.door.rate_limit.redis
    if redis:
        args["redis"] = redis
    return networking.EnvoyGateway(name, args, opts)


def _cert_manager(name: str, installation: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
    values = dict(installation.image_values("cert-manager"))
    # Without Pod Identity, an annotation names the role for DNS-01 challenges.
    role = installation.site.role_of("cert-manager") if installation.site.answers_challenges else None
    if role is not None:
        values["serviceAccount"] = {"annotations": {ROLE_ANNOTATION: role}}
    return workloads.CertManager(name, {"values": values} if values else {}, opts)


def _variant_autoscaler(
    name: str, installation: Installation, opts: pulumi.ResourceOptions
) -> pulumi.ComponentResource:
    """Install the variant autoscaler in the namespace that the fleet creates for its shared ConfigMaps."""
    environment = installation.planned.environment
    controller = environment.options.levels.controller
    args: VariantAutoscalerArgs = {
        "prometheus_url": asked_over_https(environment),
        "insecure_skip_verify": controller.skip_verify,
        "scale_to_zero": controller.scale_to_zero,
        "interval": controller.interval,
        "image": controller.image,
        "ca_secret": controller.ca_secret,
        "scrape_interval": environment.metrics.interval,
        "monitor_labels": dict(environment.metrics.monitor_labels),
        "scraper_namespace": scraper_of(environment) or "",
        "scraper_account": "" if "prometheus" in environment.present else PROMETHEUS_ACCOUNT,
        "network_policy": environment.network_policies,
        "create_namespace": False,
        "release": environment.options.releases.get(operator_family("wva"), ""),
    }
    if environment.image_cache:
        args["image"] = environment.image_cache.reference(variants.controller_image(args))
    return variants.VariantAutoscaler(name, args, opts)


def _fixed(chart: str, component: _Chart) -> _Make:
    """Return a factory for a chart without settings, except the image cache and the release of an API."""

    def make(name: str, installation: Installation, opts: pulumi.ResourceOptions) -> ChartComponent:
        args: ChartArgs = {"values": installation.image_values(chart)}
        version = next(p.chart.version for p in installation.planned.prerequisites if p.chart.name == chart)
        if version != charts()[chart].version:
            args["version"] = version
        return component(name, args, opts)

    return make


def _sited(chart: str, component: OnCloud) -> _Make:
    """Return a factory for a chart that requires facts about the cluster."""
    return lambda name, installation, opts: component(name, installation.site, installation.image_values(chart), opts)


_FIXED: Mapping[str, _Chart] = {
    "ai-gateway": networking.AiGateway,
    "ai-gateway-crds": networking.AiGatewayKinds,
    "dcgm-exporter": accelerators.DcgmExporter,
    "keda": metrics.Keda,
    "kthena": operators.KthenaOperator,
    "kthena-router": operators.KthenaRouter,
    "leader-worker-set": workloads.LeaderWorkerSetController,
    "llmaz": operators.LlmazOperator,
    "llmkube": operators.LlmkubeOperator,
    "metrics-server": metrics.MetricsServer,
    "nvidia-device-plugin": accelerators.NvidiaDevicePlugin,
    "volcano": workloads.Volcano,
}


_COMPONENTS: Mapping[str, _Make] = {
    **{name: _sited(name, component) for name, component in COMPONENTS.items()},
    **{name: _fixed(name, component) for name, component in _FIXED.items()},
    "cert-manager": _cert_manager,
    "envoy-gateway": _envoy_gateway,
    "gpu-operator": _gpu_operator,
    "prometheus": _prometheus,
    "prometheus-adapter": _adapter,
    "wva": _variant_autoscaler,
}
