"""Kthena: ModelBooster (``workload.serving.volcano.sh``, Kthena spec 1.1)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.config import JsonDict

from ....contract import rules
from ....contract.base import ApiModel, Int32, Int64, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.releases import Span
from ....contract.schema.embedded import Conditions, EnvVars
from ..rules import model_booster
from .autoscaling import AutoscalingPolicySpec
from .networking import ModelMatch
from .values import (
    ADAPTER_PATTERN,
    AdapterUri,
    Affinity,
    AnyObject,
    CacheUri,
    Duration,
    EnvSources,
    Image,
    MaxReplicas,
    Name,
    Percentage,
    Replicas,
    ResourceRequirements,
    SourceUri,
    Tolerations,
    Weight,
)

MAX_BACKENDS = 64
MAX_ADAPTERS = 64
MAX_NAME = 253
"""Far above any use: a ModelRoute takes 16 backends and 10 adapters. The API server only accepts CEL rules over them
if it can bound their cost."""
_BY_NAME: JsonDict = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


class LoraAdapter(ApiModel):
    """A LoRA adapter."""

    name: Annotated[Name, Field(max_length=MAX_NAME)]
    """Name that requests give as their model."""
    artifact_url: AdapterUri = Field(alias="artifactURL")
    """Source of the adapter: hf://REPOSITORY, s3://BUCKET/PATH or pvc://PATH."""


class ModelWorker(ApiModel):
    """``replicas`` instances of one role, each of ``pods`` pods. Both default to 1 (Kthena spec D-06)."""

    type: Literal["server", "prefill", "decode", "controller", "coordinator"] = "server"
    """server, prefill, decode, controller or coordinator."""
    image: Image | None = None
    """Image of the engine."""
    replicas: Replicas | None = None
    """Instances of the role in each replica of the backend. Default: 1."""
    pods: Replicas | None = None
    """Pods of each instance. Default: 1."""
    resources: ResourceRequirements | None = None
    """Resources of each pod (core/v1 ResourceRequirements, in wire form)."""
    affinity: Affinity | None = None
    """Affinity of the pods (core/v1 Affinity, in wire form); a required term on node.kubernetes.io/instance-type
    selects the EC2 instance type."""
    tolerations: Annotated[Tolerations | None, Span(since="v1.0.0")] = None
    """Tolerations of the pods (core/v1 Toleration, in wire form)."""
    config: AnyObject | None = None
    """Engine arguments, as a map; --max-model-len is max-model-len."""


