"""Empty maps and lists: a real API server drops exactly those that are left out before they are sent."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.contract.schema.empty import without_empty
from components.families import kinds
from toolkit.kube import Kube
from workbench.engine.apply.objects import MANAGER

METADATA: dict[str, Any] = {
    "name": "empty",
    "namespace": "default",
    "labels": {},
    "annotations": {},
    "finalizers": [],
}
LABELS = {"app": "empty"}
CONTAINER: dict[str, Any] = {
    "name": "a",
    "image": "registry.example/a:1",
    "command": [],
    "args": [],
    "env": [],
    "envFrom": [],
    "ports": [],
    "volumeMounts": [],
    "resources": {"limits": {}, "requests": {}},
    "securityContext": {},
}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": LABELS, "annotations": {}},
    "spec": {
        "containers": [CONTAINER],
        "initContainers": [],
        "nodeSelector": {},
        "tolerations": [],
        "imagePullSecrets": [],
        "hostAliases": [],
        "topologySpreadConstraints": [],
        "affinity": {},
        "securityContext": {"supplementalGroups": []},
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            {"name": "from", "projected": {"sources": [{"configMap": {"name": "x", "items": []}}]}},
        ],
    },
}
OBJECTS: dict[str, dict[str, Any]] = {
    "Deployment": {
        "apiVersion": "apps/v1",
        "spec": {
            "selector": {"matchLabels": LABELS, "matchExpressions": []},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {}},
            "template": TEMPLATE,
        },
    },
    "StatefulSet": {
        "apiVersion": "apps/v1",
        "spec": {
            "selector": {"matchLabels": LABELS},
            "serviceName": "a",
            "template": TEMPLATE,
            "volumeClaimTemplates": [],
        },
    },
    "Service": {"apiVersion": "v1", "spec": {"selector": {}, "externalIPs": [], "ports": [{"port": 80}]}},
    "ConfigMap": {"apiVersion": "v1", "data": {}, "binaryData": {}},
    "Secret": {"apiVersion": "v1", "data": {}},
    "ServiceAccount": {"apiVersion": "v1", "secrets": [], "imagePullSecrets": []},
    "PersistentVolumeClaim": {
        "apiVersion": "v1",
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}, "limits": {}},
            "selector": {"matchLabels": {}, "matchExpressions": []},
        },
    },
    "NetworkPolicy": {
        "apiVersion": "networking.k8s.io/v1",
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {}}}], "ports": []}, {}],
            "egress": [],
        },
    },
    "PodDisruptionBudget": {
        "apiVersion": "policy/v1",
        "spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS, "matchExpressions": []}},
    },
    "HorizontalPodAutoscaler": {
        "apiVersion": "autoscaling/v2",
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
            "maxReplicas": 2,
            "metrics": [
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "m", "selector": {"matchLabels": {}}},
                        "target": {"type": "AverageValue", "averageValue": "1"},
                    },
                }
            ],
        },
    },
    "Role": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": []}],
    },
    "RoleBinding": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
        "subjects": [],
    },
    "ResourceQuota": {"apiVersion": "v1", "spec": {"hard": {}, "scopes": []}},
    "Job": {
        "apiVersion": "batch/v1",
        "spec": {"template": {**TEMPLATE, "spec": TEMPLATE["spec"] | {"restartPolicy": "Never"}}},
    },
    "StorageClass": {
        "apiVersion": "storage.k8s.io/v1",
        "provisioner": "a.example",
        "parameters": {},
        "mountOptions": [],
    },
}
CLUSTER_WIDE = ("StorageClass",)


def empties(value: Any, path: str = "") -> Iterator[str]:
    """The paths of empty maps and lists."""
    if value in ({}, []):
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield from empties(inner, f"{path}.{key}")


def at(value: Any, path: str) -> bool:
    """Whether there is a value at a path; one that the server has filled by now counts."""
    for part in path.split(".")[1:]:
        key = int(part) if isinstance(value, list) else part
        try:
            value = value[key]
        except (LookupError, TypeError):
            return False
    return value is not None


@pytest.mark.parametrize("kind", OBJECTS)
def test_the_api_server_drops_what_is_left_out_and_keeps_the_rest(kind: str, kube: Kube) -> None:
    metadata = {key: value for key, value in METADATA.items() if kind not in CLUSTER_WIDE or key != "namespace"}
    value = {**OBJECTS[kind], "kind": kind, "metadata": metadata}
    stored, _ = kube.server_side_apply(value, manager=MANAGER, dry_run=True)
    sent = set(empties(without_empty(value)))
    assert [path for path in sent if not at(stored, path)] == []
    assert [path for path in empties(value) if path not in sent and path in set(empties(stored))] == []
    # Without them the same object is stored.
    again, _ = kube.server_side_apply(without_empty(value), manager=MANAGER, dry_run=True)
    for each in (stored, again):
        for key in ("managedFields", "creationTimestamp", "uid"):
            each["metadata"].pop(key, None)
        for key in ("clusterIP", "clusterIPs"):
            each.get("spec", {}).pop(key, None)
    if kind != "Job":  # the server names its pods after its uid
        assert again == stored


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.crd_name)
def test_definitions_hold_nothing_that_the_api_server_drops(kind: Any, kube: Kube) -> None:
    definition = crd(kind)
    stored, _ = kube.server_side_apply(definition, manager=MANAGER, dry_run=True)
    assert [path for path in empties(definition) if not at(stored, path)] == []


def test_a_custom_resource_keeps_its_own(kube: Kube) -> None:
    value = {
        "apiVersion": "example.com/v1",
        "kind": "Anything",
        "metadata": {"name": "a", "labels": {}},
        "spec": {"labels": {}, "list": [], "selector": {}},
    }
    assert without_empty(value) == {**value, "metadata": {"name": "a"}}
