"""ModelServings as Kthena's controllers write them (Kthena spec 2.2, 2.4, 2.5)."""

import re
from collections.abc import Mapping

from .....fleet.objects import Object
from ...names import SERVING_LABEL
from ...types.model_booster import ModelBackend, ModelWorker
from ..children.env import generated_env
from ..children.pods import DRAIN_SECONDS, drain_of, runtime_arguments
from ..children.serving import GRACE_SECONDS
from ..children.weights import digest
from ..facts import facts
from .command import Unconvertible, cache_path, engine_command, worker_command

_PORT = 8000
_DEFAULT_RUNTIME_PORT = 8100
_NUMBER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_ASCEND = {"key": "node.kubernetes.io/npu.chip.name", "operator": "In", "values": ["Ascend910"]}


def serving_spec(model: str, backend: ModelBackend, labels: Mapping[str, str]) -> Object:
    """Return the spec of a backend's ModelServing.

    Raises:
        Unconvertible: the controllers give up.
    """
    workers: dict[str, ModelWorker] = {worker.type: worker for worker in backend.workers}  # the last of each type
    if backend.type == "vLLMDisaggregated":
        return _disaggregated(model, backend, workers)
    if backend.type != "vLLM":
        raise Unconvertible(f"backends of type {backend.type} are not supported")
    if "server" not in workers:
        raise Unconvertible(f"backend {backend.name!r} has no worker of type server")
    return _single(model, backend, workers, labels)


def _single(
    model: str, backend: ModelBackend, workers: Mapping[str, ModelWorker], labels: Mapping[str, str]
) -> Object:
    """Return one role; with several workers config is that of the first, all else of the last (D-29)."""
    worker = workers["server"]
    weights = _Weights(model, backend)
    health: Object = {"path": "/health", "port": _PORT, "scheme": "HTTP"}
    engine = {
        "name": "engine",
        **_common(worker),
        "command": engine_command(backend, backend.workers[0].config, workers),
        "env": _env(backend, ""),
        "volumeMounts": [weights.mount],
        "readinessProbe": _probe(health, 90) | {"timeoutSeconds": 1, "successThreshold": 1},
        "lifecycle": drain_of(facts().engines["vLLM"].gauges, _PORT),
    }
    runtime = _runtime(model, backend, "", sources=True)
    port = runtime["ports"][0]["containerPort"]
    probe = {"httpGet": {"path": "/health", "port": port}, "initialDelaySeconds": 5, "periodSeconds": 10}
    shared = {"initContainers": weights.loaders, "volumes": [weights.volume]}
    entry = {
        "terminationGracePeriodSeconds": DRAIN_SECONDS,
        "containers": [{**runtime, "readinessProbe": probe}, engine],
    }
    role = {
        "name": "leader",
        "replicas": worker.replicas or 0,
        "entryTemplate": {"metadata": {"labels": dict(labels)}, "spec": {**shared, **entry}},
        "workerReplicas": (worker.pods or 0) - 1,
        "workerTemplate": {"spec": {**shared, "containers": [_helper(backend, worker, weights)]}},
    }
    return {
        "replicas": backend.min_replicas,
        "schedulerName": "",
        "template": {"restartGracePeriodSeconds": GRACE_SECONDS, "roles": [role]},
        "topologySpreadConstraints": [_spread(model)],
    }


def _helper(backend: ModelBackend, worker: ModelWorker, weights: "_Weights") -> Object:
    """Return the container of the pods that join a leader."""
    return {
        "name": f"{backend.name.lower()}-vllm-worker",
        **_common(worker),
        "command": worker_command(),
        **({"env": list(backend.env)} if backend.env else {}),
        "volumeMounts": [weights.mount],
    }


def _spread(model: str) -> Object:
    """Return what nothing reads, with a label that no pod has (D-21)."""
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {f"{SERVING_LABEL}/name": model}},
    }


def _disaggregated(model: str, backend: ModelBackend, workers: Mapping[str, ModelWorker]) -> Object:
    for kind in ("prefill", "decode"):
        if kind not in workers:
            raise Unconvertible(f"backend {backend.name!r} has no worker of type {kind}")
    roles = [_member(model, backend, workers, kind) for kind in ("prefill", "decode")]
    return {
        "replicas": backend.min_replicas,
        "schedulerName": "volcano",
        "template": {"restartGracePeriodSeconds": GRACE_SECONDS, "roles": roles},
    }


