"""The container of a Playground: a BackendRuntime, one of its configurations and what the user changed.

llmaz spec 2.3 to 2.5.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from ..api.llmaz import (
    BackendRuntime,
    BackendRuntimeConfig,
    PlaygroundSpec,
    RecommendedConfig,
    ResourceRequirements,
)
from ..api.quantity import parse_quantity
from ..catalog.runtimes import Engine, engine_of, engines, reaches, shipped, shipped_names
from .findings import Findings, Unrenderable, unknown
from .loaders import RUNNER
from .models import Library
from .types import Object

PORT = 8080
"""Where every shipped engine listens, and the port of every ``-lb`` Service."""
SHARED_MEMORY = "dshm"
_CONFIG_PATH = "spec.backendRuntimeConfig"
_PLACEHOLDER = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_PORT_FLAG = re.compile(r"(?:^|\s)--port[=\s]+(\d+)(?=\s|$)")
_RAY_START = re.compile(r"\bray start\b[^\n;&|]*")
"""Its ``--port`` is that of the Ray cluster."""
_MAX_PORT = 65535
_DEFAULT = "default"
_SPECULATIVE = "speculative-decoding"


class Backend:
    """The engine that a Playground asks for, in the configuration that it gets."""

    def __init__(self, runtime: BackendRuntime, config: RecommendedConfig, wanted: BackendRuntimeConfig) -> None:
        self.runtime = runtime
        self.config = config
        self.wanted = wanted
        self.version = wanted.version or runtime.spec.version
        # A private mirror may rename the image; a runtime named after an engine still says which one it is.
        self.engine: Engine | None = engine_of(runtime.spec.image) or engines().get(runtime.metadata.name)


def choose_backend(spec: PlaygroundSpec, library: Library, edition: str, findings: Findings) -> Backend:
    """Find the BackendRuntime and the RecommendedConfig; a user's runtime hides a shipped one of its name.

    Raises:
        Unrenderable: one of them does not exist, or its manifest could not be read.
    """
    wanted = spec.backend_runtime_config or BackendRuntimeConfig()
    if ("BackendRuntime", wanted.backend_name) in library.unread:
        raise Unrenderable
    runtime = library.runtimes.get(wanted.backend_name) or shipped(wanted.backend_name, edition)
    if runtime is None:
        reason = unknown(
            "BackendRuntime",
            wanted.backend_name,
            {*library.runtimes, *shipped_names()},
            "use one of them or add a BackendRuntime manifest",
        )
        raise findings.fail(f"{_CONFIG_PATH}.backendName", reason)
    name = wanted.config_name or _inferred_config(spec)
    configs = {config.name: config for config in runtime.spec.recommended_configs or ()}
    if name not in configs:
        reason = unknown(
            f"recommended configuration of BackendRuntime {wanted.backend_name!r}",
            name,
            configs,
            "set configName to one of them or choose another backend",
        )
        raise findings.fail(f"{_CONFIG_PATH}.configName", reason)
    return Backend(runtime, configs[name], wanted)


def _inferred_config(spec: PlaygroundSpec) -> str:
    drafts = spec.model_claims and any(ref.role == "draft" for ref in spec.model_claims.models)
    return _SPECULATIVE if drafts else _DEFAULT


def recommended_args(backend: Backend, values: Mapping[str, str], findings: Findings) -> list[str]:
    """Return the recommended arguments with their placeholders filled in, right for the engine's version."""
    args = [_filled(arg, values, backend, findings) for arg in backend.config.args or ()]
    if backend.engine and reaches(backend.version, backend.engine.speculative_config_from):
        return _with_speculative_config(args)
    return args


def _filled(arg: str, values: Mapping[str, str], backend: Backend, findings: Findings) -> str:
    def value(match: re.Match[str]) -> str:
        if values.get(match[1]):
            return values[match[1]]
        known = ", ".join(f"{{{{ .{key} }}}}" for key in values)
        findings.error(
            f"{_CONFIG_PATH}.configName",
            f"argument {arg!r} of BackendRuntime {backend.runtime.metadata.name!r}, configuration "
            f"{backend.config.name!r}, names {{{{ .{match[1]} }}}}, which has no value here; known are {known}",
        )
        return match[0]

    return _PLACEHOLDER.sub(value, arg)


def _with_speculative_config(args: list[str]) -> list[str]:
    """Put vLLM's single flags for speculative decoding into the JSON option that replaced them."""
    flags = {"--speculative_model": "model", "--num_speculative_tokens": "num_speculative_tokens"}
    kept: list[str] = []
    found: dict[str, str | int] = {}
    rest = iter(args)
    for arg in rest:
        if arg in flags:
            value = next(rest, "")
            found[flags[arg]] = int(value) if value.isdecimal() else value
        else:
            kept.append(arg)
    return [*kept, "--speculative-config", json.dumps(found)] if found else kept


