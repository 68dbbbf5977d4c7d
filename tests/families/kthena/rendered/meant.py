"""Random ModelBoosters and ModelServings that somebody could mean: few of those that only follow the tables are."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Object = dict[str, Any]
API = "workload.serving.volcano.sh/v1alpha1"
_GPUS = {"g6e.2xlarge": 1, "g5.12xlarge": 4, "g6.12xlarge": 4, "p4d.24xlarge": 8}
_TEXTS = ("a", "$(POD_NAME)", "${X}", 'it\'s "so"', "a\nb", "é", "--flag", "1", "")


def _some(random: Random, **fields: Callable[[], Any]) -> Object:
    return {name: make() for name, make in fields.items() if random.random() < 0.5}


def _affinity(instance: str) -> Object:
    wanted = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [instance]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _env(random: Random) -> list[Object]:
    names = random.sample(("TEAM", "HF_ENDPOINT", "VLLM_USE_V1", "POD_NAME", "RUNTIME_PORT"), random.randrange(4))
    return [{"name": name, "value": random.choice(_TEXTS)} for name in names if name != "RUNTIME_PORT"]


def _policy(random: Random) -> Object:
    def stable() -> Object:
        return _some(
            random,
            instances=lambda: random.randrange(1, 5),
            period=lambda: random.choice(("15s", "1m30s", "5m")),
            stabilizationWindow=lambda: random.choice(("0s", "1m", "10m")),
            selectPolicy=lambda: random.choice(("Or", "And")),
        )

    behavior = _some(random, scaleUp=lambda: _some(random, stablePolicy=stable), scaleDown=stable)
    target = random.choice(("1", "5", "2500m"))
    metrics = [{"metricName": "vllm:num_requests_waiting", "targetValue": target}]
    return {"metrics": metrics, **_some(random, tolerancePercent=lambda: random.randrange(101)), "behavior": behavior}


def _backend(random: Random, name: str, *, scaled: bool) -> Object:
    instance, gpus = random.choice(list(_GPUS.items()))
    pods = random.choice((1, 1, 1, 2, 3))
    config = _some(random, **{"max-model-len": lambda: random.choice((4096, 1_048_576)), "seed": lambda: 7})
    worker = {
        "image": "vllm/vllm-openai:v0.20.0",
        "replicas": 1 if scaled else random.choice((1, 1, 2)),
        "pods": pods,
        "config": {**config, "tensor-parallel-size": gpus, **({"pipeline-parallel-size": pods} if pods > 1 else {})},
        "resources": {"requests": {"cpu": "500m"}, "limits": {"nvidia.com/gpu": str(gpus)}},
        "affinity": _affinity(instance),
    }
    least = random.randrange(1, 4)
    return {
        "name": name,
        "type": "vLLM",
        "modelURI": random.choice(("hf://Qwen/Qwen3-8B", "hf://org/a b", "hf://o/$(X)")),
        "minReplicas": least,
        "maxReplicas": least + 2 if scaled else least,
        "workers": [worker],
        **_some(
            random,
            cacheURI=lambda: random.choice(("hostpath:///var/cache/models", "pvc://weights")),
            env=lambda: _env(random),
            envFrom=lambda: [{"secretRef": {"name": "keys"}}],
            routeWeight=lambda: random.randrange(1, 101),
            loraAdapters=lambda: [{"name": f"lora-{n}", "artifactURL": f"hf://o/l{n}"} for n in range(2)],
        ),
        **({"autoscalingPolicy": _policy(random)} if scaled else {}),
    }


def booster(seed: int, namespace: str) -> Object:
    """A ModelBooster."""
    random = Random(seed)
    names = random.sample(("a", "b-1", "large", "x" * 20), random.randrange(1, 4))
    scaled = random.random() < 0.4
    spec = {"backends": [_backend(random, name, scaled=scaled) for name in names]}
    metadata = {"name": random.choice(("m", "chat-7b", "y" * 20)), "namespace": namespace}
    return {"apiVersion": API, "kind": "ModelBooster", "metadata": metadata, "spec": spec}


def _template(random: Random, *, worker: bool = False) -> Object:
    instance, gpus = random.choice(list(_GPUS.items()))
    container = {
        "name": "engine",
        "image": random.choice(("vllm/vllm-openai:v0.20.0", "lmsysorg/sglang:v0.5.4-cu129-amd64", "own.example/e:1")),
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
        **_some(random, env=lambda: _env(random), ports=lambda: [{"name": "http", "containerPort": 8000}]),
    }
    spec = {
        "nodeSelector": {"node.kubernetes.io/instance-type": instance},
        "containers": [
            container,
            *([{"name": "beside", "image": "own.example/b:1"}] if random.random() < 0.3 else []),
        ],
        **_some(
            random, terminationGracePeriodSeconds=lambda: 30, initContainers=lambda: [{**container, "name": "i"}]
        ),
    }
    metadata = {} if worker else _some(random, labels=lambda: {"team": "a"}, annotations=lambda: {"note": "é\n"})
    return {**({"metadata": metadata} if metadata else {}), "spec": spec}


def _role(random: Random, name: str) -> Object:
    workers = random.choice((0, 0, 1, 3))
    body = {
        "name": name,
        "replicas": random.choice((0, 1, 1, 2, 3)),
        "workerReplicas": workers,
        "entryTemplate": _template(random),
    }
    if workers or random.random() < 0.3:
        body["workerTemplate"] = _template(random, worker=True)
    return body


def serving(seed: int, namespace: str) -> Object:
    """A ModelServing."""
    random = Random(seed)
    names = random.sample(("leader", "prefill", "decode", "r-1", "x" * 12), random.randrange(1, 5))
    roles = [_role(random, name) for name in names]
    template: Object = {"roles": roles}
    if random.random() < 0.4:
        template["gangPolicy"] = _some(
            random, minRoleReplicas=lambda: {r["name"]: min(1, r["replicas"]) for r in roles}
        )
    if random.random() < 0.3:
        template["networkTopology"] = _some(random, mode=lambda: "soft", highestTierAllowed=lambda: 2)
    spec = {"schedulerName": "volcano", "replicas": random.randrange(4), "template": template}
    spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}]
    spec |= _some(random, topologySpreadConstraints=lambda: spread)
    metadata = {"name": random.choice(("s", "chat-7b", "y" * 20)), "namespace": namespace}
    return {"apiVersion": API, "kind": "ModelServing", "metadata": metadata, "spec": spec}


def every(kind: str, namespace: str, count: int) -> Iterator[Object]:
    """Yield documents of a kind."""
    make = {"ModelBooster": booster, "ModelServing": serving}[kind]
    return (make(seed, namespace) for seed in range(count))
