"""The container of a Playground: a BackendRuntime, one of its configurations and what the user changed.

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
from ...engines.registry import Engine, engine_of, engines
from ...engines.settings import Setting
from ...fleet.library import Library
from ...fleet.objects import Object
from ...fleet.placement import SHARED_MEMORY
from ...fleet.serving import deduplicate_env
from ...fleet.words import Edition
from .loaders import RUNNER
from .shipped import shipped, shipped_names
from .types import BackendRuntime, BackendRuntimeConfig, PlaygroundSpec, RecommendedConfig, ResourceRequirements

PORT = 8080
"""Where every shipped engine listens, and the port of every ``-lb`` Service."""
CONFIG_PATH = "spec.backendRuntimeConfig"
_DEFAULT = "default"
_SPECULATIVE = "speculative-decoding"


class ChosenBackend:
    """The engine that a Playground asks for, in the configuration that it gets.

    Attributes:
        engine: None for one that nothing is known of.
        tag: The image's tag, or one that names the version where it is known by other means.
        fit: Whether flags may be spelled as the version knows them; llmaz's operator does not do that.
    """

    def __init__(
        self, runtime: BackendRuntime, config: RecommendedConfig, wanted: BackendRuntimeConfig, *, fit: bool
    ) -> None:
        self.runtime = runtime
        self.config = config
        self.wanted = wanted
        self.version = wanted.version or runtime.spec.version
        # A private mirror may rename the image; a runtime named after an engine still says which one it is.
        self.engine: Engine | None = engine_of(runtime.spec.image) or engines().get(runtime.metadata.name)
        # A runtime that is named after an engine says with ``version`` which version of the engine it is.
        declared = self.engine is not None and runtime.metadata.name == self.engine.name
        self.tag = (
            self.engine.version_tag(runtime.spec.image, self.version, declared=declared)
            if self.engine
            else self.version
        )
        self.fit = fit

    @property
    def engine_name(self) -> str:
        """Name of the engine in the catalog; empty for an unknown one."""
        return self.engine.name if self.engine else ""

    @cached_property
    def recommended(self) -> CommandLine:
        """What the configuration recommends, with placeholders."""
        return CommandLine(self.engine_name, self.tag, self.config.args or (), self.runtime.spec.command or ())

    @cached_property
    def user(self) -> UserLine:
        """The user's own arguments."""
        return user_line(self.recommended, tuple(self.wanted.args or ()), fit=self.fit)


def choose_backend(
    spec: PlaygroundSpec, library: Library, edition: Edition, findings: Findings, *, fit: bool
) -> ChosenBackend:
    """Find the BackendRuntime and the RecommendedConfig; a user's runtime hides a shipped one of its name.

    Raises:
        Unrenderable: one of them does not exist, or its manifest could not be read.
    """
    wanted = spec.backend_runtime_config or BackendRuntimeConfig()
    if library.is_unread("BackendRuntime", wanted.backend_name):
        raise Unrenderable
    own = library.all(BackendRuntime)
    runtime = own.get(wanted.backend_name) or shipped(wanted.backend_name, edition)
    if runtime is None:
        reason = unknown_reference(
            "BackendRuntime",
            wanted.backend_name,
            {*own, *shipped_names()},
            "use one of them, or add a BackendRuntime manifest",
        )
        raise findings.fail(f"{CONFIG_PATH}.backendName", reason, RuleId.REFERENCE_MISSING)
    name = wanted.config_name or _inferred_config(spec)
    configs = {config.name: config for config in runtime.spec.recommended_configs or ()}
    if name not in configs:
        reason = unknown_reference(
            f"recommended configuration of BackendRuntime {wanted.backend_name!r}",
            name,
            configs,
            "set configName to one of them, or choose another backend",
        )
        raise findings.fail(f"{CONFIG_PATH}.configName", reason, RuleId.REFERENCE_MISSING)
    return ChosenBackend(runtime, configs[name], wanted, fit=fit)


def _inferred_config(spec: PlaygroundSpec) -> str:
    drafts = spec.model_claims and any(ref.role == "draft" for ref in spec.model_claims.models)
    return _SPECULATIVE if drafts else _DEFAULT


def runner_container(backend: ChosenBackend, line: CommandLine) -> Object:
    """Return the ``model-runner`` container; the order of its fields is that of llmaz spec 2.5.

    Probes and hooks that ask the recommended port follow the port that the user's arguments choose.
    """
    spec, wanted = backend.runtime.spec, backend.wanted
    usual = backend.recommended.number_of(Setting.PORT) or PORT
    port = line.number_of(Setting.PORT) or PORT
    container: Object = {"name": RUNNER, "image": f"{spec.image}:{backend.version}"}
    if spec.command:
        container["command"] = list(spec.command)
    if line.args:
        container["args"] = list(line.args)
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


def shared_memory(backend: ChosenBackend) -> str | int | float | None:
    """Return the size of ``/dev/shm``: the user's, be it 0 (no limit), else the recommended one."""
    own = backend.wanted.shared_memory_size
    return backend.config.shared_memory_size if own is None else own


def add_shared_memory(spec: Object, size: str | int | float) -> None:
    """Give the model runner a ``/dev/shm`` of its own in memory."""
    volume = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    spec.setdefault("volumes", []).append(volume)
    mount = {"name": SHARED_MEMORY, "mountPath": "/dev/shm"}  # noqa: S108  the name that libraries look for
    spec["containers"][0].setdefault("volumeMounts", []).append(mount)


def _merged_env(base: list[Object], user: list[Object]) -> list[Object]:
    """Override in place, then append the new names in the user's order (llmaz spec 2.5).

    Of a name that a list has twice the last one counts, as in upstream's map (``pkg/util/util.go``, ``MergeEnvs``).
    """
    merged = {env["name"]: env for env in deduplicate_env(base)}
    merged.update({env["name"]: env for env in deduplicate_env(user)})
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
