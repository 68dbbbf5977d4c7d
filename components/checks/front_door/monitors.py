"""PodMonitor of the gateway.

Ports and paths: Envoy Gateway v1.9 (examples/kubernetes/metric/pod-monitor.yaml,
internal/infrastructure/kubernetes/proxy/resource.go), Envoy AI Gateway v1.1 (internal/controller/extproc_builder.go).
"""

from collections.abc import Mapping

from ...fleet.objects import Object, new_object
from .gateway import ENVOY_API
from .settings import ENVOY_NAMESPACE, Door

_PAGES = {"metrics": "/stats/prometheus", "aigw-admin": "/metrics"}
"""Metrics paths by port: Envoy's own (requests and limits), and those of the AI sidecar (models and tokens)."""


def gateway_monitor(door: Door, namespace: str, interval: str, labels: Mapping[str, str]) -> Object:
    """Return the PodMonitor of the gateway's proxies and their sidecars.

    It is in the namespace of the other monitors, because the chart owns that of the proxies. The dot in its name
    prevents collisions with workloads.
    """
    owner = f"{ENVOY_API}/owning-gateway"
    spec = {
        "namespaceSelector": {"matchNames": [ENVOY_NAMESPACE]},
        "selector": {
            "matchLabels": {
                "app.kubernetes.io/component": "proxy",
                f"{owner}-name": door.name,
                f"{owner}-namespace": door.namespace,
            }
        },
        "podMetricsEndpoints": [{"port": port, "path": path, "interval": interval} for port, path in _PAGES.items()],
    }
    monitor = new_object("monitoring.coreos.com/v1", "PodMonitor", f"{door.name}.proxies", namespace, spec)
    if labels:
        monitor["metadata"]["labels"] = dict(sorted(labels.items()))
    return monitor