def _member(model: str, backend: ModelBackend, workers: Mapping[str, ModelWorker], kind: str) -> Object:
    """Return prefill or decode: on Ascend910 alone (D-24), without the labels that a ModelServer selects (D-02)."""
    worker, weights = workers[kind], _Weights(model, backend)
    health = {"path": "/health", "port": _PORT}
    engine = {
        "name": "vllm",
        **_common(worker),
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"containerPort": _PORT}],
        "command": engine_command(backend, worker.config, workers),
        "env": _env(backend, kind),
        "volumeMounts": [weights.mount],
        "readinessProbe": _probe(health, 5),
        "livenessProbe": _probe(health, 90),
    }
    term = {"matchExpressions": [_ASCEND]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    spec = {
        "initContainers": weights.loaders,
        "containers": [_runtime(model, backend, kind, sources=kind == "decode"), engine],
        "volumes": [weights.volume],
        "affinity": {"nodeAffinity": required},
    }
    return {
        "name": kind,
        "replicas": worker.replicas or 0,
        "entryTemplate": {"spec": spec},
        "workerReplicas": 0,
        "workerTemplate": {"spec": {"containers": []}},
    }


def _common(worker: ModelWorker) -> Object:
    image = {"image": worker.image} if worker.image else {}
    return {**image, "resources": worker.resources or {}}


def _probe(health: Object, delay: int) -> Object:
    return {"httpGet": health, "initialDelaySeconds": delay, "periodSeconds": 5, "failureThreshold": 3}


def _env(backend: ModelBackend, role: str) -> list[Object]:
    """Return all variables, some perhaps twice (D-30)."""
    return [*(backend.env or ()), *generated_env(facts().engines["vLLM"], role, runtime=True)]


def _runtime(model: str, backend: ModelBackend, role: str, *, sources: bool) -> Object:
    port = _port(backend)
    words = {
        "<port>": str(port),
        "<engine>": backend.type.lower(),
        "<url>": _value(backend, "RUNTIME_URL", f"http://localhost:{_PORT}"),
        "<path>": _value(backend, "RUNTIME_METRICS_PATH", "/metrics"),
        "<model>": model,
    }
    container: Object = {
        "name": "runtime",
        "image": facts().literal.images["runtime"],
        "args": runtime_arguments(words),
        "ports": [{"containerPort": port}],
        "env": _env(backend, role),
        "resources": {},
    }
    return {**container, "envFrom": list(backend.env_from)} if sources and backend.env_from else container


def _port(backend: ModelBackend) -> int:
    text = _value(backend, "RUNTIME_PORT", str(_DEFAULT_RUNTIME_PORT))
    return int(text) if _NUMBER.fullmatch(text) else _DEFAULT_RUNTIME_PORT


def _value(backend: ModelBackend, name: str, otherwise: str) -> str:
    """Return what a variable says in clear: nothing where it comes from elsewhere."""
    return next((str(each.get("value") or "") for each in backend.env or () if each["name"] == name), otherwise)


class _Weights:
    """The cache of a backend, with paths as they are (D-03, D-04)."""

    def __init__(self, model: str, backend: ModelBackend) -> None:
        folder = cache_path(backend.cache_uri)
        name = f"{backend.name}-weights"
        # A path that is empty is not written.
        self.mount: Object = {"name": name, "mountPath": folder}
        self.volume: Object = {"name": name, **_source(backend.cache_uri, folder)}
        chosen = [{"name": each, "value": _value(backend, each, "")} for each in ("ENDPOINT", "HF_ENDPOINT")]
        env = [_named(backend, each["name"]) for each in chosen if each["value"]]
        loaders: list[tuple[str, str, list[Object]]] = [(f"{model}-model-downloader", backend.model_uri, env)]
        loaders += [
            (f"{model}-lora-downloader-{place}", each.artifact_url, list(backend.env or ()))
            for place, each in enumerate(backend.lora_adapters or ())
        ]
        self.loaders = [self._loader(backend, folder, *each) for each in loaders]

    def _loader(self, backend: ModelBackend, folder: str, name: str, source: str, env: list[Object]) -> Object:
        return {
            "name": name,
            "image": facts().literal.images["downloader"],
            "args": ["--source", source, "--output-dir", f"{folder}/{digest(source)}"],
            **({"env": env} if env else {}),
            **({"envFrom": list(backend.env_from)} if backend.env_from else {}),
            "resources": {},
            "volumeMounts": [self.mount],
        }


def _named(backend: ModelBackend, name: str) -> Object:
    return next(each for each in backend.env or () if each["name"] == name)


def _source(uri: str | None, folder: str) -> Object:
    if uri is None:
        return {"emptyDir": {}}
    if uri.startswith("pvc://"):
        return {"persistentVolumeClaim": {"claimName": folder}}
    return {"hostPath": {"path": folder, "type": "DirectoryOrCreate"}}
