"""A model of each family, behind a gateway; pods by hand end as docs/draining.md asks."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from components import families
from components.checks.front_door.door import Door
from components.checks.front_door.words import Exposure
from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import Priority
from components.engines.command_line import command_line_of
from components.engines.draining import finishing_seconds
from components.fleet.ending import DEFAULT_GRACE
from components.fleet.levels import LatencyTargets, Load, ServiceClass, ServiceLevels
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from livefleet.fleet import LiveFleet, TokenPace
from livefleet.reading.fleet import fleet_of
from tests.fleets import open_model

Json = dict[str, Any]
NAMESPACE = "models"
LONGEST = 300
"""Seconds of the longest request, ``frontDoor.requestTimeout``."""
GRACE = LONGEST + 25
REPLICAS = 2
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llmaz": ("playground", "service"),
    "LLMKube": ("inference-service",),
    "Kthena": ("model-serving",),
    "llm-d": ("deployment-variant", "group-variant"),
}
"""The models of each family, by their names."""
STEP = 20.0
"""Seconds of a token, so that even long answers have few."""
_VLLM = "vllm/vllm-openai:v0.20.0"
_VARIANTS = FAMILIES["llm-d"]
_NODES = {"node.kubernetes.io/instance-type": "g6.2xlarge"}
_LLMKUBE = "inference.llmkube.dev/v1alpha1"


def documents(revision: str) -> Iterator[Json]:
    """Yield the manifests; another revision changes the templates of all pods."""
    yield from _playground("playground", revision, replicas=REPLICAS)
    yield from _service("service", revision, replicas=REPLICAS)
    yield from _inference_service("inference-service", revision)
    yield _model_serving("model-serving", revision)
    # The autoscaler owns the replicas of both.
    yield from _playground("deployment-variant", revision)
    yield _variant("deployment-variant", gpus=1)
    yield from _service("group-variant", revision)
    yield _variant("group-variant", gpus=2)


def planned_models(revision: int) -> Plan:
    """Return the plan of the models, which has no error and no finding about the ends of pods."""
    door = Door(Exposure.GATEWAY, internal=True, allow_anonymous=True, request_timeout=f"{LONGEST}s")
    loads = Load(Decimal(1200), Decimal(100), least_per_minute=Decimal(300))
    targets = LatencyTargets(itl_ms=40, ttft_ms=1000)
    levels = ServiceLevels(
        classes=(ServiceClass("Premium", 1, dict.fromkeys(_VARIANTS, targets)),),
        loads=dict.fromkeys(_VARIANTS, loads),
    )
    # Otherwise the default priority of InferenceServices would evict the other models.
    hardening = Hardening(disruption_budgets=True, priority=Priority.NONE)
    options = Options(
        namespace=NAMESPACE,
        longest_request=door.longest_request,
        levels=levels,
        default_class=hardening.class_name,
    )
    environment = Environment(options=options, door=door, simulated=True, hardening=hardening)
    result = plan(families.objects(list(documents(str(revision)))), environment)
    wrong = [p for p in result.problems if p.severity == "error" or (p.rule or "").startswith("drain-")]
    assert not wrong, list(map(str, wrong))
    return result


def live_fleet(planned: Plan, *, drains: bool = True) -> LiveFleet:
    """Return the simulated fleet of a plan, with one pace for all models.

    Args:
        planned: The plan.
        drains: Whether pods have what lets them finish their requests; otherwise they end as they would without a
            preStop hook, ``--shutdown-timeout`` and ``terminationGracePeriodSeconds``.
    """
    fleet = fleet_of("streams", planned)
    pace = TokenPace(alpha=STEP, beta=0.0, prefill=0.0, batch=10_000)
    finishing = {w.key: w.finishing for w in fleet.workloads} if drains else _without_drains(planned)
    workloads = [replace(w, paces={"": pace}, finishing=finishing[w.key]) for w in fleet.workloads]
    return replace(fleet, workloads=tuple(workloads))


def _without_drains(planned: Plan) -> dict[str, float | None]:
    """Return how long the pods of each workload would finish requests."""
    found: dict[str, float | None] = {}
    for _, workload in planned.fleet.workloads:
        container = {key: value for key, value in workload.container.items() if key != "lifecycle"}
        container["args"] = [arg for arg in container.get("args") or () if not arg.startswith("--shutdown-timeout")]
        found[f"{workload.namespace}/{workload.name}"] = finishing_seconds(
            container, command_line_of(container), DEFAULT_GRACE
        )
    return found


def _environment(revision: str) -> list[Json]:
    return [{"name": "REVISION", "value": revision}]


def _pod(model: str, revision: str) -> Json:
    """Return a pod by hand, with the lines that docs/draining.md asks for."""
    container: Json = {
        "name": "model-runner",
        "image": _VLLM,
        "command": ["vllm", "serve"],
        "args": [
            *("--model", "Qwen/Qwen2.5-0.5B-Instruct", "--served-model-name", model, "--port", "8000"),
            f"--shutdown-timeout={LONGEST}",
        ],
        "env": _environment(revision),
        "ports": [{"name": "http", "containerPort": 8000}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}},
        "resources": {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"nvidia.com/gpu": "1"}},
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", "10"]}}},
    }
    return {
        "nodeSelector": _NODES,
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [container],
        "terminationGracePeriodSeconds": GRACE,
    }


def _weights(name: str) -> Json:
    flavor = {"name": "l4", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g6.2xlarge"}}
    return open_model(name, "Qwen/Qwen2.5-0.5B-Instruct", [flavor])


def _playground(name: str, revision: str, **spec: Any) -> Iterator[Json]:
    yield _weights(name)
    runtime = {"backendName": "vllm", "version": "v0.20.0", "envs": _environment(revision)}
    yield {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": name},
        "spec": {"modelClaim": {"modelName": name}, "backendRuntimeConfig": runtime, **spec},
    }


def _service(name: str, revision: str, **spec: Any) -> Iterator[Json]:
    """Yield a Service whose replicas are groups of two."""
    yield _weights(name)
    template = {"size": 2, "workerTemplate": {"spec": _pod(name, revision)}}
    yield {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"modelClaims": {"models": [{"name": name}]}, "workloadTemplate": template, **spec},
    }


def _inference_service(name: str, revision: str) -> Iterator[Json]:
    metadata = {"name": name, "namespace": NAMESPACE}
    hardware = {"accelerator": "cuda", "gpu": {"count": 1}}
    source = {"source": "Qwen/Qwen2.5-0.5B-Instruct", "format": "safetensors"}
    yield {
        "apiVersion": _LLMKUBE,
        "kind": "Model",
        "metadata": metadata,
        "spec": {**source, "hardware": hardware},
    }
    spec = {
        "modelRef": name,
        "runtime": "vllm",
        "image": _VLLM,
        "skipModelInit": True,
        "replicas": REPLICAS,
        "env": _environment(revision),
        "nodeSelector": _NODES,
    }
    yield {"apiVersion": _LLMKUBE, "kind": "InferenceService", "metadata": metadata, "spec": spec}


def _model_serving(name: str, revision: str) -> Json:
    role = {"name": "server", "replicas": 1, "workerReplicas": 0, "entryTemplate": {"spec": _pod(name, revision)}}
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicas": REPLICAS, "schedulerName": "volcano", "template": {"roles": [role]}},
    }


def _variant(name: str, *, gpus: int) -> Json:
    profile = {"acc": "L4", "accCount": gpus, "alpha": "20.58", "beta": "0.41", "maxBatchSize": 256}
    return {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"inference.optimization/acceleratorName": "L4"},
        },
        "spec": {
            "modelID": name,
            "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
            "modelProfile": {"accelerators": [profile]},
        },
    }
