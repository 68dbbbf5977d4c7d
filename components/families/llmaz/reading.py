"""Manifests of every release in the form of the contract's, which is the only one that rendering reads.

Problems are reported at the fields of the manifest as it is written.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from ...contract.findings.collector import Findings, unknown_reference
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity
from .types import (
    BackendRuntime,
    BackendRuntimeConfig,
    ElasticConfig,
    NamedArgs,
    NamedScaleTrigger,
    OpenModel,
    Playground,
    PlaygroundSpec,
    RecommendedConfig,
    ScaleTrigger,
    Service,
    WorkloadTemplate,
)

_CONFIG, _ELASTIC, _TEMPLATE = "spec.backendRuntimeConfig", "spec.elasticConfig", "spec.workloadTemplate"


class Move(NamedTuple):
    """A field of the contract's form that is elsewhere in the manifest.

    Attributes:
        current: The field in the contract's form.
        written: The field of the manifest.
        is_reference: Whether the manifest only refers to the value, so that it has no fields below this one.
    """

    current: str
    written: str
    is_reference: bool = False


@dataclass(frozen=True, slots=True)
class ReadResource(LoadedResource):
    """A resource in the contract's form.

    Attributes:
        moved: The fields that are elsewhere in the manifest.
    """

    moved: tuple[Move, ...] = field(default=(), compare=False)

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem at the field as it is written."""
        return LoadedResource.problem(self, self.written(path), reason, severity, rule)

    def written(self, path: str) -> str:
        """Return the field of the manifest from which a field of the contract's form is read."""
        for move in self.moved:
            rest = path.removeprefix(move.current)
            if path.startswith(move.current) and rest[:1] in ("", ".", "["):
                return move.written if move.is_reference else f"{move.written}{rest}"
        return path


def _read(source: LoadedResource, resource: Playground | Service, moved: Iterable[Move]) -> ReadResource:
    read = ReadResource(resource, source.kind, source.file, source.line, source.location, moved=tuple(moved))
    read._secrets.append(source.secrets)  # noqa: SLF001  of the same class: no field is added or removed
    return read


# Models and runtimes


def read_model(model: OpenModel) -> OpenModel:
    """Return a model whose flavors have limits, which v0.1.0 calls requests."""
    config = model.spec.inference_config
    if config is None or all(flavor.requests is None for flavor in config.flavors or ()):
        return model
    flavors = [
        flavor if flavor.requests is None else flavor.model_copy(update={"limits": flavor.requests, "requests": None})
        for flavor in config.flavors or ()
    ]
    config = config.model_copy(update={"flavors": flavors})
    return model.model_copy(update={"spec": model.spec.model_copy(update={"inference_config": config})})


def read_runtime(runtime: BackendRuntime) -> BackendRuntime:
    """Return a runtime with a command and recommended configurations.

    In v0.1.0, resources and triggers are the same for all arguments, and the first trigger applies by default.
    """
    spec, update = runtime.spec, dict[str, object]()
    if spec.commands is not None:
        update |= {"command": spec.commands, "commands": None}
    if spec.args is not None or spec.resources is not None or spec.scale_triggers is not None:
        shared: dict[str, object] = {}
        if spec.resources is not None:
            shared["resources"] = spec.resources.wire()
        if spec.scale_triggers:
            shared["scaleTrigger"] = _trigger(spec.scale_triggers[0]).wire()
        configs = [
            RecommendedConfig.model_validate(
                {"name": args.name, **({} if args.flags is None else {"args": args.flags}), **shared}
            )
            for args in spec.args or ()
        ]
        # The triggers stay, because a Playground may refer to another one than the first.
        update |= {"recommended_configs": configs, "args": None, "resources": None}
    return runtime.model_copy(update={"spec": spec.model_copy(update=update)}) if update else runtime


def _trigger(named: NamedScaleTrigger) -> ScaleTrigger:
    return ScaleTrigger.model_validate({"hpa": named.hpa.wire()})


# Playgrounds


