"""Pods of a ModelBooster: the engine, the runtime beside it, and what goes before (Kthena spec 2.2, 2.5)."""

from collections.abc import Mapping

from .....contract.quantity import is_quantity, parse_quantity
from .....engines.command_line import CommandLine
from .....fleet.objects import Object
from .....fleet.placement import SHARED_MEMORY
from ..facts import facts
from ..setup import Part, RoleOf
from .command import Commands
from .env import engine_env
from .weights import Weights

RUNTIME_PORT = 8100
"""Where the runtime listens unless RUNTIME_PORT says it."""
DRAIN_SECONDS = 300
"""What a pod has for the requests that are left when it ends."""
_DRAIN = """\
while metrics=$(curl -sf http://localhost:{port}/metrics); do
  printf '%s\\n' "$metrics" | awk '/^{gauges}[{{ ]/ {{ busy += $NF }} END {{ exit busy > 0 }}' && exit 0
  sleep 5
done
"""
"""Waits until the server has no requests; ends as well when it answers no more."""
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  the name that libraries look for
_Volumes = list[tuple[Object, str]]
"""Volumes, and where a container has each."""


def entry_spec(role: RoleOf, commands: Commands, weights: Weights, engine: str, **extra: Object | str) -> Object:
    """Return the spec of the pod that takes requests.

    Args:
        role: The role.
        commands: What its pods run.
        weights: Where its weights are.
        engine: Name of the container with the engine.
        extra: Further fields of that container.
    """
    volumes = _volumes(role, weights)
    container = {**_engine(role, commands, commands.entry, volumes, engine), **extra}
    containers = [_runtime(role, commands)] if role.part.setup.runtime else []
    return _spec(role, weights, [*containers, container], volumes)


def worker_spec(role: RoleOf, commands: Commands, weights: Weights) -> Object:
    """Return the spec of the pods that join it."""
    backend = role.part.backend
    name = f"{backend.name.lower()}-{backend.type.lower()}-worker"
    volumes = _volumes(role, weights)
    return _spec(role, weights, [_engine(role, commands, commands.worker, volumes, name)], volumes)


def drain_of(gauges: str, port: int) -> Object:
    """Return what a pod does before it ends: it waits for its requests.

    Args:
        gauges: What counts them in the metrics.
        port: Where the server tells these.
    """
    script = _DRAIN.format(port=port, gauges=gauges)
    return {"preStop": {"exec": {"command": ["/bin/sh", "-c", script]}}}


def runtime_port(part: Part) -> int:
    """Return where the runtime listens; what is no number counts as not written."""
    text = part.written("RUNTIME_PORT")
    return int(text) if text.isascii() and text.isdecimal() else RUNTIME_PORT


def runtime_arguments(values: Mapping[str, str]) -> list[str]:
    """Return what the runtime is started with; words in angle brackets get their value, as a whole."""
    return [values.get(word, word) for word in facts().runtime]


def _volumes(role: RoleOf, weights: Weights) -> _Volumes:
    """Return the volumes of a pod, and where its engine has each."""
    own = [(weights.volume, weights.folder)]
    memory = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory"}}
    return [*own, (memory, _SHARED_MEMORY)] if _shares_memory(role) else own


def _spec(role: RoleOf, weights: Weights, containers: list[Object], volumes: _Volumes) -> Object:
    spec: Object = {
        "initContainers": list(weights.loaders),
        "containers": containers,
        "volumes": [volume for volume, _ in volumes],
    }
    if role.worker.affinity:
        spec["affinity"] = role.worker.affinity
    return spec


def _engine(role: RoleOf, commands: Commands, line: CommandLine, volumes: _Volumes, name: str) -> Object:
    container: Object = {
        "name": name,
        "image": role.worker.image or "",
        "command": list(line.command),
        "args": list(line.args),
        "ports": [{"containerPort": commands.port}],
        "env": engine_env(role.part, role.name, commands.variables),
    }
    if role.worker.resources:
        container["resources"] = role.worker.resources
    container["volumeMounts"] = [{"name": volume["name"], "mountPath": folder} for volume, folder in volumes]
    return container


def _runtime(role: RoleOf, commands: Commands) -> Object:
    """Return the runtime, which tells the engine's metrics under Kthena's names."""
    part = role.part
    port = runtime_port(part)
    words = {
        "<port>": str(port),
        "<engine>": part.started.runtime,
        "<url>": part.argument("RUNTIME_URL") or f"http://localhost:{commands.port}",
        "<path>": part.argument("RUNTIME_METRICS_PATH") or "/metrics",
        "<model>": part.model,
    }
    container: Object = {
        "name": "runtime",
        "image": facts().images["runtime"],
        "args": runtime_arguments(words),
        "ports": [{"containerPort": port}],
        "env": engine_env(part, role.name),
    }
    if part.backend.env_from:
        container["envFrom"] = list(part.backend.env_from)
    probe = {"httpGet": {"path": "/health", "port": port}, "initialDelaySeconds": 5, "periodSeconds": 10}
    return {**container, "readinessProbe": probe}


def _shares_memory(role: RoleOf) -> bool:
    """Tell whether processes of a pod meet in shared memory: one for each of several devices."""
    resources = role.worker.resources or {}
    stated = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return any("/" in key and is_quantity(amount) and parse_quantity(amount) > 1 for key, amount in stated.items())
