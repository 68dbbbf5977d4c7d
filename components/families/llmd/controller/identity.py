"""What the controller's objects are called, and what tells them from others."""

from ....fleet.objects import Object
from ..names import NAMESPACE

PREFIX = "inferno-autoscaler"
"""Of all names, as upstream's overlay has it."""
ACCOUNT = MANAGER = f"{PREFIX}-controller-manager"
LABELS = {"app.kubernetes.io/name": PREFIX, "control-plane": "controller-manager"}
METRICS_PORT, HEALTH_PORT = 8443, 8081


def labelled(api_version: str, kind: str, name: str, parts: Object | None = None) -> Object:
    """Return an object in the controller's namespace."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": dict(LABELS)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **(parts or {})}
