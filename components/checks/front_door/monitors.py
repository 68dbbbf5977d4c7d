"""What Prometheus scrapes of the gateway.

Ports and paths: Envoy Gateway v1.9 (examples/kubernetes/metric/pod-monitor.yaml,
internal/infrastructure/kubernetes/proxy/resource.go), Envoy AI Gateway v1.1 (internal/controller/extproc_builder.go).
"""

from collections.abc import Mapping

from ...fleet.objects import Object, new_object
from .gateway import ENVOY_API
from .settings import ENVOY_NAMESPACE, Door

_PAGES = {"metrics": "/stats/prometheus", "aigw-admin": "/metrics"}
"""By port: Envoy's own, of requests and limits, and its AI sidecar's, of models and tokens."""


def gateway_monitor(door: Door, namespace: str, interval: str, labels: Mapping[str, str]) -> Object:
    """Return what scrapes the proxies of the gateway and their sidecars.

    It is beside the other monitors, and not with the proxies, whose namespace comes with their chart. Its name has a
    dot: no workload has one of the same.
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
