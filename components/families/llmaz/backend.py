"""The container of a Playground: a BackendRuntime, one of its configurations and the user's overrides.

llmaz spec 2.3 to 2.5.
"""

import re
from functools import cached_property
from typing import Any

from ...contract.findings.collector import Findings, Unrenderable, unknown_reference
from ...contract.findings.ids import RuleId
from ...contract.quantity import parse_quantity
from ...engines.command_line import CommandLine
from ...engines.composing import UserLine, user_line
from ...engines.draining import drain_hook
from ...engines.paths import path_prefix
from ...engines.registry import Engine, engine_of, engines
from ...engines.settings import Setting
from ...fleet.library import Library
from ...fleet.objects import Object
from ...fleet.placement import SHARED_MEMORY
from ...fleet.serving import deduplicate_env
from ...fleet.words import Edition
from .loaders import RUNNER
from .reading import read_runtime
from .shipped import shipped, shipped_names
from .types import (
    BackendRuntime,
    BackendRuntimeConfig,
    NamedArgs,
    PlaygroundSpec,
    RecommendedConfig,
    ResourceRequirements,
)

PORT = 8080
"""Port of every shipped engine and of every ``-lb`` Service."""
CONFIG_PATH = "spec.backendRuntimeConfig"
DEFAULT_BACKEND: str = BackendRuntimeConfig.model_fields["backend_name"].default
"""The BackendRuntime of Playgrounds that name none. It is the only shipped one that ever had commands for groups."""


_GROUP_CONFIG = "model-parallelism"
"""Configuration of groups in runtimes of v0.1.0 and v0.1.1, which have commands for them."""


class ChosenBackend:
    """The engine and configuration of a Playground.

    Attributes:
        engine: None for an unknown engine.
        tag: The image's tag, or one that names the version if it is known by other means.
        fit: Whether flags may be rewritten for the engine's version; llmaz's operator does not.
    """

    def __init__(
        self, runtime: BackendRuntime, config: RecommendedConfig, user_config: BackendRuntimeConfig, *, fit: bool
    ) -> None:
        self.runtime = runtime
        self.config = config
        self.user_config = user_config
        self.version = user_config.version or runtime.spec.version
        # A private mirror may rename the image, but a runtime named after an engine still identifies it.
        self.engine: Engine | None = engine_of(runtime.spec.image) or engines().get(runtime.metadata.name)
        # For a runtime named after an engine, ``version`` is the version of the engine.
        declared = self.engine is not None and runtime.metadata.name == self.engine.name
        self.tag = (
            self.engine.version_tag(runtime.spec.image, self.version, declared=declared)
            if self.engine
            else self.version
        )
        self.fit = fit

    @property
    def engine_name(self) -> str:
        """Name of the engine; empty if it is unknown."""
        return self.engine.name if self.engine else ""

    @cached_property
    def recommended(self) -> CommandLine:
        """The recommended command line, with placeholders."""
        args = self.config.args or ()
        return CommandLine(self.engine_name, self.tag, args, self.runtime.spec.command or ())

    @cached_property
    def user(self) -> UserLine:
        """The user's own arguments."""
        args = self.user_config.args or ()
        assert not isinstance(args, NamedArgs)  # noqa: S101  it is in the contract's form
        return user_line(self.recommended, tuple(args), fit=self.fit)


def written_runtime(name: str, library: Library, edition: Edition, release: str = "") -> BackendRuntime | None:
    """Return a BackendRuntime as it is written; a user's takes precedence over a shipped one.

    Args:
        name: Its name.
        library: All resources.
        edition: Edition of the shipped runtimes.
        release: The release whose operator is installed with its own runtimes; empty for ours.
    """
    return library.all(BackendRuntime).get(name) or shipped(name, edition, release)


def choose_backend(
    spec: PlaygroundSpec,
    library: Library,
    edition: Edition,
    findings: Findings,
    *,
    fit: bool,
    is_group: bool = False,
    release: str = "",
) -> ChosenBackend:
    """Find the BackendRuntime and its configuration.

    Args:
        spec: The Playground, in the contract's form.
        library: All resources.
        edition: Edition of the shipped runtimes.
        findings: Receives the problems.
        fit: Whether flags may be rewritten for the engine's version.
        is_group: Whether the flavor spreads a replica over several pods.
        release: The release whose operator is installed with its own runtimes; empty for ours.

    Raises:
        Unrenderable: one of them does not exist, or its manifest could not be read.
    """
    user_config = spec.backend_runtime_config or BackendRuntimeConfig()
    if library.is_unread("BackendRuntime", user_config.backend_name):
        raise Unrenderable
    written = written_runtime(user_config.backend_name, library, edition, release)
    if written is None:
        reason = unknown_reference(
            "BackendRuntime",
            user_config.backend_name,
            {*library.names(BackendRuntime), *shipped_names()},
            "use one of them, or add a BackendRuntime manifest",
        )
        raise findings.fail(f"{CONFIG_PATH}.backendName", reason, RuleId.REFERENCE_MISSING)
    runtime = read_runtime(written)
    drafts = spec.model_claims and any(ref.role == "draft" for ref in spec.model_claims.models)
    name = user_config.config_name or ("speculative-decoding" if drafts else "default")
    configs = {config.name: config for config in runtime.spec.recommended_configs or ()}
    if is_group and not user_config.config_name and runtime.spec.multi_host_commands and _GROUP_CONFIG in configs:
        name = _GROUP_CONFIG
    if name not in configs:
        reason = unknown_reference(
            f"recommended configuration of BackendRuntime {user_config.backend_name!r}",
            name,
            configs,
            "set configName to one of them, or choose another backend",
        )
        raise findings.fail(f"{CONFIG_PATH}.configName", reason, RuleId.REFERENCE_MISSING)
    return ChosenBackend(runtime, configs[name], user_config, fit=fit)


