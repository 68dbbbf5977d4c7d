"""Valid documents of every kind, as writers would write them."""

import copy
from typing import Any

from components.contract.kinds import Kind
from components.families import kinds
from tests.families.kthena.api.samples import DOCUMENTS as KTHENA_DOCUMENTS
from tests.families.llmd.api.samples import DOCUMENTS as LLMD_DOCUMENTS
from tests.families.llmkube.api.samples import DOCUMENTS as LLMKUBE_DOCUMENTS

Document = dict[str, Any]

_POD = {
    "metadata": {"labels": {"role": "leader"}, "annotations": {"a": "b"}},
    "spec": {
        "containers": [
            {
                "name": "model-runner",
                "image": "vllm/vllm-openai:v0.7.3",
                "args": ["--port", "8080"],
                "env": [
                    {"name": "A", "value": "1"},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"key": "k", "name": "s"}}},
                ],
                "ports": [{"containerPort": 8080, "name": "http"}],
                "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "4"}, "requests": {"memory": "8Gi"}},
                "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 5},
                "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],
            }
        ],
        "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "nodeSelector": {"a": "b"},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"a": "b"}},
            }
        ],
        "imagePullSecrets": [{"name": "pull"}],
        "terminationGracePeriodSeconds": 130,
    },
}
_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
_PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "waiting"}, "target": {"type": "AverageValue", "averageValue": "5"}},
}
_HPA = {
    "metrics": [_CPU, _PODS],
    "behavior": {
        "scaleDown": {
            "stabilizationWindowSeconds": 300,
            "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}],
        }
    },
}

DOCUMENTS: tuple[Document, ...] = (
    {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": "qwen2-7b", "labels": {"team": "a"}, "annotations": {"note": "free text"}},
        "spec": {
            "familyName": "qwen2",
            "source": {"modelHub": {"modelID": "Qwen/Qwen2-7B", "revision": "main", "ignorePatterns": ["*.pth"]}},
            "inferenceConfig": {
                "flavors": [
                    {
                        "name": "a10g",
                        "limits": {"nvidia.com/gpu": 1},
                        "params": {"INSTANCE-TYPE": "g5.2xlarge"},
                    },
                    {"name": "l4", "limits": {"nvidia.com/gpu": "1"}, "nodeSelector": {"gpu": "l4"}},
                ]
            },
        },
    },
    {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": "bucket"},
        "spec": {"familyName": "qwen2", "source": {"uri": "oss://bucket.oss-cn.example.com/models/Qwen2-7B"}},
    },
    {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": "gguf"},
        "spec": {"familyName": "llama", "source": {"modelHub": {"modelID": "a/b", "filename": "m.gguf"}}},
    },
    {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "chat", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "modelClaim": {"modelName": "qwen2-7b", "inferenceFlavors": ["a10g"]},
            "backendRuntimeConfig": {
                "backendName": "vllm",
                "version": "v0.8.5",
                "configName": "default",
                "args": ["--max-model-len", "4096"],
                "envs": [{"name": "A", "value": "1"}],
                "resources": {
                    "limits": {"cpu": "4", "memory": "16Gi"},
                    "requests": {"cpu": 2, "memory": "8Gi"},
                },
                "sharedMemorySize": "2Gi",
            },
            "elasticConfig": {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": _HPA}},
        },
    },
    {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "speculative", "namespace": "default"},
        "spec": {"modelClaims": {"models": [{"name": "big", "role": "main"}, {"name": "small", "role": "draft"}]}},
    },
    {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Service",
        "metadata": {"name": "multi", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "modelClaims": {"models": [{"name": "big"}], "inferenceFlavors": ["a", "b"]},
            "workloadTemplate": {
                "size": 2,
                "leaderTemplate": copy.deepcopy(_POD),
                "workerTemplate": _POD,
                "restartPolicy": "None",
            },
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": "25%"},
            },
        },
    },
    {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "BackendRuntime",
        "metadata": {"name": "vllm"},
        "spec": {
            "command": ["python3"],
            "image": "vllm/vllm-openai",
            "version": "v0.7.3",
            "envs": [{"name": "A", "value": "1"}],
            "lifecycle": {"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 1"]}}},
            "livenessProbe": {"httpGet": {"path": "/health", "port": "http"}},
            "startupProbe": {"grpc": {"port": 1}},
            "recommendedConfigs": [
                {
                    "name": "default",
                    "args": ["--model", "{{ .ModelPath }}"],
                    "resources": {"limits": {"cpu": 4}, "requests": {"cpu": "4000m"}},
                    "sharedMemorySize": "2Gi",
                    "scaleTrigger": {"hpa": _HPA},
                },
                {"name": "speculative-decoding"},
            ],
        },
    },
    {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "big", "namespace": "default"},
        "spec": {
            "replicas": 3,
            "startupPolicy": "LeaderCreated",
            "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxUnavailable": "34%", "maxSurge": 0, "partition": 0},
            },
            "leaderWorkerTemplate": {
                "size": 4,
                "workerTemplate": _POD,
                "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"},
                "volumeClaimTemplates": [
                    {
                        "metadata": {"name": "cache"},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {"requests": {"storage": "100Gi"}},
                        },
                    }
                ],
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
            },
        },
    },
    *LLMKUBE_DOCUMENTS,
    *KTHENA_DOCUMENTS,
    *LLMD_DOCUMENTS,
)


def kind_of(document: Document) -> Kind:
    """Return the kind of a document."""
    found = kinds().find(document["apiVersion"], document["kind"])
    assert found, document
    return found
