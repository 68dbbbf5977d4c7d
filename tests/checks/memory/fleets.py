"""Manifests of each family, and what is asked about their memory."""

from typing import Any

from components.checks.memory.cases import MemoryCase
from components.checks.memory.shapes import Layers, Shape
from components.checks.memory.verdicts import WorkloadVerdict, verdicts
from components.checks.memory.workloads.known import KnownShapes, OwnShape
from components.contract.problems import errors
from components.families import objects as read_objects
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.rendering import render_fleet

Object = dict[str, Any]
QWEN = "Qwen/Qwen3-8B"
GIB = 2**30
SMALL = Shape("small", weights_bytes=4 * GIB, layers=(Layers(32, 8, 128, 128),), max_context=8192)
REALIZATIONS = tuple(Realization)


def fleet(*documents: Object, **options: Any) -> Fleet:
    manifests = read_objects(documents, "test")
    assert not manifests.problems, manifests.problems
    # As on EKS, which lets pods that ask for a device onto its nodes.
    rendered = render_fleet(manifests.resources, Options(tolerates_devices=True, **options))
    assert not errors(rendered.problems), errors(rendered.problems)
    return rendered


def judged(*documents: Object, own: dict[str, OwnShape] | None = None, **options: Any) -> list[WorkloadVerdict]:
    return list(verdicts(fleet(*documents, **options), KnownShapes(own or {})))


def only(*documents: Object, own: dict[str, OwnShape] | None = None, **options: Any) -> WorkloadVerdict:
    (verdict,) = judged(*documents, own=own, **options)
    return verdict


def case(*documents: Object, own: dict[str, OwnShape] | None = None, **options: Any) -> MemoryCase:
    found = only(*documents, own=own, **options)
    assert found.verdict.asked, found.text
    return found.verdict.asked


def open_model(source: Object | str = QWEN, types: tuple[str, ...] = ("g6e.2xlarge",), gpus: int = 1) -> Object:
    hub = {"modelHub": {"modelID": source}} if isinstance(source, str) else source
    flavors = [
        {"name": f"f{place}", "limits": {"nvidia.com/gpu": gpus}, "params": {"INSTANCE-TYPE": name} if name else {}}
        for place, name in enumerate(types)
    ]
    spec: Object = {"familyName": "f", "source": hub, "inferenceConfig": {"flavors": flavors}}
    return {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "m"}, "spec": spec}


def playground(*args: str, backend: str = "vllm", version: str = "", name: str = "p") -> Object:
    config: Object = {"backendName": backend, "args": list(args)}
    spec = {
        "modelClaim": {"modelName": "m"},
        "backendRuntimeConfig": config | ({"version": version} if version else {}),
    }
    return {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": name},
        "spec": spec,
    }


def llmaz_service(*args: str) -> Object:
    container = {"name": "model-runner", "image": "vllm/vllm-openai:v0.20.0", "args": list(args)}
    spec = {
        "modelClaims": {"models": [{"name": "m"}]},
        "workloadTemplate": {"workerTemplate": {"spec": {"containers": [container]}}},
    }
    return {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}


def llmkube_model(source: str = QWEN, count: int = 1, **gpu: Any) -> Object:
    hardware = {"accelerator": "cuda", "gpu": {"count": count, **gpu}}
    spec = {"source": source, "format": "gguf" if "gguf" in source.lower() else "safetensors", "hardware": hardware}
    return {"apiVersion": "inference.llmkube.dev/v1alpha1", "kind": "Model", "metadata": {"name": "m"}, "spec": spec}


def inference_service(node: str = "g6e.2xlarge", runtime: str = "vllm", **spec: Any) -> Object:
    selector = {"nodeSelector": {"node.kubernetes.io/instance-type": node}} if node else {}
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    rest = {"skipModelInit": True, "endpoint": {"port": 8000}, "tolerations": tolerations, **selector, **spec}
    return {
        "apiVersion": "inference.llmkube.dev/v1alpha1",
        "kind": "InferenceService",
        "metadata": {"name": "i"},
        "spec": {"modelRef": "m", "runtime": runtime, **rest},
    }


def affinity(*types: str) -> Object:
    expression = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(types)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
            }
        }
    }


def worker(*types: str, gpus: int = 1, pods: int = 1, config: Object | None = None, **more: Any) -> Object:
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}}
    fields = {"image": "vllm/vllm-openai:v0.20.0", "replicas": 1, "pods": pods, "config": config or {}}
    return {**fields, "resources": resources, "affinity": affinity(*types), **more}


def booster(*workers: Object, uri: str = f"hf://{QWEN}", kind: str = "vLLM", **backend: Any) -> Object:
    fields = {
        "name": "b",
        "type": kind,
        "modelURI": uri,
        "minReplicas": 1,
        "maxReplicas": 1,
        "workers": list(workers),
    }
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelBooster",
        "metadata": {"name": "b"},
        "spec": {"backends": [{**fields, **backend}]},
    }


def pod(node: str, command: list[str], gpus: int = 1) -> Object:
    container = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.20.0",
        "command": command,
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
    }
    selector = {"nodeSelector": {"node.kubernetes.io/instance-type": node}} if node else {}
    return {"spec": {**selector, "containers": [container]}}


def model_serving(*roles: tuple[str, Object]) -> Object:
    written = [{"name": name, "replicas": 1, "workerReplicas": 0, "entryTemplate": entry} for name, entry in roles]
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": "k"},
        "spec": {"schedulerName": "volcano", "template": {"roles": written}},
    }


def leader_worker_set(template: Object, size: int = 1) -> Object:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "l"},
        "spec": {"leaderWorkerTemplate": {"size": size, "workerTemplate": template}},
    }
