"""Kthena: ModelBooster (``workload.serving.volcano.sh``, Kthena spec 1.1)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.config import JsonDict

from ....contract import rules
from ....contract.base import ApiModel, Int32, Int64, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.schema.embedded import Conditions, EnvVars
from ..rules import model_booster
from .autoscaling import AutoscalingPolicySpec
from .networking import ModelMatch
from .values import (
    Affinity,
    AnyObject,
    CacheUri,
    Duration,
    EnvSources,
    Image,
    MostReplicas,
    Name,
    Percentage,
    Replicas,
    ResourceRequirements,
    SourceUri,
    Weight,
)

MAX_BACKENDS = 64
MAX_ADAPTERS = 64
MAX_NAME = 253
"""Far above any use: a ModelRoute takes 16 backends and 10 adapters. The API server allows rules over them only where
it can bound their cost."""
_BY_NAME: JsonDict = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


class LoraAdapter(ApiModel):
    """An adapter beside the model."""

    name: Annotated[Name, Field(max_length=MAX_NAME)]
    artifact_url: SourceUri = Field(alias="artifactURL")


class ModelWorker(ApiModel):
    """``replicas`` instances of one role, each of ``pods`` pods. Unset, both are 1 here (Kthena spec D-06)."""

    type: Literal["server", "prefill", "decode", "controller", "coordinator"] = "server"
    image: Image | None = None
    replicas: Replicas | None = None
    pods: Replicas | None = None
    resources: ResourceRequirements | None = None
    affinity: Affinity | None = None
    config: AnyObject | None = None


class ModelBackend(ApiModel):
    """One way to run the model: an engine, its workers and its replicas."""

    name: Name
    type: Literal["vLLM", "vLLMDisaggregated", "SGLang", "MindIE", "MindIEDisaggregated"]
    model_uri: SourceUri = Field(alias="modelURI")
    cache_uri: CacheUri | None = Field(default=None, alias="cacheURI")
    env_from: EnvSources | None = None
    env: EnvVars | None = None
    min_replicas: Replicas
    max_replicas: MostReplicas
    scaling_cost: NaturalInt32 = 0
    route_weight: Weight = 100
    scale_to_zero_grace_period: Duration | None = None
    workers: list[ModelWorker] = Field(min_length=1, max_length=1000)
    lora_adapters: list[LoraAdapter] | None = Field(default=None, max_length=MAX_ADAPTERS, json_schema_extra=_BY_NAME)
    autoscaling_policy: AutoscalingPolicySpec | None = None

    rules: ClassVar[tuple[Rule, ...]] = model_booster.BACKEND_CEL


class ModelBoosterSpec(ApiModel):
    """A model and the backends that run it."""

    name: Annotated[Name, Field(max_length=64)] | None = None
    owner: str | None = None
    backends: list[ModelBackend] = Field(min_length=1, max_length=MAX_BACKENDS, json_schema_extra=_BY_NAME)
    autoscaling_policy: AutoscalingPolicySpec | None = None
    cost_expansion_rate_percent: Percentage | None = None
    model_match: ModelMatch | None = None

    rules: ClassVar[tuple[Rule, ...]] = model_booster.SPEC_CEL


class ModelBackendStatus(ApiModel):
    """Replicas of one backend."""

    name: str
    replicas: Int32


class ModelStatus(ApiModel):
    """Observed state."""

    conditions: Conditions | None = None
    backend_statuses: list[ModelBackendStatus] | None = None
    observed_generation: Int64 | None = None


class ModelBooster(Resource):
    """A model, served by one or more backends."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelBooster"]
    spec: ModelBoosterSpec
    status: ModelStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *model_booster.WHOLE)
