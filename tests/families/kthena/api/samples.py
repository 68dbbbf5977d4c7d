"""Documents of Kthena's kinds as writers would write them: together they use every field."""

import json
from typing import Any

from components.contract.kinds import Kind
from components.families import kinds

Document = dict[str, Any]

WORKLOAD = "workload.serving.volcano.sh/v1alpha1"
NETWORKING = "networking.serving.volcano.sh/v1alpha1"


CONTRACT = "97b99f41"
"""The release of the contract."""


def kind_of(document: Document, release: str = CONTRACT) -> Kind:
    """Return the kind of a document in a release; empty for the union of all releases."""
    return kinds().by_name(document["kind"]).at(release)


def made(kind: str, name: str, spec: Any, **metadata: Any) -> Document:
    """Return an object of Kthena."""
    document = {
        "apiVersion": NETWORKING if kind in ("ModelServer", "ModelRoute") else WORKLOAD,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": spec,
    }
    copied: Document = json.loads(json.dumps(document))  # so that no two parts of it are one object
    return copied


_METRICS = [{"metricName": "kthena:num_requests_waiting", "targetValue": 10}]
_SECTION = {"instances": 2, "percent": 50, "period": "1m", "selectPolicy": "And", "stabilizationWindow": "2m30s"}
_PANIC = {"percent": 400, "period": "30s", "panicThresholdPercent": 150, "panicModeHold": "5m"}
_POLICY = {
    "tolerancePercent": 5,
    "metrics": [*_METRICS, {"metricName": "vllm:num_requests_running", "targetValue": "1500m"}],
    "behavior": {"scaleUp": {"stablePolicy": _SECTION, "panicPolicy": _PANIC}, "scaleDown": _SECTION},
}
_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["l4"]}]}]
        }
    }
}
_RESOURCES = {"limits": {"nvidia.com/gpu": 1, "memory": "16Gi"}, "requests": {"cpu": "500m"}}
_ENV = [
    {"name": "HF_ENDPOINT", "value": "https://example.com"},
    {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "token", "key": "k"}}},
]
_SOURCES = [{"secretRef": {"name": "weights"}}, {"prefix": "A_", "configMapRef": {"name": "settings"}}]
_MATCH = {
    "headers": {"user": {"exact": "a"}, "team": {"regex": "b.*"}},
    "uri": {"prefix": "/v1/"},
    "body": {"model": "chat"},
}
_POD = {
    "metadata": {"labels": {"team": "a"}, "annotations": {"note": "free text"}},
    "spec": {
        "containers": [
            {
                "name": "engine",
                "image": "vllm/vllm-openai:v0.20.0",
                "args": ["--port", "8000"],
                "env": _ENV,
                "envFrom": _SOURCES,
                "resources": _RESOURCES,
            }
        ],
        "affinity": _AFFINITY,
    },
}


def backend(name: str = "backend1", **fields: Any) -> Document:
    """Return a backend with what it must have."""
    return {
        "name": name,
        "type": "vLLM",
        "modelURI": "hf://Qwen/Qwen2.5-0.5B-Instruct",
        "minReplicas": 1,
        "maxReplicas": 1,
        "workers": [{"type": "server", "image": "vllm/vllm-openai:v0.20.0", "replicas": 1, "pods": 1}],
        **fields,
    }


def role(name: str = "leader", **fields: Any) -> Document:
    """Return a role with what it must have."""
    return {
        "name": name,
        "entryTemplate": {"spec": {"containers": [{"name": "engine", "image": "a:1"}]}},
        "workerReplicas": 0,
        **fields,
    }