class ModelBackend(ApiModel):
    """One way to run the model: an engine, its workers and its replicas."""

    name: Name
    """Name of the backend; renaming it replaces its pods."""
    type: Annotated[
        Literal["vLLM", "vLLMDisaggregated", "SGLang", "MindIE", "MindIEDisaggregated"],
        Span(until="v0.1.0"),
        Span(since="v0.2.0", enum=["vLLM", "vLLMDisaggregated"]),
    ]
    """vLLM, vLLMDisaggregated, SGLang, MindIE or MindIEDisaggregated."""
    model_uri: Annotated[SourceUri, Span(until="v0.3.0", pattern=ADAPTER_PATTERN), Span(since="v0.4.0")] = Field(
        alias="modelURI"
    )
    """Source of the weights: hf://REPOSITORY, ms://REPOSITORY, s3://BUCKET/PATH or pvc://PATH."""
    cache_uri: CacheUri | None = Field(default=None, alias="cacheURI")
    """Cache of the weights: hostpath://FOLDER or pvc://CLAIM. Default: a volume of each pod."""
    env_from: EnvSources | None = None
    """Sources of environment variables (core/v1 EnvFromSource, in wire form)."""
    env: EnvVars | None = None
    """Environment variables."""
    replicas: Annotated[Replicas | None, Span(since="v1.0.0", required=True)] = None
    """Replicas, unless an autoscaler sets them; in place of min_replicas and max_replicas."""
    min_replicas: Annotated[Replicas | None, Span(until="v0.4.0", required=True)] = None
    """Initial replicas, and the lower bound of the autoscaler."""
    max_replicas: Annotated[MaxReplicas | None, Span(until="v0.4.0", required=True)] = None
    """Upper bound of the autoscaler; must equal min_replicas without a policy."""
    scaling_cost: Annotated[NaturalInt32, Span(until="v0.1.0")] = 0
    """Cost of a replica, in any unit; only with a policy of the model."""
    route_weight: Annotated[Weight, Span(until="v0.1.0")] = 100
    """Share of the requests relative to the other backends, 0 to 100."""
    scale_to_zero_grace_period: Annotated[Duration | None, Span(until="v0.1.0")] = None
    """How long a backend without requests keeps its last replica, up to 30m; only with a policy of the model."""
    workers: list[ModelWorker] = Field(min_length=1, max_length=1000)
    """The roles: one server, or prefill and decode."""
    lora_adapters: Annotated[
        Annotated[list[LoraAdapter], Field(max_length=MAX_ADAPTERS, json_schema_extra=_BY_NAME)] | None,
        Span(until="v0.1.0"),
    ] = None
    """LoRA adapters."""
    autoscaling_policy: Annotated[AutoscalingPolicySpec | None, Span(until="v0.1.0")] = None
    """Policy that scales this backend."""
    scheduler_name: Annotated[str | None, Span(since="v0.1.0")] = None
    """Scheduler of the pods. Default: volcano for gangs, otherwise that of the environment."""
    runtime_class_name: Annotated[str | None, Span(since="v1.0.0")] = None
    """RuntimeClass of the pods."""

    @property
    def least(self) -> int:
        """The initial replicas, and the lower bound of an autoscaler."""
        return self.replicas if self.replicas is not None else self.min_replicas or 0

    @property
    def most(self) -> int:
        """The upper bound of an autoscaler."""
        return self.replicas if self.replicas is not None else self.max_replicas or 0

    rules: ClassVar[tuple[Rule, ...]] = model_booster.BACKEND_CEL


class ModelBoosterSpec(ApiModel):
    """A model and the backends that run it."""

    name: Annotated[Name, Field(max_length=64)] | None = None
    """Name of the model (spec.name); without effect."""
    owner: str | None = None
    """Owner of the model; without effect."""
    backend: Annotated[ModelBackend | None, Span(since="v0.2.0", required=True)] = None
    """The way to run the model; in place of backends."""
    backends: Annotated[
        Annotated[list[ModelBackend], Field(min_length=1, max_length=MAX_BACKENDS, json_schema_extra=_BY_NAME)]
        | None,
        Span(until="v0.1.0", required=True),
    ] = None
    """The ways to run the model, each with a name of its own."""
    autoscaling_policy: Annotated[AutoscalingPolicySpec | None, Span(until="v0.4.0")] = None
    """Policy that scales backend, or all backends together, the cheapest first."""
    cost_expansion_rate_percent: Annotated[Percentage | None, Span(until="v0.1.0")] = None
    """Growth rate, in percent, of the blocks of replicas that one backend gets before the next, 0 to 1000; only with
    autoscaling_policy. Default: 200."""
    model_match: ModelMatch | None = None
    """Conditions for requests for the model. Default: all are served."""

    @property
    def all_backends(self) -> list[ModelBackend]:
        """The backends, in either form."""
        return [self.backend] if self.backend else self.backends or []

    rules: ClassVar[tuple[Rule, ...]] = model_booster.SPEC_CEL


class ModelBackendStatus(ApiModel):
    """Replicas of one backend."""

    name: str
    replicas: Int32


class ModelStatus(ApiModel):
    """Observed state."""

    conditions: Conditions | None = None
    backend_statuses: Annotated[list[ModelBackendStatus] | None, Span(until="v0.1.0")] = None
    observed_generation: Int64 | None = None


class ModelBooster(Resource):
    """A model, served by one or more backends."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelBooster"]
    spec: ModelBoosterSpec
    status: ModelStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *model_booster.WHOLE)
