"""The settings of a stack, read once, typed, every mistake reported with the YAML to write."""

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pulumi
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from components.render.options import ModelCache, Options, PodOverrides

PROJECT = "inference-platform"


def _spoken(value: object) -> object:
    """Configuration arrives as text: true and false are words there."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


Flag = Annotated[bool, BeforeValidator(_spoken)]


class _Section(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)  # type: ignore[pydantic-alias]


class Cache(_Section):
    """Where loaded weights are kept: a PersistentVolumeClaim or a folder of the node."""

    claim: str | None = None
    host_path: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> "Cache":
        if self.claim and self.host_path:
            raise ValueError("set claim or hostPath, not both")
        return self


class Pods(_Section):
    """What every pod gets in this environment."""

    tolerations: list[dict[str, Any]] = []
    service_account_name: str | None = None
    image_pull_secrets: list[str] = []
    priority_class_name: str | None = None
    annotations: dict[str, str] = {}
    labels: dict[str, str] = {}
    node_selector: dict[str, str] = {}


class Settings(_Section):
    """One environment. The keys, with descriptions and defaults, are those of Pulumi.yaml."""

    models: list[str] = Field(min_length=1)
    namespace: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    realization: Literal["native", "operator"]
    workload: Literal["auto", "lws", "deployment"]
    runtimes: Literal["upstream", "current"]
    kubeconfig: str = Field(min_length=1)
    context: str
    cluster_name: str = Field(min_length=1)
    simulated_nodes: Flag
    custom_resources: Flag
    model_cache: Cache
    pods: Pods

    def options(self) -> Options:
        """Return how to render."""
        cache, pods = self.model_cache, self.pods
        return Options(
            realization=self.realization,
            workload=self.workload,
            runtimes=self.runtimes,
            namespace=self.namespace,
            cache=ModelCache(cache.claim, cache.host_path) if cache.claim or cache.host_path else None,
            overrides=PodOverrides(
                tolerations=tuple(pods.tolerations),
                service_account_name=pods.service_account_name,
                image_pull_secrets=tuple(pods.image_pull_secrets),
                priority_class_name=pods.priority_class_name,
                annotations=pods.annotations,
                labels=pods.labels,
                node_selector=pods.node_selector,
            ),
        )


_EXAMPLES = {
    "models": "[stacks/models]",
    "kubeconfig": ".workbench/kubeconfig",
    "modelCache": "{claim: model-cache}",
    "pods": "{serviceAccountName: inference}",
    "simulatedNodes": "true",
    "customResources": "true",
}
_STRUCTURED = ("models", "modelCache", "pods")


def read() -> Settings:
    """Read the settings of the stack that is being deployed.

    Raises:
        pulumi.RunError: keys are unknown or wrong; all of them are listed.
    """
    from pulumi.runtime.config import CONFIG, get_config_env

    # pulumi.Config answers for keys that one knows; an unknown key would never be seen.
    everything = {**get_config_env(), **CONFIG.get()}
    prefix = f"{PROJECT}:"
    given = {key.removeprefix(prefix): value for key, value in everything.items() if key.startswith(prefix)}
    defaults = declared_defaults(Path("Pulumi.yaml"))
    return parse({**defaults, **given}, f"Pulumi.{pulumi.get_stack()}.yaml")


def parse(values: Mapping[str, Any], file: str) -> Settings:
    """Return settings from configuration values, structured ones as JSON text or as they are.

    Raises:
        pulumi.RunError: keys are unknown or wrong; all of them are listed.
    """
    problems: list[str] = []
    structured = {key: _structure(key, value, file, problems) for key, value in values.items()}
    try:
        settings = Settings.model_validate(structured)
    except ValidationError as error:
        problems += [_explain(detail, file) for detail in error.errors()]
    if problems:
        raise pulumi.RunError("\n".join(problems))
    return settings


def declared_defaults(project_file: Path) -> dict[str, Any]:
    """Return the defaults that Pulumi.yaml declares; the CLI fills them in, other hosts may not."""
    import yaml

    declared = yaml.safe_load(project_file.read_text(encoding="utf-8")).get("config", {})
    prefix = f"{PROJECT}:"
    return {
        key.removeprefix(prefix): facts["default"]
        for key, facts in declared.items()
        if key.startswith(prefix) and "default" in facts
    }


def _structure(key: str, value: object, file: str, problems: list[str]) -> object:
    if key not in _STRUCTURED or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        problems.append(_line(file, key, f"must be YAML {'list' if key == 'models' else 'keys'}, found {value!r}"))
        return [] if key == "models" else {}


def _explain(detail: ErrorDetails, file: str) -> str:
    parts = [str(part) for part in detail["loc"]]
    known = [field.alias or name for name, field in Settings.model_fields.items()]
    path = ".".join(parts)
    if detail["type"] == "extra_forbidden":
        inner = _fields_below(parts[0]) if len(parts) > 1 else known
        close = difflib.get_close_matches(parts[-1], inner, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(inner)}"
        return f"{file}: {PROJECT}:{path}: unknown key{hint}"
    if detail["type"] == "missing":
        return _line(file, path, "is required")
    reason = detail["msg"].removeprefix("Value error, ")
    return _line(file, path, f"{reason[0].lower()}{reason[1:]}, found {detail['input']!r}")


def _fields_below(key: str) -> list[str]:
    sections: dict[str, type[BaseModel]] = {"modelCache": Cache, "pods": Pods}
    section = sections.get(key)
    return [f.alias or n for n, f in section.model_fields.items()] if section else []


def _line(file: str, path: str, reason: str) -> str:
    key = path.partition(".")[0]
    example = _EXAMPLES.get(key)
    remedy = f"; write under config:\n    {PROJECT}:{key}: {example}" if example else ""
    return f"{file}: {PROJECT}:{path}: {reason}{remedy}"
