"""Kthena: ModelServer and ModelRoute (``networking.serving.volcano.sh``, Kthena spec 5)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, PositiveInt32, Rule
from ....contract.meta import Resource
from ..rules import routes
from .values import Duration, Weight

MAX_RULES = MAX_TARGETS = 16
"""Rules of a route, and targets of a rule."""
MAX_ADAPTERS = 10
MAX_MODEL = 256
"""Characters of what engines are asked for."""
MAX_PORT = 65535


class StringMatch(ApiModel):
    """How a text must be: the first of the fields that is set counts; without any it may be anything."""

    exact: str | None = None
    prefix: str | None = None
    regex: str | None = None

    rules: ClassVar[tuple[Rule, ...]] = routes.MATCH_CEL


class BodyMatch(ApiModel):
    """What the body of a request must have."""

    model: str | None = None


class ModelMatch(ApiModel):
    """Which requests: all that is said must hold."""

    headers: dict[str, StringMatch] | None = None
    uri: StringMatch | None = None
    body: BodyMatch | None = None


class TargetModel(ApiModel):
    """A ModelServer, and its share of the requests."""

    model_server_name: str
    weight: Weight = 100


class RouteRule(ApiModel):
    """Requests that match go to the targets."""

    name: str | None = None
    model_match: ModelMatch | None = None
    target_models: list[TargetModel] = Field(max_length=MAX_TARGETS)


class RedisConfig(ApiModel):
    """Where counts are shared."""

    address: str


class GlobalRateLimit(ApiModel):
    """Counts that all routers share."""

    redis: RedisConfig | None = None


class RouteRateLimit(ApiModel):
    """Tokens per unit of time."""

    input_tokens_per_unit: PositiveInt32 | None = None
    output_tokens_per_unit: PositiveInt32 | None = None
    unit: Literal["second", "minute", "hour", "day", "month"] = "second"
    global_: GlobalRateLimit | None = Field(default=None, alias="global")


class ModelRouteSpec(ApiModel):
    """From the name of a model to ModelServers; the first rule that matches counts."""

    model_name: str | None = None
    lora_adapters: Annotated[list[str], Field(max_length=MAX_ADAPTERS)] | None = None
    rules_: list[RouteRule] = Field(max_length=MAX_RULES, alias="rules")
    rate_limit: RouteRateLimit | None = None

    rules: ClassVar[tuple[Rule, ...]] = routes.SPEC_CEL


class ModelRouteStatus(ApiModel):
    """Nothing is observed."""


class ModelRoute(Resource):
    """Routes requests for a model to ModelServers."""

    api_version: Literal["networking.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelRoute"]
    spec: ModelRouteSpec
    status: ModelRouteStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *routes.WHOLE)


class PDGroup(ApiModel):
    """Which pods prefill and which decode; those with the same value of the key are paired."""

    group_key: str
    prefill_labels: dict[str, str]
    decode_labels: dict[str, str]


class WorkloadSelector(ApiModel):
    """The pods that serve."""

    match_labels: dict[str, str] | None = None
    pd_group: PDGroup | None = None


class WorkloadPort(ApiModel):
    """Where they listen."""

    port: Annotated[PositiveInt32, Field(le=MAX_PORT)]
    protocol: Literal["http", "https"] = "http"


class Retry(ApiModel):
    """How often a request is tried again."""

    attempts: Int32 | None = None
    retry_interval: Duration = "100ms"

    rules: ClassVar[tuple[Rule, ...]] = (routes.held("retryInterval"),)


class TrafficPolicy(ApiModel):
    """How requests are sent."""

    timeout: Duration | None = None
    retry: Retry | None = None

    rules: ClassVar[tuple[Rule, ...]] = (routes.held("timeout"),)


class KVConnector(ApiModel):
    """How the cache gets from prefill to decode."""

    type: Literal["http", "lmcache", "nixl", "mooncake"] = "http"


class ModelServerSpec(ApiModel):
    """Pods that serve a model, and how to ask them."""

    model: Annotated[str, Field(max_length=MAX_MODEL)] | None = None
    inference_engine: Literal["vLLM", "SGLang"]
    workload_selector: WorkloadSelector
    workload_port: WorkloadPort | None = None
    traffic_policy: TrafficPolicy | None = None
    kv_connector: KVConnector | None = None


class ModelServerStatus(ApiModel):
    """Nothing is observed."""


class ModelServer(Resource):
    """Pods that serve a model, for the router."""

    api_version: Literal["networking.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelServer"]
    spec: ModelServerSpec
    status: ModelServerStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
