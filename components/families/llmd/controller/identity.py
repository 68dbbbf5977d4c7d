"""Names, labels and ports of the controller's objects, as in upstream's kustomize overlay."""

from ....fleet.objects import Object
from ..names import NAMESPACE

PREFIX = "inferno-autoscaler"
ACCOUNT = MANAGER = f"{PREFIX}-controller-manager"
LABELS = {"app.kubernetes.io/name": PREFIX, "control-plane": "controller-manager"}
METRICS_PORT, HEALTH_PORT = 8443, 8081


def namespaced(api_version: str, kind: str, name: str, parts: Object | None = None) -> Object:
    """Return an object in the controller's namespace, with its labels."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": dict(LABELS)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **(parts or {})}
