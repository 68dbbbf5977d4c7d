"""The kinds of the toy: a pair of workloads, a blend of engines, and a nudge that scales any workload."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.contract.base import ApiModel, PositiveInt32, Rule, ScaleReplicas
from components.contract.meta import Resource
from components.contract.rules import OBJECT_NAME


class PairSpec(ApiModel):
    """Two stages of one model, each with replicas of its own."""

    weights: str
    image: str = "vllm/vllm-openai:v0.20.0"
    machine: str
    gpus: PositiveInt32 = 1
    first: ScaleReplicas = 1
    second: ScaleReplicas = 1
    flags: list[str] = Field(default_factory=list)


class Pair(Resource):
    """Two Deployments, and an endpoint for each."""

    api_version: Literal["toy.example/v1"]
    kind: Literal["Pair"]
    spec: PairSpec

    rules: ClassVar[tuple[Rule, ...]] = (OBJECT_NAME,)


class Engine(ApiModel):
    """One engine of a blend."""

    image: str
    replicas: ScaleReplicas = 1
    flags: list[str] = Field(default_factory=list)


class BlendSpec(ApiModel):
    """One model on two engines, and replicas with a volume of their own."""

    weights: str
    instance_type: str
    gpus: PositiveInt32 = 1
    first: Engine
    second: Engine
    kept_replicas: ScaleReplicas = 0


class Blend(Resource):
    """Two Deployments behind one endpoint, and a StatefulSet behind another."""

    api_version: Literal["toy.example/v1"]
    kind: Literal["Blend"]
    spec: BlendSpec

    rules: ClassVar[tuple[Rule, ...]] = (OBJECT_NAME,)


class NudgeSpec(ApiModel):
    """What to scale, and on what."""

    workload: str
    workload_kind: Literal["Deployment", "LeaderWorkerSet", "StatefulSet"] = "Deployment"
    metric: str = "vllm:num_requests_waiting"
    per_pod: Annotated[str, Field(min_length=1)] = "4"
    most: PositiveInt32


class Nudge(Resource):
    """An autoscaler for a workload of whatever family."""

    api_version: Literal["toy.example/v1"]
    kind: Literal["Nudge"]
    spec: NudgeSpec

    rules: ClassVar[tuple[Rule, ...]] = (OBJECT_NAME,)