def serving_port(words: list[str]) -> int | None:
    """Return the port that a command line asks the engine to listen on: its last ``--port``."""
    ports = _PORT_FLAG.findall(_RAY_START.sub("", " ".join(words)))
    return int(ports[-1]) if ports else None


def check_args(backend: Backend, args: list[str], findings: Findings) -> None:
    """Report arguments of the user that cannot work or never reach the engine."""
    port = serving_port(args)
    if port is not None and not 1 <= port <= _MAX_PORT:
        findings.error(f"{_CONFIG_PATH}.args", f"--port must be from 1 to {_MAX_PORT}, found {port}")
    if backend.wanted.args and (backend.runtime.spec.command or [])[-1:] == ["-c"]:
        findings.warn(
            f"{_CONFIG_PATH}.args",
            f"have no effect: BackendRuntime {backend.runtime.metadata.name!r} runs a shell script, which takes them "
            "for its own parameters; use envs, or a BackendRuntime with a script that reads them",
        )


def runner_container(backend: Backend, args: list[str]) -> Object:
    """Return the ``model-runner`` container; the order of its fields is that of llmaz spec 2.5.

    Probes and hooks that ask the recommended port follow the port that the user's arguments choose.
    """
    spec, wanted = backend.runtime.spec, backend.wanted
    usual = serving_port(backend.config.args or []) or PORT
    port = serving_port(args) or PORT
    container: Object = {"name": RUNNER, "image": f"{spec.image}:{backend.version}"}
    if spec.command:
        container["command"] = list(spec.command)
    if args:
        container["args"] = args
    env = _merged_env(spec.envs or [], wanted.envs or [])
    if env:
        container["env"] = env
    container["ports"] = [{"name": "http", "containerPort": port, "protocol": "TCP"}]
    resources = _merged_resources(backend.config.resources, wanted.resources)
    if resources:
        container["resources"] = resources
    for name, value in (
        ("lifecycle", spec.lifecycle),
        ("livenessProbe", spec.liveness_probe),
        ("readinessProbe", spec.readiness_probe),
        ("startupProbe", spec.startup_probe),
    ):
        if value:
            container[name] = value if port == usual else _on_port(value, usual, port)
    return container


def shared_memory(backend: Backend) -> str | int | float | None:
    """Return the size of ``/dev/shm``: the user's, else the recommended one."""
    return backend.wanted.shared_memory_size or backend.config.shared_memory_size


def add_shared_memory(spec: Object, size: str | int | float) -> None:
    """Give the model runner a ``/dev/shm`` of its own in memory."""
    volume = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    spec.setdefault("volumes", []).append(volume)
    mount = {"name": SHARED_MEMORY, "mountPath": "/dev/shm"}  # noqa: S108  the name that libraries look for
    spec["containers"][0].setdefault("volumeMounts", []).append(mount)


def _merged_env(base: list[Object], user: list[Object]) -> list[Object]:
    """Override in place, then append the new names in the user's order (llmaz spec 2.5)."""
    merged = {env["name"]: env for env in base}
    merged.update({env["name"]: env for env in user})
    return list(merged.values())


def _merged_resources(
    recommended: ResourceRequirements | None, user: ResourceRequirements | None
) -> dict[str, dict[str, str | int | float]]:
    """Merge per key; where a request of cpu or memory then exceeds its limit, the limit follows it."""
    merged = {
        part: {**_of(recommended, part), **_of(user, part)}
        for part in ("limits", "requests")
        if _of(recommended, part) or _of(user, part)
    }
    if user is None:
        return merged
    limits, requests = merged.get("limits", {}), merged.get("requests", {})
    for key in ("cpu", "memory"):
        if key in requests and (key not in limits or parse_quantity(requests[key]) > parse_quantity(limits[key])):
            merged.setdefault("limits", limits)[key] = requests[key]
    return merged


def _of(resources: ResourceRequirements | None, part: str) -> dict[str, str | int | float]:
    return dict(getattr(resources, part, None) or {})


def _on_port(value: Any, usual: int, port: int) -> Any:  # noqa: ANN401  any part of a probe or hook
    """Return a probe or hook that asks ``port`` where it asked ``usual``."""
    if isinstance(value, dict):
        return {
            key: port if key == "port" and inner == usual else _on_port(inner, usual, port)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_on_port(inner, usual, port) for inner in value]
    if isinstance(value, str):
        return re.sub(rf"(localhost|127\.0\.0\.1):{usual}\b", rf"\g<1>:{port}", value)
    return value
