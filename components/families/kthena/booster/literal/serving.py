"""ModelServings as Kthena's controllers write them (Kthena spec 2.2 to 2.5, D-05, D-07, D-20, D-26)."""

import json
import re
from collections.abc import Mapping

from .....contract.base import Json
from .....contract.quantity import parse_quantity
from .....engines.draining import drain_hook
from .....engines.settings import Setting
from .....fleet.objects import Object
from ...names import SERVING_LABEL
from ...types.model_booster import ModelBackend, ModelWorker
from ..context import DRAIN_SECONDS
from ..facts import facts
from ..serving import GRACE_SECONDS, generated_env, runtime_arguments
from ..weights import digest
from .golang import format_value

_PORT = 8000
_DEFAULT_RUNTIME_PORT = 8100
_NUMBER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_ASCEND = {"key": "node.kubernetes.io/npu.chip.name", "operator": "In", "values": ["Ascend910"]}
_MAX_DEPTH = 100
"""Upstream substitutes without end."""


class ConversionError(Exception):
    """Raised where the controllers fail; the message is the reason."""


def serving_spec(model: str, backend: ModelBackend, labels: Mapping[str, str]) -> Object:
    """Return the spec of a backend's ModelServing.

    Raises:
        ConversionError: the controllers fail.
    """
    workers: dict[str, ModelWorker] = {worker.type: worker for worker in backend.workers}  # the last of each type
    if backend.type == "vLLMDisaggregated":
        for kind in ("prefill", "decode"):
            if kind not in workers:
                raise ConversionError(f"backend {backend.name!r} has no worker of type {kind}")
        roles = [_pair_role(model, backend, workers, kind) for kind in ("prefill", "decode")]
        return {
            "replicas": backend.min_replicas,
            "schedulerName": "volcano",
            "template": {"restartGracePeriodSeconds": GRACE_SECONDS, "roles": roles},
        }
    if backend.type != "vLLM":
        raise ConversionError(f"backends of type {backend.type} are not supported")
    if "server" not in workers:
        raise ConversionError(f"backend {backend.name!r} has no worker of type server")
    # Nothing reads the constraint, and no pod has its label (D-21).
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {f"{SERVING_LABEL}/name": model}},
    }
    return {
        "replicas": backend.min_replicas,
        "schedulerName": "",
        "template": {
            "restartGracePeriodSeconds": GRACE_SECONDS,
            "roles": [_server_role(model, backend, workers, labels)],
        },
        "topologySpreadConstraints": [spread],
    }


def _server_role(
    model: str, backend: ModelBackend, workers: Mapping[str, ModelWorker], labels: Mapping[str, str]
) -> Object:
    """Return the only role: of several workers, the config of the first and the other fields of the last (D-29)."""
    worker = workers["server"]
    weights = _Weights(model, backend)
    health: Object = {"path": "/health", "port": _PORT, "scheme": "HTTP"}
    engine = {
        "name": "engine",
        **_image_and_resources(worker),
        "command": _engine_command(backend, backend.workers[0].config, workers),
        "env": _env(backend, ""),
        "volumeMounts": [weights.mount],
        "readinessProbe": _probe(health, 90) | {"timeoutSeconds": 1, "successThreshold": 1},
        "lifecycle": drain_hook(facts().engines["vLLM"].engine, _PORT, DRAIN_SECONDS),
    }
    runtime = _runtime(model, backend, "", with_sources=True)
    port = runtime["ports"][0]["containerPort"]
    probe = {"httpGet": {"path": "/health", "port": port}, "initialDelaySeconds": 5, "periodSeconds": 10}
    script = facts().literal.script
    joining = {
        "name": f"{backend.name.lower()}-vllm-worker",
        **_image_and_resources(worker),
        "command": ["bash", "-c", f"chmod u+x {script} && {script} worker --ray_address=$(ENTRY_ADDRESS)"],
        **({"env": list(backend.env)} if backend.env else {}),
        "volumeMounts": [weights.mount],
    }
    shared = {"initContainers": weights.loaders, "volumes": [weights.volume]}
    entry = {
        "terminationGracePeriodSeconds": DRAIN_SECONDS,
        "containers": [{**runtime, "readinessProbe": probe}, engine],
    }
    return {
        "name": "leader",
        "replicas": worker.replicas or 0,
        "entryTemplate": {"metadata": {"labels": dict(labels)}, "spec": {**shared, **entry}},
        "workerReplicas": (worker.pods or 0) - 1,
        "workerTemplate": {"spec": {**shared, "containers": [joining]}},
    }


