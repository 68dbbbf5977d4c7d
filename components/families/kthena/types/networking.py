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
    """The text itself."""
    prefix: str | None = None
    """What it begins with."""
    regex: str | None = None
    """What it matches."""

    rules: ClassVar[tuple[Rule, ...]] = routes.MATCH_CEL


class BodyMatch(ApiModel):
    """What the body of a request must have."""

    model: str | None = None
    """Its model."""


class ModelMatch(ApiModel):
    """Which requests: all that is said must hold."""

    headers: dict[str, StringMatch] | None = None
    """Headers, by name."""
    uri: StringMatch | None = None
    """The path."""
    body: BodyMatch | None = None
    """The body."""


class TargetModel(ApiModel):
    """A ModelServer, and its share of the requests."""

    model_server_name: str
    """Name of the ModelServer."""
    weight: Weight = 100
    """Its share relative to the other targets, 0 to 100."""


class RouteRule(ApiModel):
    """Requests that match go to the targets."""

    name: str | None = None
    """Name of the rule."""
    model_match: ModelMatch | None = None
    """Which requests. Default: all."""
    target_models: list[TargetModel] = Field(max_length=MAX_TARGETS)
    """Where they go, at most 16."""


class RedisConfig(ApiModel):
    """Where counts are shared."""

    address: str
    """Its address, host:port."""


class GlobalRateLimit(ApiModel):
    """Counts that all routers share."""

    redis: RedisConfig | None = None
    """Where they are kept."""


class RouteRateLimit(ApiModel):
    """Tokens per unit of time."""

    input_tokens_per_unit: PositiveInt32 | None = None
    """Tokens of prompts, at least 1. Default: no limit."""
    output_tokens_per_unit: PositiveInt32 | None = None
    """Tokens of answers, at least 1. Default: no limit."""
    unit: Literal["second", "minute", "hour", "day", "month"] = "second"
    """second, minute, hour, day or month."""
    global_: GlobalRateLimit | None = Field(default=None, alias="global")
    """Counts that all routers share. Default: each router counts on its own."""


class ModelRouteSpec(ApiModel):
    """From the name of a model to ModelServers; the first rule that matches counts."""

    model_name: str | None = None
    """Name that requests give as their model; cannot be changed later."""
    lora_adapters: Annotated[list[str], Field(max_length=MAX_ADAPTERS)] | None = None
    """Names of adapters that requests may give as well, at most 10."""
    rules_: list[RouteRule] = Field(max_length=MAX_RULES, alias="rules")
    """Which requests go where; the first rule that matches counts. At most 16."""
    rate_limit: RouteRateLimit | None = None
    """How many tokens may pass."""

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
    """Label whose value pairs the pods."""
    prefill_labels: dict[str, str]
    """Labels of the pods that prefill."""
    decode_labels: dict[str, str]
    """Labels of the pods that decode."""


class WorkloadSelector(ApiModel):
    """The pods that serve."""

    match_labels: dict[str, str] | None = None
    """Labels of the pods."""
    pd_group: PDGroup | None = None
    """Which of them prefill and which decode."""


class WorkloadPort(ApiModel):
    """Where they listen."""

    port: Annotated[PositiveInt32, Field(le=MAX_PORT)]
    """Port of the engine."""
    protocol: Literal["http", "https"] = "http"
    """http or https."""


class Retry(ApiModel):
    """How often a request is tried again."""

    attempts: Int32 | None = None
    """Attempts after the first."""
    retry_interval: Duration = "100ms"
    """Time between them."""

    rules: ClassVar[tuple[Rule, ...]] = (routes.held("retryInterval"),)


class TrafficPolicy(ApiModel):
    """How requests are sent."""

    timeout: Duration | None = None
    """Time for the whole request."""
    retry: Retry | None = None
    """How often it is tried again."""

    rules: ClassVar[tuple[Rule, ...]] = (routes.held("timeout"),)


class KVConnector(ApiModel):
    """How the cache gets from prefill to decode."""

    type: Literal["http", "lmcache", "nixl", "mooncake"] = "http"
    """http, lmcache, nixl or mooncake."""


class ModelServerSpec(ApiModel):
    """Pods that serve a model, and how to ask them."""

    model: Annotated[str, Field(max_length=MAX_MODEL)] | None = None
    """Name by which the engine knows the model. Default: that of the request."""
    inference_engine: Literal["vLLM", "SGLang"]
    """vLLM or SGLang."""
    workload_selector: WorkloadSelector
    """The pods that serve."""
    workload_port: WorkloadPort | None = None
    """Where the pods listen."""
    traffic_policy: TrafficPolicy | None = None
    """How requests are sent."""
    kv_connector: KVConnector | None = None
    """How the KV cache gets from prefill to decode."""


class ModelServerStatus(ApiModel):
    """Nothing is observed."""


class ModelServer(Resource):
    """Pods that serve a model, for the router."""

    api_version: Literal["networking.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelServer"]
    spec: ModelServerSpec
    status: ModelServerStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
