"""How Prometheus reaches the controller, and that nobody else does (WVA spec 6, 9)."""

from ....fleet.objects import Object
from ...family import OperatorSite
from .identity import LABELS, MANAGER, METRICS_PORT, PREFIX, labelled

_STACK = {"release": "kube-prometheus-stack"}
"""By which the Prometheus of that chart finds monitors, unless it is told to take all."""
_TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105  the path of one


def metrics_service() -> Object:
    """Return the Service of the metrics."""
    port = {"name": "https", "port": METRICS_PORT, "protocol": "TCP", "targetPort": METRICS_PORT}
    spec = {"ports": [port], "selector": dict(LABELS)}
    return labelled("v1", "Service", f"{MANAGER}-metrics-service", {"spec": spec})


def service_monitor(site: OperatorSite) -> Object:
    """Return what scrapes the metrics.

    The controller makes its certificate itself whenever it starts, so that there is nothing to check it against.
    Its own label ``namespace`` arrives as ``exported_namespace``, which adapter rules and queries rely on: no
    honorLabels.
    """
    endpoint = {
        "port": "https",
        "path": "/metrics",
        "scheme": "https",
        "interval": site.interval,
        "bearerTokenFile": _TOKEN_FILE,
        "tlsConfig": {"insecureSkipVerify": True},
    }
    spec = {"selector": {"matchLabels": dict(LABELS)}, "endpoints": [endpoint]}
    name = f"{MANAGER}-metrics-monitor"
    monitor = labelled("monitoring.coreos.com/v1", "ServiceMonitor", name, {"spec": spec})
    monitor["metadata"]["labels"] |= {**_STACK, **site.monitor_labels}
    return monitor


def network_policy(site: OperatorSite) -> Object:
    """Return who may connect to the controller: what scrapes. Probes come from the node, which no policy stops."""
    peer = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": site.scraper}}}
    rule = {"from": [peer], "ports": [{"protocol": "TCP", "port": METRICS_PORT}]}
    spec = {
        "podSelector": {"matchLabels": dict(LABELS)},
        "policyTypes": ["Ingress"],
        "ingress": [rule] if site.scraper else [],
    }
    return labelled("networking.k8s.io/v1", "NetworkPolicy", f"{PREFIX}-metrics", {"spec": spec})