def _pair_role(model: str, backend: ModelBackend, workers: Mapping[str, ModelWorker], kind: str) -> Object:
    """Return prefill or decode: for Ascend910 only (D-24), and without the labels that ModelServers select (D-02)."""
    worker, weights = workers[kind], _Weights(model, backend)
    health = {"path": "/health", "port": _PORT}
    engine = {
        "name": "vllm",
        **_image_and_resources(worker),
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"containerPort": _PORT}],
        "command": _engine_command(backend, worker.config, workers),
        "env": _env(backend, kind),
        "volumeMounts": [weights.mount],
        "readinessProbe": _probe(health, 5),
        "livenessProbe": _probe(health, 90),
    }
    term = {"matchExpressions": [_ASCEND]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    spec = {
        "initContainers": weights.loaders,
        "containers": [_runtime(model, backend, kind, with_sources=kind == "decode"), engine],
        "volumes": [weights.volume],
        "affinity": {"nodeAffinity": required},
    }
    return {
        "name": kind,
        "replicas": worker.replicas or 0,
        "entryTemplate": {"spec": spec},
        "workerReplicas": 0,
        # Empty, but present: the controller then creates the headless Services of the role (Kthena spec 2.5).
        "workerTemplate": {"spec": {"containers": []}},
    }


def _image_and_resources(worker: ModelWorker) -> Object:
    image = {"image": worker.image} if worker.image else {}
    return {**image, "resources": worker.resources or {}}


def _probe(health: Object, delay: int) -> Object:
    return {"httpGet": health, "initialDelaySeconds": delay, "periodSeconds": 5, "failureThreshold": 3}


def _env(backend: ModelBackend, role: str) -> list[Object]:
    """Return all variables, possibly with duplicates (D-30)."""
    return [*(backend.env or ()), *generated_env(facts().engines["vLLM"], role, runtime=True)]


def _engine_command(backend: ModelBackend, config: Json, workers: Mapping[str, ModelWorker]) -> list[str]:
    """Return the command of a role; arguments after the script of a group never reach the engine (D-07)."""
    literal, folder = facts().literal, _cache_path(backend.cache_uri)
    if config is not None and not isinstance(config, dict):
        raise ConversionError("config is not a JSON object")
    command = [*literal.command, f"{folder}/{digest(backend.model_uri)}"]
    # Sorted by the keys as written; only underscores are converted, so that maxModelLen stays --maxModelLen.
    for key, config_value in sorted((config or {}).items()):
        command.append(f"--{key.replace('_', '-')}")
        value = format_value(config_value)
        if value:
            command.append(value)
    server = workers.get("server")
    if server and (server.pods or 0) > 1:
        requests = (server.resources or {}).get("requests") or {}
        # Devices in limits alone are not counted (Kthena spec 2.3).
        devices = sum(-int(-parse_quantity(requests[key]) // 1) for key in literal.devices if key in requests)
        line = " ".join((*command, *literal.ray))
        script = literal.script
        start = f"{script} leader --ray_cluster_size={server.pods} --num-gpus={devices}"
        command = ["bash", "-c", f"chmod u+x {script} && {start} && {line}"]
    command += facts().engines["vLLM"].events
    engine = facts().engines["vLLM"].definition
    if backend.lora_adapters:
        adapters = (f"{adapter.name}={folder}/{digest(adapter.artifact_url)}" for adapter in backend.lora_adapters)
        command += (engine.flag(Setting.ADAPTERS_ON) or "", engine.flag(Setting.ADAPTERS) or "", *adapters)
    return command


def _cache_path(uri: str | None) -> str:
    """Return the part of a URI after its scheme: relative for a claim (D-04), empty without a URI (D-03)."""
    return uri.split("://")[1] if uri else ""


def _runtime(model: str, backend: ModelBackend, role: str, *, with_sources: bool) -> Object:
    text = _literal_value(backend, "RUNTIME_PORT", str(_DEFAULT_RUNTIME_PORT))
    port = int(text) if _NUMBER.fullmatch(text) else _DEFAULT_RUNTIME_PORT
    values = {
        "<port>": str(port),
        "<engine>": backend.type.lower(),
        "<url>": _literal_value(backend, "RUNTIME_URL", f"http://localhost:{_PORT}"),
        "<path>": _literal_value(backend, "RUNTIME_METRICS_PATH", "/metrics"),
        "<model>": model,
    }
    container: Object = {
        "name": "runtime",
        "image": facts().literal.images["runtime"],
        "args": runtime_arguments(values),
        "ports": [{"containerPort": port}],
        "env": _env(backend, role),
        "resources": {},
    }
    return {**container, "envFrom": list(backend.env_from)} if with_sources and backend.env_from else container


def _literal_value(backend: ModelBackend, name: str, default: str) -> str:
    """Return the literal value of a variable; empty if it has ``valueFrom``."""
    values = (str(item.get("value") or "") for item in backend.env or () if item["name"] == name)
    return next(values, default)


class _Weights:
    """The cache of a backend, with its paths as they are (D-03, D-04)."""

    def __init__(self, model: str, backend: ModelBackend) -> None:
        uri, folder = backend.cache_uri, _cache_path(backend.cache_uri)
        name = f"{backend.name}-weights"
        self.mount: Object = {"name": name, "mountPath": folder}
        if uri is None:
            source: Object = {"emptyDir": {}}
        elif uri.startswith("pvc://"):
            source = {"persistentVolumeClaim": {"claimName": folder}}
        else:
            source = {"hostPath": {"path": folder, "type": "DirectoryOrCreate"}}
        self.volume: Object = {"name": name, **source}
        env = [
            next(item for item in backend.env or () if item["name"] == variable)
            for variable in ("ENDPOINT", "HF_ENDPOINT")
            if _literal_value(backend, variable, "")
        ]
        loaders: list[tuple[str, str, list[Object]]] = [(f"{model}-model-downloader", backend.model_uri, env)]
        loaders += [
            (f"{model}-lora-downloader-{position}", adapter.artifact_url, list(backend.env or ()))
            for position, adapter in enumerate(backend.lora_adapters or ())
        ]
        self.loaders = [
            {
                "name": loader,
                "image": facts().literal.images["downloader"],
                "args": ["--source", artifact, "--output-dir", f"{folder}/{digest(artifact)}"],
                **({"env": variables} if variables else {}),
                **({"envFrom": list(backend.env_from)} if backend.env_from else {}),
                "resources": {},
                "volumeMounts": [self.mount],
            }
            for loader, artifact, variables in loaders
        ]


def substitute_placeholders(body: Object, model: str, backend: ModelBackend) -> Object:
    """Replace ``${NAME}`` in a ModelServing, which the controllers take for their own placeholders (D-26).

    Raises:
        ConversionError: a name is unknown, or its value contains itself.
    """
    # Only those of the controllers' placeholders that a user might write by accident.
    values: dict[str, Json] = {
        "MODEL_NAME": model,
        "BACKEND_REPLICAS": backend.min_replicas,
        "MODEL_DOWNLOAD_ENVFROM": list(backend.env_from or ()) or None,
    }
    if backend.type == "vLLM":
        values |= {
            "BACKEND_NAME": backend.name.lower(),
            "BACKEND_TYPE": backend.type.lower(),
            "WORKER_ENV": list(backend.env or ()) or None,
        }
    runtime = body["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]["containers"][0]
    values |= {
        "MODEL_SERVING_RUNTIME_ENGINE": backend.type.lower(),
        "MODEL_SERVING_RUNTIME_POD": "$(POD_NAME).$(NAMESPACE)",
        "MODEL_SERVING_RUNTIME_IMAGE": runtime["image"],
        "MODEL_SERVING_RUNTIME_PORT": runtime["ports"][0]["containerPort"],
    }
    spec: Object = _substitute(body["spec"], values, 0)
    return {**body, "spec": spec}


def _substitute(value: Json, values: Mapping[str, Json], depth: int) -> Json:
    if depth > _MAX_DEPTH:
        raise ConversionError("a ${NAME} contains itself, and the controllers never end (D-26)")
    match value:
        case dict():
            return {key: _substitute(inner, values, depth) for key, inner in value.items()}
        case list():
            return [_substitute(inner, values, depth) for inner in value]
        case str() if value.startswith("${") and value.endswith("}"):
            # A string that is one placeholder becomes its value, of any type; values are substituted again.
            return _substitute(_placeholder_value(value[2:-1], values), values, depth + 1)
        case str() if "${" in value:
            return _substitute_text(value, values)
    return value


def _substitute_text(text: str, values: Mapping[str, Json]) -> str:
    before, opening, rest = text.partition("${")
    if not opening:
        return text
    name, closing, after = rest.partition("}")
    if not closing:
        raise ConversionError(f"found ${{ without its end in {text!r} (D-26)")
    value = _placeholder_value(name, values)
    formatted = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return f"{before}{formatted}{_substitute_text(after, values)}"


def _placeholder_value(name: str, values: Mapping[str, Json]) -> Json:
    if name not in values:
        raise ConversionError(f"${{{name}}} is not one of the controllers' own placeholders (D-26)")
    return values[name]