def read_playground(
    source: LoadedResource, runtime_of: Callable[[str], BackendRuntime | None], findings: Findings
) -> LoadedResource:
    """Return a Playground in the contract's form; itself if it has that form.

    Args:
        source: The Playground.
        runtime_of: Returns a BackendRuntime by name, in the form in which it is written.
        findings: Receives a reference to a trigger that does not exist.
    """
    playground = source.resource
    assert isinstance(playground, Playground)  # noqa: S101  the caller chose it by kind
    spec = playground.spec
    moved: list[Move] = []
    update = _config_update(spec.backend_runtime_config, moved)
    elastic = spec.elastic_config
    if elastic is not None:
        elastic = _elastic_config(spec, elastic, runtime_of, moved, findings)
        update |= {} if elastic is spec.elastic_config else {"elastic_config": elastic}
    elif spec.backend_runtime_config is not None and spec.backend_runtime_config.scale_trigger is not None:
        findings.warn(
            f"{_CONFIG}.scaleTrigger",
            "has no effect without elasticConfig, whose bounds an autoscaler needs; add it, or remove this",
            RuleId.FIELD_NO_EFFECT,
        )
    if not update:
        return source
    return _read(source, playground.model_copy(update={"spec": spec.model_copy(update=update)}), moved)


def _config_update(config: BackendRuntimeConfig | None, moved: list[Move]) -> dict[str, object]:
    if config is None:
        return {}
    update: dict[str, object] = {}
    if config.name is not None:
        update |= {"backend_name": config.name, "name": None}
        moved.append(Move(f"{_CONFIG}.backendName", f"{_CONFIG}.name"))
    if isinstance(config.args, NamedArgs):
        update |= {"config_name": config.args.name, "args": config.args.flags}
        moved.append(Move(f"{_CONFIG}.configName", f"{_CONFIG}.args.name"))
        moved.append(Move(f"{_CONFIG}.args", f"{_CONFIG}.args.flags"))
    return {"backend_runtime_config": config.model_copy(update=update)} if update else {}


def _elastic_config(
    spec: PlaygroundSpec,
    elastic: ElasticConfig,
    runtime_of: Callable[[str], BackendRuntime | None],
    moved: list[Move],
    findings: Findings,
) -> ElasticConfig:
    """Return the bounds with the trigger of the Playground, wherever its release has it."""
    config = spec.backend_runtime_config or BackendRuntimeConfig()
    current = f"{_ELASTIC}.scaleTrigger"
    if config.scale_trigger is not None:
        moved.append(Move(current, f"{_CONFIG}.scaleTrigger"))
        return elastic.model_copy(update={"scale_trigger": config.scale_trigger})
    if elastic.scale_trigger_ref is None:
        return elastic
    path, name = f"{_ELASTIC}.scaleTriggerRef", config.name or config.backend_name
    runtime, wanted = runtime_of(name), elastic.scale_trigger_ref.name
    triggers = {trigger.name or "": trigger for trigger in (runtime.spec.scale_triggers if runtime else None) or ()}
    if wanted not in triggers:
        if runtime is not None:
            reason = unknown_reference(
                f"scaleTrigger of BackendRuntime {name!r}", wanted, triggers, "name one of them, or remove it"
            )
            findings.error(f"{path}.name", reason, RuleId.REFERENCE_MISSING)
        return elastic
    moved.append(Move(current, f"{path}.name", is_reference=True))
    return elastic.model_copy(update={"scale_trigger": _trigger(triggers[wanted])})


# Services


def read_service(source: LoadedResource, findings: Findings) -> LoadedResource:
    """Return a Service in the contract's form; itself if it has that form."""
    service = source.resource
    assert isinstance(service, Service)  # noqa: S101  the caller chose it by kind
    template = service.spec.workload_template
    group = template.leader_worker_template
    if group is None:
        return source
    if template.startup_policy == "LeaderReady" and group.size > 1:
        findings.warn(
            f"{_TEMPLATE}.startupPolicy",
            "has no effect: workers are created with their leader, which is often ready only once they have joined; "
            "remove it",
            RuleId.FIELD_NO_EFFECT,
        )
    names = {"leader_template", "worker_template", "size", "restart_policy", "sub_group_policy"}
    fields: dict[str, Any] = {to_camel(name): getattr(group, name) for name in names}
    moved = [Move(f"{_TEMPLATE}.{name}", f"{_TEMPLATE}.leaderWorkerTemplate.{name}") for name in fields]
    network: dict[str, Any] = {}
    if template.network_config is not None and template.network_config.subdomain_policy != "Shared":
        network["networkConfig"] = template.network_config  # else it is the default
    written = (names & group.model_fields_set) | ({"network_config"} if network else set())
    read = WorkloadTemplate.model_construct(_fields_set=written, **fields, **network)
    update: dict[str, object] = {"workload_template": read}
    for name in ("replicas", "rollout_strategy"):
        value = getattr(template, name)
        moved.append(Move(f"spec.{to_camel(name)}", f"{_TEMPLATE}.{to_camel(name)}"))
        if value is not None:
            update[name] = value
    return _read(source, service.model_copy(update={"spec": service.spec.model_copy(update=update)}), moved)
