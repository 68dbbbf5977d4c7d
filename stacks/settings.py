"""The settings of a stack, read once, typed, every mistake reported with the YAML to write."""

import difflib
import json
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pulumi
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails

from components.planning.node_plan import NodeEnvironment
from components.planning.prerequisites import ClusterFacts
from components.prerequisites.metrics import PROMETHEUS_PORT, PROMETHEUS_URL
from components.render.metrics import MetricSettings
from components.render.options import ModelCache, Options, PodOverrides

from .access_settings import FrontDoorSettings, HardeningSettings
from .aws_settings import REGION, ClusterSettings, GpuNodeSettings, NetworkSettings
from .section import Flag, Section

PROJECT = "inference-platform"
MODEL_ACCOUNT = "model-loader"
"""Service account of the pods where they may read buckets and none is named."""


class Cache(Section):
    """Where loaded weights are kept: a PersistentVolumeClaim or a folder of the node."""

    claim: str | None = None
    host_path: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> "Cache":
        if self.claim and self.host_path:
            raise ValueError("set claim or hostPath, not both")
        return self


class Pods(Section):
    """What every pod gets in this environment."""

    tolerations: list[dict[str, Any]] = Field(default_factory=list)
    service_account_name: str | None = None
    image_pull_secrets: list[str] = Field(default_factory=list)
    priority_class_name: str | None = None
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    node_selector: dict[str, str] = Field(default_factory=dict)


class Prerequisites(Section):
    """What is installed into the cluster besides the models."""

    install: Flag = False
    present: list[str] = Field(default_factory=list)
    adapter: Literal["prometheus-adapter", "keda"] = "prometheus-adapter"
    gpu_stack: Literal["device-plugin", "operator"] = "device-plugin"
    monitoring: Flag = False
    grafana: Flag = True
    prometheus_url: str = PROMETHEUS_URL
    prometheus_port: int = Field(default=PROMETHEUS_PORT, ge=1, le=65535)
    retention: str = "10d"
    storage_gib: int | None = Field(default=None, ge=1)


class Settings(Section):
    """One environment. The keys, with descriptions and defaults, are those of Pulumi.yaml."""

    models: list[str] = Field(min_length=1)
    namespace: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    realization: Literal["native", "operator"]
    workload: Literal["auto", "lws", "deployment"]
    runtimes: Literal["upstream", "current"]
    cloud: Literal["none", "aws"]
    region: str = Field(pattern=REGION)
    kubeconfig: str = Field(default="", validate_default=True)
    context: str
    cluster_name: str = Field(min_length=1)
    simulated_nodes: Flag
    custom_resources: Flag
    model_cache: Cache
    pods: Pods
    tags: dict[str, str]
    protect: Flag
    network: NetworkSettings
    cluster: ClusterSettings
    gpu_nodes: GpuNodeSettings
    model_buckets: list[str]
    prerequisites: Prerequisites
    front_door: FrontDoorSettings
    hardening: HardeningSettings
    file: str = Field(default="<program>", exclude=True)
    """What to name in messages; not a key."""

    @field_validator("kubeconfig")
    @classmethod
    def _some_cluster(cls, value: str, info: ValidationInfo) -> str:
        if not value and info.data.get("cloud") == "none":
            raise ValueError("is required without a cloud")
        return value

    @model_validator(mode="after")
    def _zones_on_aws(self) -> "Settings":
        if self.cloud == "aws" and len(self.network.node_zones) < 2:
            raise ValueError("network: name two zones at least, which EKS wants for its control plane")
        return self

    @property
    def model_account(self) -> str | None:
        """Service account of the pods; one is made where they read buckets and none is named."""
        made = MODEL_ACCOUNT if self.model_buckets else None
        return self.pods.service_account_name or made

    def environment(self) -> NodeEnvironment:
        """Return where and how nodes are made."""
        labels = self.pods.node_selector
        return self.gpu_nodes.environment(self.region, self.network, self.cluster.version, labels, self.file)

    def facts(self) -> ClusterFacts:
        """Return what is known of the cluster, for what must be installed in it."""
        said, aws = self.prerequisites, self.cloud == "aws"
        # Every cluster that is made here has the add-on; a second metrics-server would fight it.
        addons = {"metrics-server"} if aws and not self.cluster.existing else set[str]()
        scaler = {"managed": "cluster-autoscaler", "karpenter": "karpenter"}[self.gpu_nodes.provisioner]
        return ClusterFacts(
            version=self.cluster.version if aws else "",
            cloud=self.cloud,
            node_autoscaler=scaler if aws else "",
            image=self.gpu_nodes.image,
            adapter=said.adapter,
            gpu_stack=said.gpu_stack,
            monitoring=said.monitoring,
            present=frozenset({*said.present, *addons}),
            file=self.file,
        )

    def metrics(self) -> MetricSettings:
        """Return how metrics are collected: of all models where they are watched, else what autoscalers read."""
        said = self.prerequisites
        return MetricSettings(
            adapter=said.adapter,
            prometheus=f"{said.prometheus_url}:{said.prometheus_port}",
            scrape="all" if said.monitoring else "used",
        )

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
                service_account_name=self.model_account,
                image_pull_secrets=tuple(pods.image_pull_secrets),
                priority_class_name=pods.priority_class_name,
                annotations=pods.annotations,
                labels=pods.labels,
                node_selector=pods.node_selector,
            ),
            monitoring=self.prerequisites.monitoring,
            alternatives=self.gpu_nodes.policy({}).alternatives if self.cloud == "aws" else {},
        )


