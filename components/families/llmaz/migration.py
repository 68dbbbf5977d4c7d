"""Conversions of manifests between releases of llmaz whose forms differ."""

from collections.abc import Iterator, MutableMapping
from typing import Any

from ...fleet.demand import UNLIMITED
from ..migration import Batch, Fields, MigratedDocument, ReleaseStep, inserted, moved, plain, renamed
from .loaders import SKIP_LOADER

_MODEL, _RUNTIME, _PLAYGROUND, _SERVICE = "OpenModel", "BackendRuntime", "Playground", "Service"
_CONFIG, _ELASTIC, _TEMPLATE, _GROUP = (
    "backendRuntimeConfig",
    "elasticConfig",
    "workloadTemplate",
    "leaderWorkerTemplate",
)
_DEFAULT, _DRAFTED, _SPREAD = "default", "speculative-decoding", "model-parallelism"
"""Names of configurations that are inferred from the claimed models."""
_GROUP_FIELDS = ("leaderTemplate", "workerTemplate", "size", "restartPolicy", "subGroupPolicy")


def steps() -> tuple[ReleaseStep, ...]:
    """Return the conversions, oldest first."""
    return (
        ReleaseStep("v0.1.0", "v0.1.1", _to_configs, _from_configs),
        ReleaseStep("v0.1.1", "79d833c", _to_inline_templates, _from_inline_templates),
        ReleaseStep("79d833c", "v0.1.2", _to_bounded, _from_bounded),
        ReleaseStep("v0.1.2", "v0.1.3", _name_configurations, _leave),
        ReleaseStep("v0.1.3", "v0.1.4", _leave, _without_streaming),
    )


def _leave(_batch: Batch) -> None:
    """Change nothing: the form is the same."""


# v0.1.0 and v0.1.1: arguments and resources of a runtime become recommended configurations


def _to_configs(batch: Batch) -> None:
    runtimes = {document.name: document for document in batch.of_kind(_RUNTIME)}
    for document in batch.of_kind(_MODEL):
        for flavor in _flavors(document):
            renamed(flavor, "requests", "limits")
    # The references of Playgrounds lead to triggers that their runtimes then no longer have.
    for document in batch.of_kind(_PLAYGROUND):
        _playground_to_configs(batch, document, runtimes)
    for document in runtimes.values():
        _runtime_to_configs(batch, document)


def _from_configs(batch: Batch) -> None:
    for document in batch.of_kind(_MODEL):
        for flavor in _flavors(document):
            renamed(flavor, "limits", "requests")
    for document in batch.of_kind(_PLAYGROUND):
        _playground_from_configs(batch, document)
    for document in batch.of_kind(_RUNTIME):
        _runtime_from_configs(batch, document)


def _flavors(document: MigratedDocument) -> Iterator[Fields]:
    config = _part(document.value, "spec", "inferenceConfig")
    yield from (flavor for flavor in (config or {}).get("flavors") or () if isinstance(flavor, MutableMapping))


def _runtime_to_configs(batch: Batch, document: MigratedDocument) -> None:
    spec = _part(document.value, "spec")
    if spec is None or not {"args", "resources", "scaleTriggers"} & set(spec):
        return
    resources, triggers = spec.get("resources"), spec.get("scaleTriggers") or []
    if len(triggers) > 1:
        names = ", ".join(str(trigger.get("name", "")) for trigger in triggers[1:])
        reason = (
            f"triggers {names} are no longer named in the BackendRuntime; Playgrounds that refer to one get a copy"
        )
        batch.note(document, "spec.scaleTriggers", reason)
    elif triggers and triggers[0].get("name"):
        batch.note(document, "spec.scaleTriggers", f"the name of trigger {triggers[0]['name']} is dropped")
    if not spec.get("args"):
        if resources:
            batch.loss(document, "spec.resources", "belong to a configuration, and the runtime has none")
        configs: list[Fields] = []
    else:
        configs = [dict(_config(args, resources, triggers)) for args in spec["args"]]
    for name in ("resources", "scaleTriggers"):
        spec.pop(name, None)
    if "args" in spec:
        renamed(spec, "args", "recommendedConfigs")
        spec["recommendedConfigs"] = configs


