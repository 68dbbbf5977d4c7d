"""Argument maps of the chart components. Helm values may be outputs; all other arguments are plain.

They do not correspond to settings of a fleet one to one, so they are declared here.
"""

from ..serving.argument_maps import VALUES, VARIANT_CONTROLLER
from ..serving.mapped_arguments import ArgumentMap, Own

CHART = ArgumentMap(
    "ChartArgs",
    doc="Arguments of a chart that requires none.",
    own={
        "version": Own(
            "str", "Version of the chart. Default: the pinned one, which the values were checked against."
        ),
        "values": VALUES,
    },
)

GPU_OPERATOR = ArgumentMap(
    "GpuOperatorArgs",
    doc="Arguments of GpuOperator.",
    own={
        "device_plugin": Own(
            "bool",
            "Whether the operator installs the device plugin. Set to false on Bottlerocket, whose AMIs include it. "
            "Default: true.",
        ),
        "values": VALUES,
    },
)

ENVOY_GATEWAY = ArgumentMap(
    "EnvoyGatewayArgs",
    doc="Arguments of EnvoyGateway.",
    own={
        "redis": Own(
            "str",
            "Address of the Redis server that counts requests for rate limits across all proxies: host:port, or "
            "rediss://host:port with TLS. Default: none; each proxy counts its own requests.",
        ),
        "values": VALUES,
    },
)

PROMETHEUS = ArgumentMap(
    "PrometheusArgs",
    doc="Arguments of Prometheus.",
    own={
        "retention": Own(
            "str",
            "Retention of samples, such as 10d. Default: 10d.",
        ),
        "storage_gib": Own(
            "int",
            "Size of the volume in GiB. Default: no volume; samples are lost with the pod.",
        ),
        "grafana": Own(
            "bool",
            "Whether to install Grafana as well. Default: true.",
        ),
        "values": VALUES,
    },
)

PROMETHEUS_ADAPTER = ArgumentMap(
    "PrometheusAdapterArgs",
    doc="Arguments of PrometheusAdapter.",
    own={
        "url": Own(
            "str",
            "URL of Prometheus without the port. Default: the URL of the component Prometheus.",
        ),
        "port": Own(
            "int",
            "Port of Prometheus. Default: 9090.",
        ),
        "rules": Own(
            "dict[str, Any]",
            "Rules of the chart, under the keys custom and external. Default: none.",
        ),
        "external": Own(
            "bool",
            "Whether the adapter serves the external metrics API. Set to false with KEDA, which provides it. "
            "Default: true.",
        ),
        "values": VALUES,
    },
)

CUSTOM_RESOURCES = ArgumentMap(
    "CustomResourcesArgs",
    doc="Arguments of CustomResources.",
    own={
        "kinds": Own(
            "list[str]",
            "Names of the kinds, such as LeaderWorkerSet.",
            required=True,
        ),
        "releases": Own(
            "dict[str, str]",
            "Release of the API whose definitions are installed, by family: llmaz, llmkube, kthena, llmd. Default: "
            "the release that the package first supported.",
        ),
    },
)

VARIANT_AUTOSCALER = ArgumentMap(
    "VariantAutoscalerArgs",
    doc="Arguments of VariantAutoscaler.",
    base=VARIANT_CONTROLLER,
    own={
        "scrape_interval": Own(
            "str",
            "Interval at which Prometheus scrapes the controller. Default: 15s.",
        ),
        "monitor_labels": Own(
            "dict[str, str]",
            "Labels of the ServiceMonitor by which Prometheus selects it, in addition to release: "
            "kube-prometheus-stack.",
        ),
        "scraper_namespace": Own(
            "str",
            "Namespace of the Prometheus pods, which may read the controller's metrics. Default: monitoring.",
        ),
        "scraper_account": Own(
            "str",
            "Service account of the Prometheus pods; empty for any in their namespace. "
            "Default: the service account of the component Prometheus.",
        ),
        "network_policy": Own(
            "bool",
            "Whether a NetworkPolicy admits only the Prometheus pods. Default: false.",
        ),
        "create_namespace": Own(
            "bool",
            "Whether to create the namespace inferno-autoscaler-system. Default: true.",
        ),
        "release": Own(
            "str",
            "Release of the controller: c0f645c, v0.0.5, v0.4.1 or v0.4.2. Default: c0f645c.",
        ),
    },
)

MAPS = (
    CHART,
    GPU_OPERATOR,
    ENVOY_GATEWAY,
    PROMETHEUS,
    PROMETHEUS_ADAPTER,
    CUSTOM_RESOURCES,
    VARIANT_AUTOSCALER,
)
