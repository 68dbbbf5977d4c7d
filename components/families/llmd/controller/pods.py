"""The controller's pods (WVA spec 6; cmd/main.go and internal/utils/tls.go at c0f645c)."""

import hashlib
import json

from ....fleet.levels import VariantController
from ....fleet.objects import Object
from .config_maps import MANDATORY, settings_map
from .identity import ACCOUNT, HEALTH_PORT, LABELS, MANAGER, METRICS_PORT, namespaced
from .installation import ControllerInstallation

_CERTIFICATES, _CA = "/etc/prometheus-certs", "ca.crt"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105  a path
_USER = 65532
"""User of the image: ``nonroot`` of distroless."""


def deployment(controller: VariantController, installation: ControllerInstallation) -> Object:
    """Return the Deployment: one pod decides, the other one waits for its lease."""
    # The settings are environment variables, which the process reads at its start: the checksum restarts it.
    data = settings_map(controller, installation)["data"]
    settings = {key: value for key, value in data.items() if key in MANDATORY}
    checksum = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    secret = controller.ca_secret
    volume = {"name": "prometheus-ca", "secret": {"secretName": secret, "items": [{"key": _CA, "path": _CA}]}}
    pod = {
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
        "containers": [_container(controller, installation)],
        **({"volumes": [volume]} if secret else {}),
    }
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": dict(LABELS)},
        "template": {
            "metadata": {"labels": dict(LABELS), "annotations": {"checksum/settings": checksum}},
            "spec": pod,
        },
    }
    return namespaced("apps/v1", "Deployment", MANAGER, {"spec": spec})


def _container(controller: VariantController, installation: ControllerInstallation) -> Object:
    # With the address of Prometheus in its environment, the controller does not look for it in the ConfigMap.
    env: list[Object] = [
        {"name": "LOG_LEVEL", "value": "info"},
        *(
            {"name": key, "valueFrom": {"configMapKeyRef": {"name": installation.settings, "key": key}}}
            for key in MANDATORY
        ),
        {"name": "PROMETHEUS_TOKEN_PATH", "value": _TOKEN},
    ]
    if installation.watches_pods:
        env.append({"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}})
    mounts = {}
    if controller.ca_secret:
        env.append({"name": "PROMETHEUS_CA_CERT_PATH", "value": f"{_CERTIFICATES}/{_CA}"})
        mounts = {"volumeMounts": [{"name": "prometheus-ca", "mountPath": _CERTIFICATES, "readOnly": True}]}
    healthy = {"httpGet": {"path": "/healthz", "port": HEALTH_PORT}}
    ready = {"httpGet": {"path": "/readyz", "port": HEALTH_PORT}}
    return {
        "name": "manager",
        "image": controller.image or installation.image,
        "command": ["/manager"],
        "args": [
            f"--metrics-bind-address=:{METRICS_PORT}",
            "--metrics-secure=true",
            "--leader-elect=true",
            f"--health-probe-bind-address=:{HEALTH_PORT}",
        ],
        "env": env,
        "ports": [
            {"name": "https", "containerPort": METRICS_PORT, "protocol": "TCP"},
            {"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"},
        ],
        # Healthy only once Prometheus has responded, which the controller tries six times, for 315 seconds in total.
        "startupProbe": {**healthy, "periodSeconds": 10, "failureThreshold": 36},
        "livenessProbe": {**healthy, "periodSeconds": 20},
        "readinessProbe": {**ready, "periodSeconds": 10},
        "resources": {
            "requests": {"cpu": "10m", "memory": "64Mi"},
            "limits": {"cpu": "500m", "memory": "128Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        **mounts,
    }


def budget() -> Object:
    """Return the PodDisruptionBudget: one pod may be evicted at a time."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": dict(LABELS)}}
    return namespaced("policy/v1", "PodDisruptionBudget", MANAGER, {"spec": spec})
