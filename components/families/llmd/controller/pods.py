"""The controller's pods (WVA spec 6; cmd/main.go and internal/utils/tls.go at c0f645c)."""

import hashlib
import json

from ....fleet.levels import VariantController
from ....fleet.objects import Object
from ..names import SETTINGS
from .config_maps import MANDATORY, settings_map
from .identity import ACCOUNT, HEALTH_PORT, LABELS, MANAGER, METRICS_PORT, labelled

IMAGE = "quay.io/infernoautoscaler/inferno-controller:0.0.1-multi-arch"
"""The default of upstream's Makefile at the contract's version; nobody publishes a digest for it."""
_CERTIFICATES, _CA = "/etc/prometheus-certs", "ca.crt"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105  the path of one
_USER = 65532
"""Of the image: ``nonroot`` of distroless."""


def deployment(controller: VariantController) -> Object:
    """Return the controller: one of its two pods decides, the other one waits for its lease."""
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": dict(LABELS)},
        "template": {
            "metadata": {"labels": dict(LABELS), "annotations": {"checksum/settings": _checksum(controller)}},
            "spec": _pod(controller),
        },
    }
    return labelled("apps/v1", "Deployment", MANAGER, {"spec": spec})


def _checksum(controller: VariantController) -> str:
    """Return what changes with the settings: they are variables of the process, which it reads when it starts."""
    data = {key: value for key, value in settings_map(controller)["data"].items() if key in MANDATORY}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _pod(controller: VariantController) -> Object:
    secret = controller.ca_secret
    volume = {"name": "prometheus-ca", "secret": {"secretName": secret, "items": [{"key": _CA, "path": _CA}]}}
    return {
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": dict(LABELS)},
            }
        ],
        "containers": [_container(controller)],
        **({"volumes": [volume]} if secret else {}),
    }


def _container(controller: VariantController) -> Object:
    mounted = [{"name": "prometheus-ca", "mountPath": _CERTIFICATES, "readOnly": True}]
    return {
        "name": "manager",
        "image": controller.image or IMAGE,
        "command": ["/manager"],
        "args": [
            f"--metrics-bind-address=:{METRICS_PORT}",
            "--metrics-secure=true",
            "--leader-elect=true",
            f"--health-probe-bind-address=:{HEALTH_PORT}",
        ],
        "env": _variables(controller),
        "ports": [
            {"name": "https", "containerPort": METRICS_PORT, "protocol": "TCP"},
            {"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"},
        ],
        # It answers only when Prometheus has: it asks six times before it gives up, 315 seconds in all.
        "startupProbe": {**_probe("/healthz"), "periodSeconds": 10, "failureThreshold": 36},
        "livenessProbe": {**_probe("/healthz"), "periodSeconds": 20},
        "readinessProbe": {**_probe("/readyz"), "periodSeconds": 10},
        "resources": {
            "requests": {"cpu": "10m", "memory": "64Mi"},
            "limits": {"cpu": "500m", "memory": "128Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        **({"volumeMounts": mounted} if controller.ca_secret else {}),
    }


def _variables(controller: VariantController) -> list[Object]:
    """Return the environment: because of the address in it, the controller reads nothing else from its ConfigMap."""
    mandatory = [{"name": key, "valueFrom": {"configMapKeyRef": {"name": SETTINGS, "key": key}}} for key in MANDATORY]
    ca = [{"name": "PROMETHEUS_CA_CERT_PATH", "value": f"{_CERTIFICATES}/{_CA}"}] if controller.ca_secret else []
    return [
        {"name": "LOG_LEVEL", "value": "info"},
        *mandatory,
        {"name": "PROMETHEUS_TOKEN_PATH", "value": _TOKEN},
        *ca,
    ]


def _probe(path: str) -> Object:
    return {"httpGet": {"path": path, "port": HEALTH_PORT}}


def budget() -> Object:
    """Return the disruption budget: one of the pods may go at a time."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": dict(LABELS)}}
    return labelled("policy/v1", "PodDisruptionBudget", MANAGER, {"spec": spec})
