"""The arguments of the charts' components. Values of a chart may be outputs; the rest is plain.

No setting of a fleet stands for them one to one, so that they are declared here.
"""

from ..serving.argument_maps import VARIANT_CONTROLLER
from ..serving.mapped_arguments import ArgumentMap, Own

_VALUES = Own(
    "dict[str, pulumi.Input[Any]]", "Values of the chart, which override those set here; leaves may be outputs."
)

CHART = ArgumentMap(
    "ChartArgs",
    doc="Arguments of a chart that has to be told nothing.",
    own={
        "values": _VALUES,
    },
)

GPU_OPERATOR = ArgumentMap(
    "GpuOperatorArgs",
    doc="Arguments of GpuOperator.",
    own={
        "device_plugin": Own(
            "bool",
            "Whether it installs the device plugin; set to false on Bottlerocket, whose images include one. "
            "Default: true.",
        ),
        "values": _VALUES,
    },
)

ENVOY_GATEWAY = ArgumentMap(
    "EnvoyGatewayArgs",
    doc="Arguments of EnvoyGateway.",
    own={
        "redis": Own(
            "str",
            "host:port of a Redis that counts for all proxies; rediss://host:port with TLS. Default: each "
            "proxy counts.",
        ),
        "values": _VALUES,
    },
)

PROMETHEUS = ArgumentMap(
    "PrometheusArgs",
    doc="Arguments of Prometheus.",
    own={
        "retention": Own(
            "str",
            "How long samples are kept. Default: 10d.",
        ),
        "storage_gib": Own(
            "int",
            "Size of its volume. Default: no volume; samples are lost with the pod.",
        ),
        "grafana": Own(
            "bool",
            "Whether to install Grafana as well. Default: true.",
        ),
        "values": _VALUES,
    },
)

PROMETHEUS_ADAPTER = ArgumentMap(
    "PrometheusAdapterArgs",
    doc="Arguments of PrometheusAdapter.",
    own={
        "url": Own(
            "str",
            "URL of Prometheus, without port. Default: that of this package's Prometheus.",
        ),
        "port": Own(
            "int",
            "Its port. Default: 9090.",
        ),
        "rules": Own(
            "dict[str, Any]",
            "The chart's rules, custom and external. Default: none.",
        ),
        "external": Own(
            "bool",
            "Whether it serves external metrics; set to false with KEDA, which provides that API. Default: true.",
        ),
        "values": _VALUES,
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
    },
)

VARIANT_AUTOSCALER = ArgumentMap(
    "VariantAutoscalerArgs",
    doc="Arguments of VariantAutoscaler.",
    base=VARIANT_CONTROLLER,
    own={
        "scrape_interval": Own(
            "str",
            "How often Prometheus scrapes its metrics. Default: 15s.",
        ),
        "monitor_labels": Own(
            "dict[str, str]",
            "Labels by which Prometheus finds what to scrape, beside release: kube-prometheus-stack.",
        ),
        "scraper_namespace": Own(
            "str",
            "Namespace of the pods of Prometheus, which may read its metrics. Default: monitoring.",
        ),
        "scraper_account": Own(
            "str",
            "Their service account; empty for any of that namespace. Default: that of this package's Prometheus.",
        ),
        "network_policy": Own(
            "bool",
            "Whether only these pods may connect to it. Default: false.",
        ),
        "create_namespace": Own(
            "bool",
            "Whether to create its namespace, inferno-autoscaler-system. Default: true.",
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