SMALL, SHARED, PAIR, SERVING, LEAST, POLICY, DEFAULTS, BINDING, OPTIMIZER, SERVER, PLAIN, ROUTE, SIMPLE = range(13)
DOCUMENTS: tuple[Document, ...] = (
    made("ModelBooster", "demo", {"backends": [backend(), backend("b2", autoscalingPolicy=_POLICY, maxReplicas=3)]}),
    made(
        "ModelBooster",
        "shared.all",
        {
            "name": "shared",
            "owner": "me",
            "backends": [
                backend(
                    "big",
                    cacheURI="hostpath:///tmp/cache",
                    envFrom=_SOURCES,
                    env=_ENV,
                    minReplicas=0,
                    maxReplicas=4,
                    scalingCost=30,
                    routeWeight=40,
                    scaleToZeroGracePeriod="1m",
                    workers=[
                        {
                            "type": "server",
                            "image": "vllm/vllm-openai:v0.20.0",
                            "replicas": 1,
                            "pods": 2,
                            "resources": _RESOURCES,
                            "affinity": _AFFINITY,
                            "config": {
                                "max-model-len": 4096,
                                "a": None,
                                "b": [1, {"c": "d"}],
                                "served-model-name": "x",
                            },
                        }
                    ],
                    loraAdapters=[{"name": "sql", "artifactURL": "s3://bucket/sql"}],
                ),
                backend("small", type="SGLang", modelURI="pvc://weights/m", cacheURI="pvc://cache", scalingCost=20),
            ],
            "autoscalingPolicy": _POLICY,
            "costExpansionRatePercent": 150,
            "modelMatch": _MATCH,
        },
        labels={"team": "a"},
        annotations={"note": "free text"},
    ),
    made(
        "ModelBooster",
        "pair",
        {
            "backends": [
                backend(
                    type="vLLMDisaggregated",
                    modelURI="s3://bucket/m",
                    workers=[{"type": "prefill"}, {"type": "decode", "config": {}}],
                ),
                backend(
                    "ascend",
                    type="MindIEDisaggregated",
                    workers=[{"type": t} for t in ("controller", "coordinator", "prefill", "decode", "decode")],
                ),
            ]
        },
    ),
    made(
        "ModelServing",
        "groups",
        {
            "replicas": 4,
            "schedulerName": "volcano",
            "recoveryPolicy": "ServingGroupRecreate",
            "rolloutStrategy": {
                "type": "ServingGroupRollingUpdate",
                "rollingUpdateConfiguration": {"maxUnavailable": "25%", "maxSurge": 1, "partition": 3},
            },
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"a": "b"}},
                }
            ],
            "template": {
                "restartGracePeriodSeconds": 60,
                "gangPolicy": {"minRoleReplicas": {"prefill": 2, "decode": 5}},
                "networkTopology": {"mode": "soft", "highestTierAllowed": 2},
                "roles": [
                    role("prefill", replicas=2, entryTemplate=_POD),
                    role("decode", replicas=3, entryTemplate=_POD, workerReplicas=2, workerTemplate=_POD),
                    role("third", workerTemplate={"spec": {"containers": []}}),
                ],
            },
        },
    ),
    made("ModelServing", "least", {"schedulerName": "volcano", "template": {"roles": [role()]}}),
    made("AutoscalingPolicy", "policy", _POLICY),
    made("AutoscalingPolicy", "defaults", {"metrics": _METRICS}),
    made(
        "AutoscalingPolicyBinding",
        "one",
        {
            "policyRef": {"name": "policy"},
            "scalingConfiguration": {
                "target": {
                    "targetRef": {"kind": "ModelServing", "name": "groups"},
                    "additionalMatchLabels": {"modelserving.volcano.sh/role": "decode"},
                    "metricEndpoint": {"uri": "/stats", "port": 9000},
                },
                "minReplicas": 0,
                "maxReplicas": 1_000_000,
            },
        },
    ),
    made(
        "AutoscalingPolicyBinding",
        "several",
        {
            "policyRef": {"name": "policy"},
            "optimizerConfiguration": {
                "costExpansionRatePercent": 0,
                "params": [
                    {
                        "target": {
                            "targetRef": {
                                "apiVersion": WORKLOAD,
                                "kind": "ModelServing",
                                "name": "groups",
                                "namespace": "default",
                                "fieldPath": "spec",
                                "resourceVersion": "1",
                                "uid": "a",
                            },
                            "additionalMatchLabels": {"a": "b"},
                            "metricEndpoint": {"uri": "/stats", "port": 9000},
                        },
                        "cost": 3,
                        "minReplicas": 1,
                        "maxReplicas": 1,
                    },
                    {"target": {"targetRef": {"name": "least"}}, "minReplicas": 0, "maxReplicas": 2},
                ],
            },
        },
    ),
    made(
        "ModelServer",
        "server",
        {
            "model": "Qwen/Qwen2.5-0.5B-Instruct",
            "inferenceEngine": "vLLM",
            "workloadSelector": {
                "matchLabels": {"app": "a"},
                "pdGroup": {
                    "groupKey": "modelserving.volcano.sh/group-name",
                    "prefillLabels": {"modelserving.volcano.sh/role": "prefill"},
                    "decodeLabels": {"modelserving.volcano.sh/role": "decode"},
                },
            },
            "workloadPort": {"port": 8000, "protocol": "https"},
            "trafficPolicy": {"timeout": "1m", "retry": {"attempts": 3, "retryInterval": "0s"}},
            "kvConnector": {"type": "nixl"},
        },
    ),
    made("ModelServer", "plain", {"inferenceEngine": "SGLang", "workloadSelector": {}}),
    made(
        "ModelRoute",
        "route",
        {
            "modelName": "chat",
            "loraAdapters": ["sql"],
            "rules": [
                {
                    "name": "default",
                    "modelMatch": _MATCH,
                    "targetModels": [{"modelServerName": "server", "weight": 70}, {"modelServerName": "plain"}],
                }
            ],
            "rateLimit": {
                "inputTokensPerUnit": 10,
                "outputTokensPerUnit": 1000,
                "unit": "minute",
                "global": {"redis": {"address": "redis:6379"}},
            },
        },
    ),
    made("ModelRoute", "adapters", {"loraAdapters": ["sql"], "rules": []}),
)
