# ruff: noqa: E501 - tables of values
"""InferenceServices and Models of LLMKube as writers would write them: together they use every field."""

from typing import Any

from components.contract.kinds import Kind
from components.families import kinds

Document = dict[str, Any]

API_VERSION = "inference.llmkube.dev/v1alpha1"


def kind_of(document: Document) -> Kind:
    """Return the kind of a document."""
    return kinds().by_name(document["kind"])


def made(kind: str, name: str, spec: Any, **metadata: Any) -> Document:
    """Return an object of LLMKube."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": spec,
    }


LLAMACPP, VLLM, TGI, PERSONAPLEX, GENERIC, LEAST, WEIGHTS, REPOSITORY = range(8)
DOCUMENTS: tuple[Document, ...] = (
    made(
        "InferenceService",
        "llama.all",
        {
            "modelRef": "m1",
            "runtime": "llamacpp",
            "replicas": 2,
            "image": "ghcr.io/ggml-org/llama.cpp:server-cuda13",
            "contextSize": 8192,
            "ropeScaling": {"type": "yarn", "factor": "2.0", "originalContext": 131072},
            "parallelSlots": 4,
            "flashAttention": True,
            "jinja": True,
            "cacheTypeK": "q8_0",
            "cacheTypeV": "q4_0",
            "cacheTypeCustomK": "turbo4",
            "cacheTypeCustomV": "turbo3",
            "moeCPUOffload": True,
            "moeCPULayers": 10,
            "noKvOffload": True,
            "tensorOverrides": ["exps=CPU", "token_embd=CUDA0"],
            "batchSize": 2048,
            "uBatchSize": 512,
            "noWarmup": True,
            "reasoningBudget": 0,
            "reasoningBudgetMessage": "wrap up",
            "metadataOverrides": ["a.b=int:1"],
            "extraArgs": ["--seed", "42"],
            "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
            "resources": {"gpu": 1, "gpuMemory": "16Gi", "cpu": "2", "memory": "4Gi", "hostMemory": "48Gi"},
            "endpoint": {"port": 8080, "path": "/v1/chat/completions", "type": "NodePort"},
            "priority": "high",
            "evictionProtection": True,
        },
        labels={"team": "a"},
        annotations={"note": "free text"},
    ),
    made(
        "InferenceService",
        "qwen-fp8",
        {
            "modelRef": "qwen",
            "runtime": "vllm",
            "skipModelInit": True,
            "containerPort": 8000,
            "endpoint": {"port": 8000},
            "parallelSlots": 16,
            "vllmConfig": {
                "tensorParallelSize": 2,
                "maxModelLen": 8192,
                "quantization": "fp8",
                "dtype": "auto",
                "kvCacheDtype": "fp8_e4m3",
                "kvCacheCustomDtype": "turboquant_k8v4",
                "enablePrefixCaching": True,
                "enableChunkedPrefill": True,
                "enableExpertParallel": False,
                "maxNumBatchedTokens": 4096,
                "attentionBackend": "FLASHINFER",
                "cpuOffloadGB": 0,
                "gpuMemoryUtilization": 0.9,
                "speculative": {"enabled": True, "model": "draft", "numSpeculativeTokens": 5},
                "hfTokenSecretRef": {"name": "hf", "key": "HF_TOKEN", "optional": False},
            },
            "autoscaling": {
                "minReplicas": 2,
                "maxReplicas": 8,
                "metrics": [
                    {"type": "Pods", "name": "vllm:num_requests_running", "targetAverageValue": "5"},
                    {"type": "Resource", "name": "cpu", "targetAverageUtilization": 70},
                ],
            },
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 60}],
            "nodeSelector": {"role": "gpu"},
            "runtimeClassName": "nvidia",
        },
    ),
    made(
        "InferenceService",
        "mistral-tgi",
        {
            "modelRef": "mistral",
            "runtime": "tgi",
            "tgiConfig": {
                "quantize": "bitsandbytes",
                "dtype": "bfloat16",
                "maxInputLength": 100,
                "maxTotalTokens": 200,
                "hfTokenSecretRef": {"key": "token"},
            },
            "imagePullSecrets": [{"name": "pull"}, {}],
            "priorityClassName": "mine",
        },
    ),
    made(
        "InferenceService",
        "voice",
        {
            "modelRef": "voice",
            "runtime": "personaplex",
            "image": "registry.example.com/personaplex:1",
            "personaPlexConfig": {"quantize4Bit": True, "cpuOffload": False, "hfTokenSecretRef": {"name": "hf", "key": "HF_TOKEN"}},
        },
    ),
    made(
        "InferenceService",
        "own-server",
        {
            "modelRef": "own",
            "runtime": "generic",
            "image": "registry.example.com/server:1",
            "command": ["/server"],
            "args": ["--verbose"],
            "replicas": 0,
            "podAnnotations": {"example.com/note": "x"},
            "podLabels": {"team": "a"},
            "podSecurityContext": {
                "fsGroup": 1000,
                "supplementalGroups": [1, 2],
                "seccompProfile": {"type": "RuntimeDefault"},
                "sysctls": [{"name": "net.core.somaxconn", "value": "1024"}],
            },
            "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True, "seLinuxOptions": {"level": "s0"}},
            "probeOverrides": {
                "startup": {"exec": {"command": ["true"]}, "failureThreshold": 3},
                "liveness": {"httpGet": {"path": "/", "port": "http", "httpHeaders": [{"name": "a", "value": "b"}]}},
                "readiness": {"grpc": {"port": 9000}, "terminationGracePeriodSeconds": 5},
            },
            "env": [
                {"name": "S", "valueFrom": {"secretKeyRef": {"key": "k", "name": "s"}}},
                {"name": "C", "valueFrom": {"configMapKeyRef": {"key": "k"}}},
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                {"name": "R", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
                {"name": "F", "valueFrom": {"fileKeyRef": {"key": "k", "path": "p", "volumeName": "v"}}},
            ],
        },
    ),
    made("InferenceService", "least", {"modelRef": "m1"}),
    made(
        "Model",
        "m1",
        {
            "source": "https://example.com/m.gguf",
            "sha256": "0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCD",
            "refreshPolicy": "OnChange",
            "format": "gguf",
            "quantization": "Q4_K_M",
            "hardware": {
                "accelerator": "cuda",
                "gpu": {
                    "enabled": True,
                    "count": 3,
                    "memory": "16Gi",
                    "vendor": "nvidia",
                    "layers": -1,
                    "sharding": {"strategy": "tensor", "layerSplit": ["0-19", "20-29", "30-39"]},
                },
                "memoryBudget": "24Gi",
                "memoryFraction": 0.5,
            },
            "resources": {"cpu": "2", "memory": "4Gi"},
        },
    ),
    made("Model", "repository", {"source": "org/repo"}),
)  # fmt: skip
