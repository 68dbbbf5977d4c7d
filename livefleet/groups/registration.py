"""The webhooks of the controller of LeaderWorkerSets, as its release registers them, at an address on loopback.

Source: kubernetes-sigs/lws v0.9.0, ``config/webhook``, whose patches select the pods of sets.
"""

import base64
from pathlib import Path

from components.fleet.objects import LWS_LABEL
from components.fleet.shapes import LEADER_WORKER_SET
from toolkit.kube import Kube

from ..fleet import Object

HOST = "localhost"
"""The name in the certificate of the webhooks."""
_MANAGER = "workbench"
_API = "admissionregistration.k8s.io/v1"
_NAMES = {
    "MutatingWebhookConfiguration": "lws-mutating-webhook-configuration",
    "ValidatingWebhookConfiguration": "lws-validating-webhook-configuration",
}
_SETS: Object = {
    "rules": [
        {
            "apiGroups": [LEADER_WORKER_SET.group],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["leaderworkersets"],
        }
    ]
}
_PODS: Object = {
    "objectSelector": {"matchExpressions": [{"key": f"{LWS_LABEL}/name", "operator": "Exists"}]},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
}
"""The release also validates updates of pods, and accepts them all."""
_WEBHOOKS: dict[str, dict[str, tuple[str, Object]]] = {
    "MutatingWebhookConfiguration": {
        "mleaderworkerset.kb.io": ("/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset", _SETS),
        "mpod.kb.io": ("/mutate--v1-pod", _PODS),
    },
    "ValidatingWebhookConfiguration": {
        "vleaderworkerset.kb.io": ("/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset", _SETS),
        "vpod.kb.io": ("/validate--v1-pod", _PODS),
    },
}


def register(kube: Kube, port: int, certificate: Path) -> None:
    """Register the webhooks.

    Args:
        kube: A client with all rights.
        port: Port of the webhooks on loopback.
        certificate: Their certificate.
    """
    authority = base64.b64encode(certificate.read_bytes()).decode()
    for kind, webhooks in _WEBHOOKS.items():
        body: Object = {
            "apiVersion": _API,
            "kind": kind,
            "metadata": {"name": _NAMES[kind], "labels": {"app.kubernetes.io/managed-by": "workbench"}},
            "webhooks": [
                {
                    "name": name,
                    "clientConfig": {"url": f"https://{HOST}:{port}{path}", "caBundle": authority},
                    "failurePolicy": "Fail",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    **requests,
                }
                for name, (path, requests) in webhooks.items()
            ],
        }
        kube.apply(body, manager=_MANAGER)


def withdraw(kube: Kube) -> None:
    """Delete the webhooks, without which the cluster stores sets and pods unchanged."""
    for kind, name in _NAMES.items():
        kube.delete(_API, kind, name)