def runner_container(backend: ChosenBackend, line: CommandLine, grace: int | None = None) -> Object:
    """Return the ``model-runner`` container, with its fields in the order of llmaz spec 2.5.

    Probes and hooks of the recommended port move to the port in the user's arguments.

    Args:
        backend: The engine, its configuration and the user's overrides.
        line: Its command line.
        grace: Termination grace period of the pod, within which it finishes its requests unless the BackendRuntime
            has a preStop hook; None for the operator, which renders the hooks of BackendRuntimes only.
    """
    spec, user_config = backend.runtime.spec, backend.user_config
    default_port = backend.recommended.number_of(Setting.PORT) or PORT
    port = line.number_of(Setting.PORT) or PORT
    container: Object = {"name": RUNNER, "image": f"{spec.image}:{backend.version}"}
    if spec.command:
        container["command"] = list(spec.command)
    if line.args:
        container["args"] = list(line.args)
    # Override in place, then append new names in the user's order (llmaz spec 2.5). The last variable of a repeated
    # name wins, as in upstream's map (pkg/util/util.go, MergeEnvs).
    env = {variable["name"]: variable for variable in deduplicate_env(spec.envs or [])}
    env.update({variable["name"]: variable for variable in deduplicate_env(user_config.envs or [])})
    if env:
        container["env"] = list(env.values())
    container["ports"] = [{"name": "http", "containerPort": port, "protocol": "TCP"}]
    resources = _merged_resources(backend.config.resources, user_config.resources)
    if resources:
        container["resources"] = resources
    lifecycle = _on_port(spec.lifecycle or {}, default_port, port)
    if grace is not None:
        lifecycle = drain_hook(backend.engine_name, port, grace, path_prefix(line)) | lifecycle
    if lifecycle:
        container["lifecycle"] = lifecycle
    for name, value in (
        ("livenessProbe", spec.liveness_probe),
        ("readinessProbe", spec.readiness_probe),
        ("startupProbe", spec.startup_probe),
    ):
        if value:
            container[name] = value if port == default_port else _on_port(value, default_port, port)
    return container


def shared_memory(backend: ChosenBackend) -> str | int | float | None:
    """Return the size of ``/dev/shm``: the user's, including 0 for no limit, or the recommended one."""
    user_size = backend.user_config.shared_memory_size
    return backend.config.shared_memory_size if user_size is None else user_size


def add_shared_memory(spec: Object, size: str | int | float) -> None:
    """Mount a memory volume at ``/dev/shm`` of the model runner."""
    volume = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    spec.setdefault("volumes", []).append(volume)
    mount = {"name": SHARED_MEMORY, "mountPath": "/dev/shm"}  # noqa: S108  the name that libraries look for
    spec["containers"][0].setdefault("volumeMounts", []).append(mount)


def _merged_resources(
    recommended: ResourceRequirements | None, user: ResourceRequirements | None
) -> dict[str, dict[str, str | int | float]]:
    """Merge per key, and raise limits of cpu and memory that are then below their requests."""
    merged = {
        part: {**_amounts(recommended, part), **_amounts(user, part)}
        for part in ("limits", "requests")
        if _amounts(recommended, part) or _amounts(user, part)
    }
    if user is None:
        return merged
    limits, requests = merged.get("limits", {}), merged.get("requests", {})
    for key in ("cpu", "memory"):
        if key in requests and (key not in limits or parse_quantity(requests[key]) > parse_quantity(limits[key])):
            merged.setdefault("limits", limits)[key] = requests[key]
    return merged


def _amounts(resources: ResourceRequirements | None, part: str) -> dict[str, str | int | float]:
    return dict(getattr(resources, part, None) or {})


def _on_port(value: Any, default_port: int, port: int) -> Any:  # noqa: ANN401  any part of a probe or hook
    """Replace a port in a probe or hook."""
    if isinstance(value, dict):
        return {
            key: port if key == "port" and inner == default_port else _on_port(inner, default_port, port)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_on_port(inner, default_port, port) for inner in value]
    if isinstance(value, str):
        return re.sub(rf"(localhost|127\.0\.0\.1):{default_port}\b", rf"\g<1>:{port}", value)
    return value
