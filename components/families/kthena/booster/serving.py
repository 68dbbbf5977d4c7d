"""The ModelServing of a backend: roles, and pods with the engine and Kthena's runtime (Kthena spec 2.2, 2.5)."""

from collections.abc import Iterable, Mapping, Sequence

from ....contract.quantity import is_quantity, parse_quantity
from ....engines.command_line import CommandLine
from ....engines.draining import drain_hook, follower_hook
from ....engines.paths import path_prefix
from ....fleet.objects import Object, new_object
from ....fleet.placement import SHARED_MEMORY
from ..names import VOLCANO, WORKLOAD_API
from .command import GROUP_VARIABLES, Commands, commands_of
from .context import BackendContext, BackendRole, metadata_of
from .facts import EngineFacts, facts
from .weights import Weights, weights_of

RUNTIME_PORT = 8100
"""Port of the runtime unless RUNTIME_PORT sets it."""
GRACE_SECONDS = 60
"""How long a failed pod may take to recover before its role is recreated."""
_LOADING_SECONDS = 3600
"""How long an engine may take to load its weights before its container is restarted."""
_ROLE_VARIABLES: Mapping[str, tuple[Object, ...]] = {
    "prefill": (
        {"name": "HF_HUB_OFFLINE", "value": "1"},
        {"name": "HCCL_IF_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ),
    "decode": (
        {"name": "HF_HUB_OFFLINE", "value": "1"},
        {"name": "GLOO_SOCKET_IFNAME", "value": "eth0"},
        {"name": "TP_SOCKET_IFNAME", "value": "eth0"},
        {"name": "HCCL_SOCKET_IFNAME", "value": "eth0"},
    ),
}

RoleCommands = Sequence[tuple[BackendRole, Commands]]
"""The roles of a backend with the command lines of their pods."""


def serving_of(backend: BackendContext) -> tuple[RoleCommands, Object]:
    """Return the roles of a backend with the command lines of their pods, and its ModelServing."""
    weights, roles = weights_of(backend), backend.roles
    role_commands = tuple(zip(roles, commands_of(roles, weights), strict=True))
    template: Object = {"roles": [_role(role, commands, weights) for role, commands in role_commands]}
    if backend.options.runtime:
        template = {"restartGracePeriodSeconds": GRACE_SECONDS, **template}
    controllers = backend.controllers
    # Until v0.1.0, every ModelServing must name volcano (Kthena spec V12), although only the pods of gangs need it.
    # Afterwards an empty name is the scheduler of Kubernetes, and what Kthena's controllers write.
    scheduler = backend.spec.scheduler_name or ("" if controllers.since("v0.2.0") else VOLCANO)
    if backend.options.runtime:
        is_gang = controllers.since("v0.1.0") and scheduler == (backend.spec.scheduler_name or "")
    else:
        is_gang = backend.is_disaggregated and backend.spec.scheduler_name == VOLCANO
    if is_gang:
        template["gangPolicy"] = {"minRoleReplicas": {role.name: role.replicas for role in roles}}
    spec: Object = {"replicas": backend.spec.least, "schedulerName": scheduler, "template": template}
    if backend.options.runtime and controllers.until("v0.1.0") and any(role.pods == 1 for role in roles):
        # With RoleRecreate, the default, these controllers never replace the only pod of an instance (D-13). Those of
        # v0.2.0 do if there is no worker template.
        spec["recoveryPolicy"] = "ServingGroupRecreate"
    body = new_object(WORKLOAD_API, "ModelServing", backend.name, backend.namespace, spec)
    if backend.options.applied:
        body["metadata"] = metadata_of(backend.name, backend.namespace, backend.labels, spec)
    else:
        body["metadata"]["labels"] = backend.labels
    return role_commands, body


def _role(role: BackendRole, commands: Commands, weights: Weights) -> Object:
    health = {"path": role.backend.engine.definition.health, "port": commands.port}
    if role.backend.is_disaggregated:
        ready = {"httpGet": health, "initialDelaySeconds": 5, "periodSeconds": 5, "failureThreshold": 3}
        pod = _entry_pod(
            role,
            commands,
            weights,
            "vllm",
            imagePullPolicy="IfNotPresent",
            # Large weights take longer than the 105 seconds after which liveness alone would restart the container.
            startupProbe={"httpGet": health, "periodSeconds": 10, "failureThreshold": _LOADING_SECONDS // 10},
            readinessProbe=ready,
            livenessProbe={**ready, "initialDelaySeconds": 90},
        )
    else:
        probe = {
            "httpGet": health | {"scheme": "HTTP"},
            "initialDelaySeconds": 90,
            "periodSeconds": 5,
            "timeoutSeconds": 1,
            "successThreshold": 1,
            "failureThreshold": 3,
        }
        pod = _entry_pod(role, commands, weights, "engine", readinessProbe=probe)
    body = {
        "name": role.name,
        "replicas": role.replicas,
        "entryTemplate": {"metadata": {"labels": role.backend.labels}, "spec": pod},
        "workerReplicas": role.pods - 1,
    }
    if role.pods == 1:
        # No worker template without workers: the controllers would create a Service for it, which keeps them from
        # replacing a single failed pod (D-13).
        return body
    backend = role.backend.spec
    volumes = _volumes(role, weights)
    name = f"{backend.name.lower()}-{backend.type.lower()}-worker"
    worker = _engine_container(role, commands, commands.worker, volumes, name)
    engine = role.backend.engine.engine
    prefix = path_prefix(commands.entry)
    hook = follower_hook(engine, GROUP_VARIABLES.leader, commands.port, role.backend.options.grace, prefix)
    if hook:
        worker["lifecycle"] = hook
    return {**body, "workerTemplate": {"spec": _pod(role, weights, [worker], volumes)}}


def _entry_pod(role: BackendRole, commands: Commands, weights: Weights, name: str, **fields: Object | str) -> Object:
    """Return the pod that receives requests.

    Args:
        role: The role.
        commands: The command lines of its pods.
        weights: The cache of its weights.
        name: Name of the engine's container.
        fields: Further fields of that container.
    """
    volumes = _volumes(role, weights)
    drain = drain_hook(
        role.backend.engine.engine, commands.port, role.backend.options.grace, path_prefix(commands.entry)
    )
    engine = {**_engine_container(role, commands, commands.entry, volumes, name), **fields, "lifecycle": drain}
    sidecars = [_runtime_container(role, commands)] if role.backend.options.runtime else []
    return _pod(role, weights, [*sidecars, engine], volumes)


def _pod(
    role: BackendRole, weights: Weights, containers: list[Object], volumes: Sequence[tuple[Object, str]]
) -> Object:
    spec: Object = {
        "terminationGracePeriodSeconds": role.backend.options.grace,
        "initContainers": list(weights.loaders),
        "containers": containers,
        "volumes": [volume for volume, _ in volumes],
    }
    if role.worker.affinity:
        spec["affinity"] = role.worker.affinity
    if role.worker.tolerations:
        spec["tolerations"] = role.worker.tolerations
    if role.backend.spec.runtime_class_name:
        spec["runtimeClassName"] = role.backend.spec.runtime_class_name
    return spec


def _volumes(role: BackendRole, weights: Weights) -> Sequence[tuple[Object, str]]:
    """Return the volumes of a pod, each with its mount path in the engine's container."""
    volumes: list[tuple[Object, str]] = [(weights.volume, weights.folder)]
    resources = role.worker.resources or {}
    amounts = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    if any("/" in key and is_quantity(amount) and parse_quantity(amount) > 1 for key, amount in amounts.items()):
        # With several devices, the engine runs a process for each of them, which communicate through shared memory.
        volumes.append(({"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory"}}, "/dev/shm"))  # noqa: S108
    return volumes


def _engine_container(
    role: BackendRole, commands: Commands, line: CommandLine, volumes: Sequence[tuple[Object, str]], name: str
) -> Object:
    container: Object = {
        "name": name,
        "image": role.worker.image or "",
        "command": list(line.command),
        "args": list(line.args),
        "ports": [{"containerPort": commands.port}],
        "env": _env(role, commands.variables),
    }
    if role.worker.resources:
        container["resources"] = role.worker.resources
    container["volumeMounts"] = [{"name": volume["name"], "mountPath": folder} for volume, folder in volumes]
    return container


def _runtime_container(role: BackendRole, commands: Commands) -> Object:
    """Return Kthena's runtime, which exports the engine's metrics under Kthena's names."""
    backend = role.backend
    port = runtime_port(backend)
    values = {
        "<port>": str(port),
        "<engine>": backend.engine.runtime,
        "<url>": backend.argument("RUNTIME_URL") or f"http://localhost:{commands.port}",
        "<path>": backend.argument("RUNTIME_METRICS_PATH") or "/metrics",
        "<model>": backend.model,
    }
    container: Object = {
        "name": "runtime",
        "image": facts().images["runtime"],
        "args": runtime_arguments(values),
        "ports": [{"containerPort": port}],
        "env": _env(role),
    }
    if backend.spec.env_from:
        container["envFrom"] = list(backend.spec.env_from)
    probe = {"httpGet": {"path": "/health", "port": port}, "initialDelaySeconds": 5, "periodSeconds": 10}
    return {**container, "readinessProbe": probe}


def _env(role: BackendRole, variables: Iterable[Object] = ()) -> list[Object]:
    """Return the user's variables and the generated ones, without duplicates: the user's value wins (D-30)."""
    backend = role.backend
    generated = (*generated_env(backend.engine, role.name, runtime=backend.options.runtime), *variables)
    names = {variable["name"] for variable in backend.env}
    return [*backend.env, *(variable for variable in generated if variable["name"] not in names)]


def generated_env(engine: EngineFacts, role: str, *, runtime: bool) -> list[Object]:
    """Return the variables that Kthena adds to those of the user.

    Args:
        engine: The engine of the backend.
        role: Name of the role; empty for a backend with a single role.
        runtime: Whether pods have Kthena's runtime, which stores what it learns about the cache in Redis if the
            namespace has one.
    """
    env: list[Object] = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.{field}"}}}
        for name, field in (("POD_NAME", "name"), ("NAMESPACE", "namespace"))
    ]
    env += engine.env
    if runtime:
        for name in ("REDIS_HOST", "REDIS_PORT"):
            key = {"key": name, "name": "redis-config", "optional": True}
            env.append({"name": name, "valueFrom": {"configMapKeyRef": key}})
        secret = {"key": "REDIS_PASSWORD", "name": "redis-secret", "optional": True}
        env.append({"name": "REDIS_PASSWORD", "valueFrom": {"secretKeyRef": secret}})
    return [*env, *_ROLE_VARIABLES.get(role, ())]


def runtime_port(backend: BackendContext) -> int:
    """Return the port of the runtime: RUNTIME_PORT if that is a number."""
    text = backend.literal_value("RUNTIME_PORT")
    return int(text) if text.isascii() and text.isdecimal() else RUNTIME_PORT


def runtime_arguments(values: Mapping[str, str]) -> list[str]:
    """Return the arguments of the runtime, with values for placeholders such as ``<port>``."""
    return [values.get(word, word) for word in facts().runtime]
