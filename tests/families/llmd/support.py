"""Short ways to write VariantAutoscalings and what they scale, and to look at what comes of them."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from components.fleet.levels import Accelerator, LatencyTargets, Load, ServiceClass, ServiceLevels
from components.fleet.rendered import Fleet, Rendered
from tests.families.kthena.serving.support import engine, model_serving, pods, role
from tests.fleets import GPU, errors, fleet_of, open_model, playground, warnings

Object = dict[str, Any]
MODEL = "tiny"
"""What clients ask for."""
LABEL = "inference.optimization/acceleratorName"
NODES = {"node.kubernetes.io/instance-type": "g6.xlarge"}
"""An L4 each (aws-gpu spec 1)."""
REQUESTS = {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"nvidia.com/gpu": "1", "memory": "8Gi"}}
LWS_API = "leaderworkerset.x-k8s.io/v1"


def variant(name: str = "chat", *profiles: Object, accelerator: str | None = "L4", **fields: Any) -> Object:
    """A VariantAutoscaling; further fields of its spec by their wire names."""
    labels = {} if accelerator is None else {"labels": {LABEL: accelerator}}
    namespace = fields.pop("namespace", "ns")
    status = fields.pop("status", None)
    spec = {
        "modelID": MODEL,
        "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
        "modelProfile": {"accelerators": [*(profiles or (profile(),))]},
        **fields,
    }
    return {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {}), **labels},
        "spec": spec,
        **({"status": status} if status else {}),
    }


def profile(acc: str = "L4", count: int = 1, alpha: str = "20.58", beta: str = "0.41", batch: int = 4) -> Object:
    """How fast a replica is; the numbers of WVA spec 8.10."""
    return {"acc": acc, "accCount": count, "alpha": alpha, "beta": beta, "maxBatchSize": batch}


def levels(
    load: Load | None = None, targets: LatencyTargets | None = None, name: str = "chat", **prices: str | None
) -> ServiceLevels:
    """What is promised and asked of one variant, by default as in WVA spec 8.10; prices by accelerator."""
    return ServiceLevels(
        classes=(ServiceClass("Premium", 1, {MODEL: targets or LatencyTargets(24, 500)}),),
        loads={name: load or per_minute(40)},
        accelerators={key: Accelerator(None if price is None else Decimal(price)) for key, price in prices.items()},
    )


def per_minute(peak: float, least: float = 0, output: float = 178) -> Load:
    """A load."""
    return Load(Decimal(str(peak)), Decimal(str(output)), least_per_minute=Decimal(str(least)))


# -- what is scaled, one document list a family, each with a workload named as asked


def of_llmaz(name: str = "chat", namespace: str = "ns", **spec: Any) -> list[Object]:
    """A Playground and its model."""
    flavor = {**GPU, "name": "l4", "params": {"INSTANCE-TYPE": "g6.xlarge"}}
    document = playground(name, MODEL, **spec)
    document["metadata"]["namespace"] = namespace
    return [open_model(MODEL, f"org/{MODEL}", [flavor]), document]


def of_llmkube(name: str = "chat", namespace: str = "ns", **spec: Any) -> list[Object]:
    """An InferenceService and its Model."""
    api = "inference.llmkube.dev/v1alpha1"
    gpu = {"accelerator": "cuda", "gpu": {"enabled": True, "count": 1, "vendor": "nvidia"}}
    return [
        {
            "apiVersion": api,
            "kind": "Model",
            "metadata": {"name": f"{name}-weights", "namespace": namespace},
            "spec": {"source": f"org/{MODEL}", "format": "safetensors", "hardware": gpu},
        },
        {
            "apiVersion": api,
            "kind": "InferenceService",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "modelRef": f"{name}-weights",
                "runtime": "vllm",
                "skipModelInit": True,
                "endpoint": {"port": 8000},
                "extraArgs": ["--served-model-name", MODEL],
                "resources": {"cpu": "2", "memory": "8Gi"},
                "nodeSelector": NODES,
                **spec,
            },
        },
    ]


def of_kthena(name: str = "chat", namespace: str = "ns", workers: int = 0, **spec: Any) -> list[Object]:
    """A ModelServing of one role."""
    template = pods(engine("--served-model-name", MODEL, resources=REQUESTS), nodeSelector=NODES)
    parts = {"workerTemplate": template} if workers else {}
    document = model_serving(name, role("leader", workers, entryTemplate=template, **parts), **spec)
    document["metadata"]["namespace"] = namespace
    return [document]


def of_booster(name: str = "chat", namespace: str = "ns") -> list[Object]:
    """A ModelBooster with one backend."""
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
                    for key, value in NODES.items()
                ]
            }
        }
    }
    worker = {
        "image": "vllm/vllm-openai:v0.11.0",
        "replicas": 1,
        "pods": 1,
        "config": {"served-model-name": MODEL},
        "resources": REQUESTS,
        "affinity": affinity,
    }
    backend = {
        "name": "l4",
        "type": "vLLM",
        "modelURI": f"hf://org/{MODEL}",
        "minReplicas": 1,
        "maxReplicas": 1,
        "workers": [worker],
    }
    return [
        {
            "apiVersion": "workload.serving.volcano.sh/v1alpha1",
            "kind": "ModelBooster",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"backends": [backend]},
        }
    ]


def of_lws(name: str = "chat", namespace: str = "ns", size: int = 1, **spec: Any) -> list[Object]:
    """A LeaderWorkerSet written by hand."""
    container = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.11.0",
        "args": ["--model", f"org/{MODEL}", "--served-model-name", MODEL],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": REQUESTS,
    }
    template = {"spec": {"containers": [container], "nodeSelector": NODES}}
    return [
        {
            "apiVersion": LWS_API,
            "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"leaderWorkerTemplate": {"size": size, "workerTemplate": template}, **spec},
        }
    ]


# -- what comes of them


def fleet(*documents: Object, **options: Any) -> Fleet:
    """Render with a promise and with a load for every variant, unless others are given."""
    usual = levels()
    names = [document["metadata"]["name"] for document in documents if document["kind"] == "VariantAutoscaling"]
    usual = replace(usual, loads=dict.fromkeys(names, usual.loads["chat"]))
    return fleet_of(*documents, **{"levels": usual, **options})


def variant_in(found: Fleet, name: str = "chat") -> Rendered:
    """What a VariantAutoscaling became."""
    return next(item for item in found.rendered if item.kind == "VariantAutoscaling" and item.name == name)


def told(*documents: Object, severity: str = "error", **options: Any) -> list[tuple[str, str, str]]:
    """Title, field and reason of the problems of a severity."""
    found = fleet(*documents, **options)
    problems = errors(found) if severity == "error" else warnings(found)
    return [(f"{each.kind}/{each.name}", each.path, each.reason) for each in problems]


def bound(serving: str) -> list[Object]:
    """A policy, and a binding that scales a ModelServing by it."""
    api = "workload.serving.volcano.sh/v1alpha1"
    reference = {"kind": "ModelServing", "name": serving}
    scaling = {"target": {"targetRef": reference}, "minReplicas": 1, "maxReplicas": 3}
    metrics = [{"metricName": "vllm:num_requests_waiting", "targetValue": "5"}]
    return [
        {
            "apiVersion": api,
            "kind": "AutoscalingPolicy",
            "metadata": {"name": "policy", "namespace": "ns"},
            "spec": {"tolerancePercent": 10, "metrics": metrics, "behavior": {}},
        },
        {
            "apiVersion": api,
            "kind": "AutoscalingPolicyBinding",
            "metadata": {"name": "binding", "namespace": "ns"},
            "spec": {"policyRef": {"name": "policy"}, "scalingConfiguration": scaling},
        },
    ]


def hpa_in(found: Any, name: str = "chat") -> Object:
    """The autoscaler of a variant."""
    (scaler,) = variant_in(found, name).autoscalers
    body: Object = scaler.hpa
    return body


def bounds(found: Any, name: str = "chat") -> tuple[int, int]:
    spec = hpa_in(found, name)["spec"]
    return spec["minReplicas"], spec["maxReplicas"]