def _config(args: Fields, resources: Any, triggers: list[Fields]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  YAML
    yield "name", args.get("name", _DEFAULT)
    if args.get("flags") is not None:
        yield "args", args["flags"]
    if resources:
        yield "resources", plain(resources)
    if triggers:
        yield "scaleTrigger", {"hpa": plain(triggers[0].get("hpa") or {})}


def _runtime_from_configs(batch: Batch, document: MigratedDocument) -> None:
    spec = _part(document.value, "spec")
    if spec is None:
        return
    configs = spec.get("recommendedConfigs") or []
    for index, config in enumerate(configs):
        if config.get("sharedMemorySize") is not None:
            path = f"spec.recommendedConfigs[{index}].sharedMemorySize"
            batch.loss(document, path, "v0.1.0 has no shared memory")
    resources = _common(batch, document, configs, "resources")
    trigger = _common(batch, document, configs, "scaleTrigger")
    args = [
        {"name": config.get("name"), **({"flags": config["args"]} if config.get("args") is not None else {})}
        for config in configs
    ]
    if "recommendedConfigs" in spec:
        renamed(spec, "recommendedConfigs", "args")
        spec["args"] = args
    if "resources" not in spec:
        spec["resources"] = plain(resources or {})  # required by v0.1.0
    if trigger:
        spec["scaleTriggers"] = [{"name": _DEFAULT, **plain(trigger)}]


def _common(batch: Batch, document: MigratedDocument, configs: list[Fields], field: str) -> Any:  # noqa: ANN401  YAML
    """Return the value that all configurations of a runtime share in v0.1.0; the others are losses."""
    values = [plain(config.get(field)) or None for config in configs]
    first = next((value for value in values if value), None)
    for index, value in enumerate(values):
        if value != first:
            reason = f"all arguments of a runtime have the same {field} in v0.1.0"
            batch.loss(document, f"spec.recommendedConfigs[{index}].{field}", reason)
    return first


def _playground_to_configs(batch: Batch, document: MigratedDocument, runtimes: dict[str, MigratedDocument]) -> None:
    spec = _part(document.value, "spec")
    if spec is None:
        return
    config, elastic = _part(spec, _CONFIG), _part(spec, _ELASTIC)
    if config is not None:
        renamed(config, "name", "backendName")
        args = config.get("args")
        if isinstance(args, MutableMapping):
            name = args.get("name")
            inferred = _inferred(batch, spec)
            position = list(config).index("args")
            if args.get("flags") is None:
                del config["args"]
            else:
                config["args"] = args["flags"]
            if (name or _DEFAULT) != inferred or (name is not None and inferred == _DEFAULT):
                inserted(config, position, "configName", name or _DEFAULT)
    if elastic is None:
        return
    reference = elastic.pop("scaleTriggerRef", None)
    trigger = None if reference is None else _referred(batch, document, reference, config, runtimes)
    if trigger is None and "scaleTrigger" not in elastic:
        return
    if config is None:
        inserted(spec, list(spec).index(_ELASTIC), _CONFIG, {})
        config = spec[_CONFIG]
    if trigger is not None:
        config["scaleTrigger"] = trigger
    else:
        moved(elastic, "scaleTrigger", config)


def _referred(
    batch: Batch,
    document: MigratedDocument,
    reference: Fields,
    config: Fields | None,
    runtimes: dict[str, MigratedDocument],
) -> Fields | None:
    """Return a copy of the trigger that a Playground of v0.1.0 refers to."""
    path, name = f"spec.{_ELASTIC}.scaleTriggerRef", str((config or {}).get("backendName", "vllm"))
    runtime = _part(runtimes[name].value, "spec") if name in runtimes else None
    triggers = [*((runtime or {}).get("scaleTriggers") or ())]
    found = next((trigger for trigger in triggers if trigger.get("name") == reference.get("name")), None)
    if found is None:
        reason = f"refers to a trigger of BackendRuntime {name!r}, which is not among the manifests; add its manifest"
        batch.loss(document, path, reason)
        return None
    batch.note(document, path, "becomes a copy of the trigger, which has no name in later releases")
    return {"hpa": plain(found.get("hpa") or {})}


def _playground_from_configs(batch: Batch, document: MigratedDocument) -> None:
    spec = _part(document.value, "spec")
    if spec is None:
        return
    config, elastic = _part(spec, _CONFIG), _part(spec, _ELASTIC)
    if config is None:
        return
    if elastic is not None and "scaleTrigger" in config:
        moved(config, "scaleTrigger", elastic)
    args, name = config.get("args"), config.get("configName")
    if not isinstance(args, MutableMapping) and (args is not None or name is not None):
        inferred = _inferred(batch, spec)
        effective = name or inferred
        is_written = effective != _DEFAULT or (name is not None and inferred == _DEFAULT)
        read: Fields = {"name": effective} if is_written else {}
        if args is not None:
            read["flags"] = args
        position = list(config).index("configName" if name is not None else "args")
        config.pop("configName", None)
        config.pop("args", None)
        inserted(config, position, "args", read)
    renamed(config, "backendName", "name")
    if not config:
        del spec[_CONFIG]


def _inferred(batch: Batch, spec: Fields) -> str:
    """Return the configuration of a Playground that names none."""
    claims = _part(spec, "modelClaims")
    claim = claims if claims is not None else _part(spec, "modelClaim")
    refs = list((claims or {}).get("models") or ())
    main = next(
        (ref.get("name") for ref in refs if ref.get("role", "main") == "main"), (claim or {}).get("modelName")
    )
    spread = _is_spread(batch, str(main), [*((claim or {}).get("inferenceFlavors") or ())])
    if spread and _has_group_configuration(batch, spec):
        return _SPREAD
    return _DRAFTED if _has_draft(spec) else _DEFAULT


def _has_draft(spec: Fields) -> bool:
    claims = _part(spec, "modelClaims") or {}
    return any(ref.get("role") == "draft" for ref in claims.get("models") or ())


def _has_group_configuration(batch: Batch, spec: Fields) -> bool:
    """Return whether the runtime of a Playground has commands and a configuration for groups."""
    config = _part(spec, _CONFIG) or {}
    name = config.get("backendName", config.get("name", "vllm"))
    document = next((each for each in batch.of_kind(_RUNTIME) if each.name == name), None)
    runtime = (_part(document.value, "spec") if document else None) or {}
    if not runtime.get("multiHostCommands"):
        return False
    # Early releases name the list args.
    configs = [*(runtime.get("args") or ()), *(runtime.get("recommendedConfigs") or ())]
    return any(config.get("name") == _SPREAD for config in configs)


def _is_spread(batch: Batch, model: str, chosen: list[Any]) -> bool:
    """Return whether the first flavor of a claim has several pods, by its param PP."""
    document = next((each for each in batch.of_kind(_MODEL) if each.name == model), None)
    flavors = list(_flavors(document)) if document else []
    # A claim without flavors gets the first one of the model.
    if chosen:
        flavors = [flavor for flavor in flavors if flavor.get("name") == chosen[0]]
    params = (flavors[0].get("params") or {}) if flavors else {}
    return bool(params.get("PP"))


# v0.1.1 and 79d833c: a Service has the fields of a LeaderWorkerSet rather than a whole one


def _to_inline_templates(batch: Batch) -> None:
    for document in batch.of_kind(_RUNTIME):
        renamed(document.value.get("spec") or {}, "commands", "command")
    for document in batch.of_kind(_PLAYGROUND):
        config, elastic = _part(document.value, "spec", _CONFIG), _part(document.value, "spec", _ELASTIC)
        if config is not None and elastic is not None and "scaleTrigger" in config:
            moved(config, "scaleTrigger", elastic)
            if not config:
                del document.value["spec"][_CONFIG]
    for document in batch.of_kind(_SERVICE):
        _to_inline_template(batch, document)


def _to_inline_template(batch: Batch, document: MigratedDocument) -> None:
    spec = _part(document.value, "spec")
    template = _part(spec, _TEMPLATE) if spec is not None else None
    group = _part(template, _GROUP) if template is not None else None
    if spec is None or template is None or group is None:
        return
    for name, reason in _without_effect(template).items():
        template.pop(name)
        batch.note(document, f"spec.{_TEMPLATE}.{name}", reason)
    position = list(spec).index(_TEMPLATE)
    for offset, name in enumerate([name for name in ("replicas", "rolloutStrategy") if name in template]):
        moved(template, name, spec, position + offset)
    place = list(template).index(_GROUP)
    for offset, name in enumerate(list(group)):
        moved(group, name, template, place + offset)
    del template[_GROUP]


def _without_effect(template: Fields) -> dict[str, str]:
    """Return fields of a whole LeaderWorkerSet that the controllers never read, with the reason."""
    found = {}
    if "startupPolicy" in template:
        found["startupPolicy"] = "is removed: the controllers never read it"
    if plain(template.get("networkConfig")) == {"subdomainPolicy": "Shared"}:
        found["networkConfig"] = "is removed: it is the default"
    return found


def _from_inline_templates(batch: Batch) -> None:
    for document in batch.of_kind(_RUNTIME):
        renamed(document.value.get("spec") or {}, "command", "commands")
    for document in batch.of_kind(_PLAYGROUND):
        spec = _part(document.value, "spec")
        elastic = _part(spec, _ELASTIC) if spec is not None else None
        if spec is None or elastic is None or "scaleTrigger" not in elastic:
            continue
        if _part(spec, _CONFIG) is None:
            inserted(spec, list(spec).index(_ELASTIC), _CONFIG, {})
        moved(elastic, "scaleTrigger", spec[_CONFIG])
    for document in batch.of_kind(_SERVICE):
        spec = _part(document.value, "spec")
        template = _part(spec, _TEMPLATE) if spec is not None else None
        if spec is None or template is None or _GROUP in template:
            continue
        names = [name for name in template if name in _GROUP_FIELDS]
        # A map of the same class keeps the comments of its keys.
        group = type(template)()
        for name in names:
            moved(template, name, group)
        inserted(template, 0, _GROUP, group)
        for offset, name in enumerate([name for name in ("replicas", "rolloutStrategy") if name in spec]):
            moved(spec, name, template, offset)


# 79d833c and v0.1.2: an upper bound is required


def _to_bounded(batch: Batch) -> None:
    for document in batch.of_kind(_PLAYGROUND):
        elastic = _part(document.value, "spec", _ELASTIC)
        if elastic is not None and "maxReplicas" not in elastic:
            elastic["maxReplicas"] = UNLIMITED


def _from_bounded(batch: Batch) -> None:
    for document in batch.of_kind(_PLAYGROUND):
        elastic = _part(document.value, "spec", _ELASTIC)
        if elastic is not None and elastic.get("maxReplicas") == UNLIMITED:
            del elastic["maxReplicas"]


# v0.1.3: its schema sets configName to default, where other releases infer it


def _name_configurations(batch: Batch) -> None:
    for document in batch.of_kind(_PLAYGROUND):
        spec = _part(document.value, "spec")
        config = _part(spec, _CONFIG) if spec is not None else None
        if spec is not None and config is not None and "configName" not in config and _has_draft(spec):
            config["configName"] = _DRAFTED
            reason = f"is set to {_DRAFTED}, because v0.1.3 would take {_DEFAULT!r}"
            batch.note(document, f"spec.{_CONFIG}.configName", reason)


def _without_streaming(batch: Batch) -> None:
    _name_configurations(batch)
    for document in batch.of_kind(_MODEL):
        uri = str((_part(document.value, "spec", "source") or {}).get("uri", ""))
        scheme = uri.partition("://")[0].lower()
        if scheme in ("s3", "gcs"):
            batch.loss(document, "spec.source.uri", f"releases before v0.1.4 reject {scheme}://")
    for document in (*batch.of_kind(_PLAYGROUND), *batch.of_kind(_SERVICE)):
        annotations = _part(document.value, "metadata", "annotations") or {}
        if annotations.get(SKIP_LOADER) == "true":
            path = f"metadata.annotations[{SKIP_LOADER}]"
            batch.loss(document, path, "releases before v0.1.4 ignore it and load the weights into the pod")


def _part(value: Any, *path: str) -> Fields | None:  # noqa: ANN401  any YAML value
    """Return a map inside a document; None if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, MutableMapping) else None
    return value if isinstance(value, MutableMapping) else None
