"""What the cluster needs before it is of use: kwok's rights and the default service account."""

import json
import ssl
import time
import urllib.error
import urllib.request
from typing import Any

from .members import Layout
from .pki import ADMIN

_WATCH = ["get", "list", "watch"]
_KWOK_RULES: list[dict[str, list[str]]] = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": _WATCH},
    {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": ["patch", "update"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": [*_WATCH, "delete", "patch", "update"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch", "update"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": [*_WATCH, "create", "patch", "update"],
    },
]
"""What playing nodes and their pods takes, and no more."""
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_CONFLICT = 409
_TRANSIENT = (403, 404, 500, 503)
_ATTEMPTS = 100


def grant(layout: Layout) -> None:
    """Give kwok its role; what exists is left alone."""
    name = "workbench:kwok"
    role = {"metadata": {"name": name}, "rules": _KWOK_RULES}
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name}],
    }
    _create(layout, f"{_RBAC}/clusterroles", role)
    _create(layout, f"{_RBAC}/clusterrolebindings", binding)


def _create(layout: Layout, path: str, body: dict[str, Any]) -> None:
    context = ssl.create_default_context(cafile=str(layout.pki.authority))
    context.load_cert_chain(layout.pki.certificate(ADMIN.file), layout.pki.key(ADMIN.file))
    request = urllib.request.Request(  # noqa: S310
        layout.server + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    for attempt in range(_ATTEMPTS):
        try:
            urllib.request.urlopen(request, context=context, timeout=10).close()  # noqa: S310
        except urllib.error.HTTPError as error:
            if error.code == _CONFLICT:
                return
            if error.code not in _TRANSIENT or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.1)
        else:
            return
