# ruff: noqa: E501 - tables of values
"""Valid documents of every kind, as writers would write them, and ways to break them."""

import copy
from random import Random
from typing import Any

from components.api.kinds import Kind
from components.api.schema.structural import SchemaGraph, graph
from components.families import kinds
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
)

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 3, -1, 3.0, 0.0, 2.5, 1e300, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, "", "x", "main",
    "draft", "1", "1Gi", "500m", "1e3", "1e", ".5", "5.", "+1", "-1", "1 Gi", "1GB", "1Gi\n", "0%", "10%", "100%", "101%", "50%\n",
    "a" * 64, "a" * 300, "A", "a.b", "-a", "a-", "é", "oss://b.e/p", "oss://b/p", "OSS://b.e/p", "host:///p", "host://p", "s3://b/p",
    "gs://b/p", "ollama://m", "ollama://", "a://b://c", "host:///a\n", [], {}, [None], {"a": None}, {"a": "b"}, ["a"], [{}], [1],
    "Huggingface", "ModelScope", "huggingface", "2024-01-01T00:00:00Z", "RollingUpdate", "LeaderExcluded", "Default",
    0.5, 0.99, 128, 8192, "2.0", "org/repo", "https://example.com/m.gguf", "/m.gguf", "/\x0b", "/a b", "org/é", "0" * 64, "fp8", "vllm",
)  # fmt: skip


def kind_of(document: Document) -> Kind:
    """Return the kind of a document."""
    found = kinds().find(document["apiVersion"], document["kind"])
    assert found, document
    return found


def broken(document: Document, random: Random, times: int) -> Document:
    """Return a copy with something changed: values, fields dropped, added or doubled."""
    document = copy.deepcopy(document)
    shape = graph(kind_of(document))
    for _ in range(times):
        _change(document, shape, random)
    return document


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def _change(document: Document, shape: SchemaGraph, random: Random) -> None:
    places = [p for p in _places(document) if len(p) > 1 and p[:2] != ("metadata", "name")]
    if not places:
        return
    path = random.choice([p for p in places if p[0] != "metadata"] * 6 + places)
    owner, key = _at(document, path[:-1]), path[-1]
    match random.randrange(7):
        case 0:
            del owner[key]
        case 1 | 2:
            owner[key] = copy.deepcopy(random.choice(ODD_VALUES))
        case 3:
            target = owner[key] if isinstance(owner[key], dict) else owner
            if isinstance(target, dict):
                target[random.choice(("unknown", "Name", "replica", ""))] = random.choice((None, 1, {}))
        case 4:
            target = owner if isinstance(owner, list) else owner[key]
            if isinstance(target, list) and target:
                target.append(copy.deepcopy(random.choice(target)))
        case _:
            _add_known(document, path, shape, random)


def _add_known(document: Document, path: tuple[Any, ...], shape: SchemaGraph, random: Random) -> None:
    """Add a field that the schema knows and the document does not have, with a plausible value."""
    value, schema = _at(document, path), shape.root
    for part in path:
        found = shape.field(schema, part)
        if found is None:
            return
        schema = found
    schema = shape.resolve(schema)
    if isinstance(value, dict) and schema.get("properties") and path[0] != "metadata":
        name = random.choice(sorted(schema["properties"]))
        value[name] = sample(schema["properties"][name], shape, random, depth=4)
    elif isinstance(value, list) and "items" in schema:
        value.append(sample(schema["items"], shape, random, depth=4))


def sample(schema: Any, shape: SchemaGraph, random: Random, depth: int) -> Any:
    """Return a value that mostly fits a schema."""
    schema = shape.resolve(schema)
    if random.random() < 0.06:
        return copy.deepcopy(random.choice(ODD_VALUES))
    if "enum" in schema:
        return random.choice(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return random.choice(("1", 1, "10%", "1Gi", 2.0))
    match schema.get("type"):
        case "integer":
            return random.choice((0, 1, 1, 2, 5, 8080, 3.0))
        case "number":
            return random.choice((0.1, 0.5, 0.99, 1, 2.5))
        case "boolean":
            return random.random() < 0.5
        case "array":
            return [sample(schema["items"], shape, random, depth - 1) for _ in range(random.randrange(3))]
        case "object" if "properties" in schema:
            wanted = set(schema.get("required", ()))
            if depth > 0:
                wanted |= {name for name in schema["properties"] if random.random() < 0.25}
            return {n: sample(schema["properties"][n], shape, random, depth - 1) for n in sorted(wanted)}
        case "object":
            extra = schema.get("additionalProperties")
            return {"a": sample(extra, shape, random, depth - 1)} if isinstance(extra, dict) else {}
        case _:
            return random.choice(("a", "b", "", "2024-01-01T00:00:00Z"))


_READ_BY_RULES = {
    "minReplicas",
    "maxReplicas",
    "size",
    "subGroupSize",
    "maxUnavailable",
    "maxSurge",
    "limits",
    "requests",
}


def sent(document: Document) -> Document:
    """Return the document as a client writes it that has integers: 3 for 3.0 where a CEL rule reads the number.

    CEL on the server takes no float for an integer ("expected int, got float64"); kubectl and every Go client
    write 3. Everywhere else the raw float is sent.
    """
    written: Document = _sent(document, False)
    return written


def _sent(value: Any, read: bool) -> Any:
    if isinstance(value, dict):
        return {key: _sent(inner, read or key in _READ_BY_RULES) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sent(item, read) for item in value]
    return int(value) if read and isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
