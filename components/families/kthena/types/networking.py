"""Kthena: ModelServer and ModelRoute (``networking.serving.volcano.sh``, Kthena spec 5)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, PositiveInt32, Rule
from ....contract.meta import Resource
from ....contract.releases import Span
from ..rules import routes
from .values import Duration, GroupName, KindName, NamespaceName, SectionName, Weight

MAX_RULES = MAX_TARGETS = 16
"""Rules of a route, and targets of a rule."""
MAX_ADAPTERS = 10
MAX_MODEL = 256
"""Maximum length of a model name for engines."""
MAX_PORT = 65535


class StringMatch(ApiModel):
    """A condition for a string: the first field that is set counts; without any, every string matches."""

    exact: str | None = None
    """The string itself."""
    prefix: str | None = None
    """Prefix of the string."""
    regex: str | None = None
    """Regular expression that the string matches."""

    rules: ClassVar[tuple[Rule, ...]] = routes.MATCH_CEL


class BodyMatch(ApiModel):
    """Conditions for the body of a request."""

    model: str | None = None
    """The model that the request names."""


class ModelMatch(ApiModel):
    """Conditions for requests; all of them must hold."""

    headers: dict[str, StringMatch] | None = None
    """Conditions for headers, by name."""
    uri: StringMatch | None = None
    """Condition for the path."""
    body: BodyMatch | None = None
    """Conditions for the body."""


class TargetModel(ApiModel):
    """A ModelServer, and its share of the requests."""

    model_server_name: str
    """Name of the ModelServer."""
    weight: Weight = 100
    """Its share relative to the other targets, 0 to 100."""


class RouteRule(ApiModel):
    """A rule that sends matching requests to its targets."""

    name: str | None = None
    """Name of the rule."""
    model_match: ModelMatch | None = None
    """Requests that the rule matches. Default: all."""
    target_models: Annotated[list[TargetModel], Span(until="v0.3.0"), Span(since="v0.4.0", minItems=1)] = Field(
        max_length=MAX_TARGETS
    )
    """Targets of the requests, at most 16."""


class RedisConfig(ApiModel):
    """The Redis server with the counts that routers share."""

    address: str
    """Address of the server, host:port."""


class GlobalRateLimit(ApiModel):
    """Counts that all routers share."""

    redis: RedisConfig | None = None
    """The Redis server that stores them."""


class RouteRateLimit(ApiModel):
    """Limits of tokens per unit of time."""

    input_tokens_per_unit: PositiveInt32 | None = None
    """Tokens of prompts, at least 1. Default: no limit."""
    output_tokens_per_unit: PositiveInt32 | None = None
    """Tokens of answers, at least 1. Default: no limit."""
    unit: Literal["second", "minute", "hour", "day", "month"] = "second"
    """second, minute, hour, day or month."""
    global_: GlobalRateLimit | None = Field(default=None, alias="global")
    """Counts that all routers share. Default: each router counts on its own."""


class ParentReference(ApiModel):
    """A Gateway that a route is attached to (Gateway API)."""

    group: GroupName = "gateway.networking.k8s.io"
    """API group of the Gateway."""
    kind: KindName = "Gateway"
    """Kind of the Gateway."""
    namespace: NamespaceName | None = None
    """Namespace of the Gateway. Default: that of the route."""
    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name of the Gateway."""
    section_name: SectionName | None = None
    """Name of a listener of the Gateway. Default: all of them."""
    port: Annotated[PositiveInt32, Field(le=MAX_PORT)] | None = None
    """Port of the listeners. Default: all of them."""


class ModelRouteSpec(ApiModel):
    """Routes from a model name to ModelServers."""

    model_name: str | None = None
    """Name that requests give as their model; cannot be changed later."""
    lora_adapters: Annotated[list[str], Field(max_length=MAX_ADAPTERS)] | None = None
    """Names of adapters that requests can give as their model, at most 10."""
    rules_: list[RouteRule] = Field(max_length=MAX_RULES, alias="rules")
    """Rules, at most 16; the first one that matches counts."""
    rate_limit: RouteRateLimit | None = None
    """Limits of tokens per unit of time."""
    parent_refs: Annotated[list[ParentReference] | None, Span(since="v0.2.0")] = None
    """Gateways of Kthena's router that have the route. Default: its own port."""

    rules: ClassVar[tuple[Rule, ...]] = routes.SPEC_CEL


class ModelRouteStatus(ApiModel):
    """Upstream's status has no fields."""


class ModelRoute(Resource):
    """Routes requests for a model to ModelServers."""

    api_version: Literal["networking.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelRoute"]
    spec: ModelRouteSpec
    status: ModelRouteStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *routes.WHOLE)


class PDGroup(ApiModel):
    """The pods for prefill and for decode; those with the same value of the key are paired."""

    group_key: str
    """Label whose value pairs the pods."""
    prefill_labels: dict[str, str]
    """Labels of the prefill pods."""
    decode_labels: dict[str, str]
    """Labels of the decode pods."""


class WorkloadSelector(ApiModel):
    """The pods that serve."""

    match_labels: dict[str, str] | None = None
    """Labels of the pods."""
    pd_group: PDGroup | None = None
    """The prefill and the decode pods among them."""


class WorkloadPort(ApiModel):
    """The port of the pods."""

    port: Annotated[PositiveInt32, Field(le=MAX_PORT)]
    """Port of the engine."""
    protocol: Literal["http", "https"] = "http"
    """http or https."""


class Retry(ApiModel):
    """Retries of a request."""

    attempts: Int32 | None = None
    """Number of retries."""
    retry_interval: Duration = "100ms"
    """Time between retries."""

    rules: ClassVar[tuple[Rule, ...]] = (routes.fits_int64("retryInterval"),)


class TrafficPolicy(ApiModel):
    """Timeout and retries of requests."""

    timeout: Duration | None = None
    """Timeout of the whole request."""
    retry: Retry | None = None
    """Retries of a request."""

    rules: ClassVar[tuple[Rule, ...]] = (routes.fits_int64("timeout"),)


class KVConnector(ApiModel):
    """How the KV cache is transferred from prefill to decode."""

    type: Literal["http", "lmcache", "nixl", "mooncake"] = "http"
    """http, lmcache, nixl or mooncake."""


class ModelServerSpec(ApiModel):
    """Pods that serve a model, and how to send them requests."""

    model: Annotated[str, Field(max_length=MAX_MODEL)] | None = None
    """Model name of the engine. Default: that of the request."""
    inference_engine: Literal["vLLM", "SGLang"]
    """vLLM or SGLang."""
    workload_selector: WorkloadSelector
    """The pods that serve."""
    workload_port: WorkloadPort | None = None
    """Port of the pods."""
    traffic_policy: TrafficPolicy | None = None
    """Timeout and retries of requests."""
    kv_connector: KVConnector | None = None
    """How the KV cache is transferred from prefill to decode."""


class ModelServerStatus(ApiModel):
    """Upstream's status has no fields."""


class ModelServer(Resource):
    """Pods that serve a model, for the router."""

    api_version: Literal["networking.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelServer"]
    spec: ModelServerSpec
    status: ModelServerStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
