"""Everything that runs the controller in a cluster (WVA spec 6, 9).

The contract's release has no chart, and the charts of later ones bring a sample model with them. Upstream's kustomize
overlays create the same objects, except for permissions that the controller does not use; see docs/deviations.md.
"""

from ....contract.schema.crds import crd
from ....fleet.objects import Object
from ...family import OperatorSite
from ..kinds import RELEASES, kind_at
from ..names import NAMESPACE
from .config_maps import settings_map
from .identity import ACCOUNT, LABELS, MANAGER, METRICS_PORT, PREFIX, namespaced
from .installation import installation_of
from .pods import budget, deployment
from .rbac import rbac_objects

_RELEASE = {"release": "kube-prometheus-stack"}
"""Label by which the Prometheus of that chart selects monitors, unless it is configured to select all."""
_TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105  a path


def controller_objects(site: OperatorSite) -> tuple[Object, ...]:
    """Return the objects to install in dependency order, the namespace first."""
    modes = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": modes}}
    installation = installation_of(site.release)
    port = {"name": "https", "port": METRICS_PORT, "protocol": "TCP", "targetPort": METRICS_PORT}
    return (
        namespace,
        crd(kind_at(site.release or RELEASES.contract)),
        namespaced("v1", "ServiceAccount", ACCOUNT),
        *rbac_objects(site, installation),
        settings_map(site.levels.controller, installation),
        *((_network_policy(site),) if site.guarded else ()),
        namespaced(
            "v1", "Service", f"{MANAGER}-metrics-service", {"spec": {"ports": [port], "selector": dict(LABELS)}}
        ),
        deployment(site.levels.controller, installation),
        budget(),
        _service_monitor(site),
    )


def _service_monitor(site: OperatorSite) -> Object:
    # No honorLabels: the controller's own label namespace must arrive as exported_namespace, which adapter rules and
    # queries rely on.
    endpoint = {
        "port": "https",
        "path": "/metrics",
        "scheme": "https",
        "interval": site.interval,
        "bearerTokenFile": _TOKEN_FILE,
        # The controller generates a certificate at each start, so there is nothing to verify it against.
        "tlsConfig": {"insecureSkipVerify": True},
    }
    spec = {"selector": {"matchLabels": dict(LABELS)}, "endpoints": [endpoint]}
    name = f"{MANAGER}-metrics-monitor"
    monitor = namespaced("monitoring.coreos.com/v1", "ServiceMonitor", name, {"spec": spec})
    monitor["metadata"]["labels"] |= {**_RELEASE, **site.monitor_labels}
    return monitor


def _network_policy(site: OperatorSite) -> Object:
    """Allow connections from Prometheus only. Probes come from the node, to which policies do not apply."""
    peer = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": site.scraper}}}
    rule = {"from": [peer], "ports": [{"protocol": "TCP", "port": METRICS_PORT}]}
    spec = {
        "podSelector": {"matchLabels": dict(LABELS)},
        "policyTypes": ["Ingress"],
        "ingress": [rule] if site.scraper else [],
    }
    return namespaced("networking.k8s.io/v1", "NetworkPolicy", f"{PREFIX}-metrics", {"spec": spec})