_EXAMPLES = {
    "models": "[stacks/models]",
    "kubeconfig": ".workbench/kubeconfig",
    "modelCache": "{claim: model-cache}",
    "pods": "{serviceAccountName: inference}",
    "simulatedNodes": "true",
    "customResources": "true",
    "region": "us-east-1",
    "network": "{zones: [us-east-1a, us-east-1b]}",
}
_LISTS = ("models", "modelBuckets")
_STRUCTURED = (
    *_LISTS,
    "modelCache",
    "pods",
    "tags",
    "network",
    "cluster",
    "gpuNodes",
    "prerequisites",
    "frontDoor",
    "hardening",
)


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
        settings = Settings.model_validate({**structured, "file": file})
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
        problems.append(_line(file, key, f"must be YAML {'list' if key in _LISTS else 'keys'}, found {value!r}"))
        return [] if key in _LISTS else {}


def _explain(detail: ErrorDetails, file: str) -> str:
    parts = [str(part) for part in detail["loc"]]
    path = ".".join(parts)
    if detail["type"] == "extra_forbidden":
        inner = [name for name in fields_below(parts[:-1]) if name != "file"]
        close = difflib.get_close_matches(parts[-1], inner, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(inner)}"
        return f"{file}: {PROJECT}:{path}: unknown key{hint}"
    if detail["type"] == "missing":
        return _line(file, path, "is required")
    reason = detail["msg"].removeprefix("Value error, ")
    if not path:
        key, _, said = reason.partition(": ")
        return _line(file, key, said)
    return _line(file, path, f"{reason[0].lower()}{reason[1:]}, found {detail['input']!r}")


def fields_below(parts: list[str]) -> list[str]:
    """Return the keys of the section that a path leads to; keys of a mapping are passed by."""
    section: type[Section] = Settings
    for part in parts:
        found = next((f for n, f in section.model_fields.items() if (f.alias or n) == part), None)
        inner = _section_in(found.annotation) if found else None
        section = inner or section
    return [f.alias or n for n, f in section.model_fields.items()]


def _section_in(annotation: object) -> type[Section] | None:
    """Return the section that a field holds, also in a mapping or beside None."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((s for s in map(_section_in, typing.get_args(annotation)) if s), None)


def _line(file: str, path: str, reason: str) -> str:
    key = path.partition(".")[0]
    example = _EXAMPLES.get(key)
    remedy = f"; write under config:\n    {PROJECT}:{key}: {example}" if example else ""
    return f"{file}: {PROJECT}:{path}: {reason}{remedy}"
