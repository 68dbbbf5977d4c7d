"""The kinds of the toy: a pair of workloads, and a nudge that scales somebody else's."""

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


class NudgeSpec(ApiModel):
    """What to scale, and on what."""

    workload: str
    workload_kind: Literal["Deployment", "LeaderWorkerSet"] = "Deployment"
    metric: str = "vllm:num_requests_waiting"
    per_pod: Annotated[str, Field(min_length=1)] = "4"
    most: PositiveInt32


class Nudge(Resource):
    """An autoscaler for a workload of whatever family."""

    api_version: Literal["toy.example/v1"]
    kind: Literal["Nudge"]
    spec: NudgeSpec

    rules: ClassVar[tuple[Rule, ...]] = (OBJECT_NAME,)
