"""Defaults as the API server stores them."""

from typing import Any

import pytest

from components.contract.schema.defaults import with_defaults
from tests.fleets import read

MODEL = {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "m"}}
PLAYGROUND = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground", "metadata": {"name": "p"}}
SERVICE = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Service", "metadata": {"name": "s"}}
LWS = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "l"}}
POD = {"spec": {"containers": [{"name": "model-runner", "ports": [{"containerPort": 1}]}]}}
POD_STORED = {"spec": {"containers": [{"name": "model-runner", "ports": [{"containerPort": 1, "protocol": "TCP"}]}]}}
CLAIMS = {"models": [{"name": "m"}]}
CLAIMS_STORED = {"models": [{"name": "m", "role": "main"}]}
ROLLOUT = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}}
TEMPLATE = {"workerTemplate": POD}
TEMPLATE_STORED = {"workerTemplate": POD_STORED, "size": 1, "restartPolicy": "RecreateGroupOnPodRestart"}


def stored(document: dict[str, Any]) -> dict[str, Any]:
    return with_defaults(read(document))


@pytest.mark.parametrize(
    ("head", "spec", "expected"),
    [
        (
            MODEL,
            {"familyName": "f", "source": {"modelHub": {"modelID": "a/b"}}},
            {
                "familyName": "f",
                "source": {"modelHub": {"modelID": "a/b", "name": "Huggingface", "revision": "main"}},
            },
        ),
        (
            MODEL,
            {"familyName": "f", "source": {"modelHub": {"modelID": "a/b", "revision": None}}},
            {
                "familyName": "f",
                "source": {"modelHub": {"modelID": "a/b", "name": "Huggingface", "revision": "main"}},
            },
        ),
        (
            MODEL,
            {"familyName": "f", "source": {"uri": "ollama://m"}, "ownedBy": "o", "createdAt": "2026-01-31T12:00:00Z"},
            {"familyName": "f", "source": {"uri": "ollama://m"}, "ownedBy": "o", "createdAt": "2026-01-31T12:00:00Z"},
        ),
        (
            PLAYGROUND,
            {"modelClaim": {"modelName": "m"}},
            {"modelClaim": {"modelName": "m"}, "replicas": 1},
        ),
        (
            PLAYGROUND,
            {"modelClaims": CLAIMS, "backendRuntimeConfig": {}, "elasticConfig": {"maxReplicas": 3.0}},
            {
                "modelClaims": CLAIMS_STORED,
                "backendRuntimeConfig": {"backendName": "vllm"},
                "elasticConfig": {"minReplicas": 1, "maxReplicas": 3},
                "replicas": 1,
            },
        ),
        (
            SERVICE,
            {"modelClaims": CLAIMS, "workloadTemplate": TEMPLATE},
            {
                "modelClaims": CLAIMS_STORED,
                "workloadTemplate": TEMPLATE_STORED,
                "replicas": 1,
                "rolloutStrategy": ROLLOUT,
            },
        ),
        (
            SERVICE,
            {"modelClaims": CLAIMS, "workloadTemplate": TEMPLATE, "rolloutStrategy": {}},
            {
                "modelClaims": CLAIMS_STORED,
                "workloadTemplate": TEMPLATE_STORED,
                "replicas": 1,
                "rolloutStrategy": {"type": "RollingUpdate"},
            },
        ),
        (
            SERVICE,
            {
                "modelClaims": CLAIMS,
                "workloadTemplate": TEMPLATE,
                "rolloutStrategy": {"rollingUpdateConfiguration": {}},
            },
            {
                "modelClaims": CLAIMS_STORED,
                "workloadTemplate": TEMPLATE_STORED,
                "replicas": 1,
                "rolloutStrategy": ROLLOUT,
            },
        ),
        (
            LWS,
            {"leaderWorkerTemplate": TEMPLATE, "rolloutStrategy": {"rollingUpdateConfiguration": {}}},
            {
                "leaderWorkerTemplate": TEMPLATE_STORED,
                "replicas": 1,
                "startupPolicy": "LeaderCreated",
                "rolloutStrategy": {
                    "type": "RollingUpdate",
                    "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0},
                },
            },
        ),
        (
            LWS,
            {"leaderWorkerTemplate": {**TEMPLATE, "subGroupPolicy": {"subGroupSize": 1}}},
            {
                "leaderWorkerTemplate": {
                    **TEMPLATE_STORED,
                    "subGroupPolicy": {"subGroupSize": 1, "subGroupPolicyType": "LeaderWorker"},
                },
                "replicas": 1,
                "startupPolicy": "LeaderCreated",
            },
        ),
    ],
)
def test_defaults_fill_objects_that_are_present(head: dict[str, Any], spec: Any, expected: Any) -> None:
    assert stored({**head, "spec": spec})["spec"] == expected


def test_quantities_stay_as_written() -> None:
    spec = {"modelClaim": {"modelName": "m"}, "backendRuntimeConfig": {"sharedMemorySize": "2048Mi"}}
    assert stored({**PLAYGROUND, "spec": spec})["spec"]["backendRuntimeConfig"]["sharedMemorySize"] == "2048Mi"


def test_what_the_server_fills_in_is_not_stored_from_the_writer() -> None:
    spec = {"familyName": "f", "source": {"uri": "ollama://m"}}
    metadata = {"name": "m", "uid": "x", "generation": 3, "labels": {}, "annotations": {"a": None}, "namespace": "n"}
    found = stored({**MODEL, "metadata": metadata, "spec": spec, "status": {}})
    assert found["metadata"] == {"name": "m", "annotations": {"a": ""}}
    assert "status" not in found


def test_the_resource_is_not_changed() -> None:
    document = {**SERVICE, "spec": {"modelClaims": CLAIMS, "workloadTemplate": TEMPLATE}}
    loaded = read(document)
    with_defaults(loaded)
    assert loaded.resource.wire()["spec"] == document["spec"]
