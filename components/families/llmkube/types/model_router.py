"""LLMKube: ModelRouter (``inference.llmkube.dev``), which forwards requests to services and cloud providers."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int64, NaturalInt32, PositiveInt32, Rule
from ....contract.meta import Resource
from ....contract.releases import Span
from ....contract.schema.embedded import PullSecrets
from .endpoint import EndpointSpec
from .status import ModelRouterStatus
from .values import Decimals, GatewayRef, LocalObjectReference, ResourceRequirements, ShortName, Text


class TokenCost(ApiModel):
    """Prices of a backend in USD per million tokens."""

    prompt_usd: Decimals | None = Field(default=None, alias="promptUSD")
    """Price of a million tokens of prompts."""
    completion_usd: Decimals | None = Field(default=None, alias="completionUSD")
    """Price of a million generated tokens."""


class ExternalProvider(ApiModel):
    """A model of a cloud provider."""

    provider: Literal["anthropic", "openai", "bedrock", "vertex_ai", "litellm"]
    """anthropic, openai, bedrock, vertex_ai or litellm."""
    model: str
    """The provider's name of the model."""
    url: str | None = None
    """Address of the provider. Default: the public one, if there is one."""
    credentials_secret_ref: LocalObjectReference | None = None
    """Secret with the provider's variables, such as OPENAI_API_KEY."""


class HealthCheck(ApiModel):
    """How often a backend is probed."""

    path: str | None = None
    """Path of the probe."""
    interval_seconds: PositiveInt32 = 10
    """Seconds between probes."""
    timeout_seconds: PositiveInt32 = 2
    """Seconds until a probe has failed."""


class RouterBackend(ApiModel):
    """A destination of requests: a service of the namespace, or a cloud provider."""

    name: ShortName
    """Name of the backend, unique in the router."""
    display_name: Annotated[str | None, Span(since="v0.8.17")] = None
    """Name in the list of models. Default: name."""
    inference_service_ref: LocalObjectReference | None = None
    """An InferenceService of the same namespace."""
    external: ExternalProvider | None = None
    """A cloud provider, instead of a service."""
    tier: Literal["local", "cloud"] = "local"
    """local or cloud."""
    capabilities: list[str] | None = None
    """What the backend can do, for rules that require it."""
    cost_per_million_tokens: TokenCost | None = None
    """Prices, for budgets in USD."""
    weight: NaturalInt32 | None = None
    """Share of the requests, for the strategy weighted."""
    timeout: str | None = None
    """How long to wait for a response, as a duration such as 90s."""
    health_check: HealthCheck | None = None
    """How the backend is probed."""


class RuleMatch(ApiModel):
    """The requests that a rule applies to; all conditions must hold."""

    models: list[str] | None = None
    """Requested model names."""
    headers: dict[str, str] | None = None
    """Headers and their values."""
    data_classification: list[str] | None = None
    """Classifications of the data, such as pii."""
    task_complexity: Literal["simple", "moderate", "complex"] | None = None
    """simple, moderate or complex."""
    required_capabilities: list[str] | None = None
    """What the backend must be able to do."""
    latency_slo_ms: PositiveInt32 | None = Field(default=None, alias="latencySLOMs")
    """Required latency in milliseconds."""


class RuleRoute(ApiModel):
    """The backends of a rule."""

    backends: Annotated[list[str], Field(min_length=1)]
    """Names of backends, in order of preference."""
    strategy: Literal["primary-fallback", "weighted", "shadow"] = "primary-fallback"
    """primary-fallback, weighted or shadow."""


class RouterRule(ApiModel):
    """Where matching requests go; the first rule that matches applies."""

    name: ShortName
    """Name of the rule."""
    match: RuleMatch | None = None
    """The requests that it applies to. Default: all."""
    route: RuleRoute
    """The backends that it forwards to."""
    fail_closed: bool | None = None
    """Whether requests fail if no backend of the rule is healthy."""
    timeout: str | None = None
    """How long to wait for a response, as a duration such as 90s."""


class ClassificationPolicy(ApiModel):
    """How the classification of a request is found."""

    mode: Literal["header-only", "detector", "hybrid"] = "header-only"
    """header-only, detector or hybrid."""
    header_key: str | None = None
    """Header with the classification."""
    sensitive_classifications: list[str] | None = None
    """Classifications that must not leave the cluster. Default: pii and phi."""


class BudgetSpec(ApiModel):
    """A limit of tokens or costs in a period."""

    name: ShortName
    """Name of the budget."""
    scope: Literal["router", "rule", "team"]
    """router, rule or team."""
    rule_name: str | None = None
    """The rule, for scope rule."""
    header_key: str | None = None
    """Header with the team, for scope team."""
    max_tokens: Annotated[Int64, Field(ge=1)] | None = None
    """Maximum number of tokens."""
    max_usd: Decimals | None = Field(default=None, alias="maxUSD")
    """Maximum costs in USD."""
    window_seconds: PositiveInt32 = 3600
    """Length of the period."""


class AuditLogPolicy(ApiModel):
    """Where requests are logged."""

    sink: Literal["stdout", "file", "otlp"] = "stdout"
    """stdout, file or otlp."""
    file_path: str | None = None
    """Path of the log, for sink file."""
    include_request_body: bool | None = None
    """Whether bodies are logged too."""


class JWTPolicy(ApiModel):
    """Tokens that clients authenticate with."""

    provider: Text
    """Name of the provider."""
    issuer: Text
    """Issuer of the tokens."""
    jwks_uri: Text = Field(alias="jwksURI")
    """Address of its keys."""
    team_claim: Text
    """Claim that names the team."""
    header_key: str | None = None
    """Header that receives the team."""


class TeamAllowlist(ApiModel):
    """The models that a team may use."""

    team: Text
    """Name of the team."""
    models: list[str] | None = None
    """Names of the models."""


class AuthPolicy(ApiModel):
    """Authentication and authorization, for data plane Gateway."""

    jwt: JWTPolicy | None = None
    """Tokens that clients authenticate with."""
    allowlists: list[TeamAllowlist] | None = None
    """The models that each team may use."""


class RouterPolicy(ApiModel):
    """Rules for all requests."""

    classification: ClassificationPolicy | None = None
    """How the classification of a request is found."""
    budgets: list[BudgetSpec] | None = None
    """Limits of tokens or costs."""
    audit_log: AuditLogPolicy | None = None
    """Where requests are logged."""
    auth: Annotated[AuthPolicy | None, Span(since="v0.8.8")] = None
    """Authentication and authorization, for data plane Gateway."""


class ProxySpec(ApiModel):
    """The pods of the router's proxy, for data plane Proxy."""

    image: str | None = None
    """Image of the proxy. Default: the operator's."""
    image_pull_secrets: PullSecrets | None = None
    """Secrets to pull the image with."""
    replicas: Annotated[PositiveInt32, Field(le=10)] | None = None
    """Replicas, 1 to 10."""
    resources: ResourceRequirements | None = None
    """Resources of a pod (core/v1 ResourceRequirements, in wire form)."""
    node_selector: Annotated[dict[str, str] | None, Span(since="v0.9.16")] = None
    """Labels of the nodes."""
    quarantine_duration: str | None = None
    """How long a backend that failed gets no requests, as a duration."""
    response_header_timeout: str | None = None
    """How long to wait for the headers of a response, as a duration."""
    revision_history_limit: Annotated[NaturalInt32 | None, Span(since="v0.8.14")] = None
    """Old ReplicaSets to keep."""


class MCPServer(ApiModel):
    """The MCP endpoint of the proxy."""

    enabled: bool | None = None
    """Whether it is served."""


class ModelRouterSpec(ApiModel):
    """Backends, and the rules by which requests reach them."""

    backends: Annotated[list[RouterBackend], Field(min_length=1)]
    """Destinations of requests."""
    rules_: list[RouterRule] | None = Field(default=None, alias="rules")
    """Where requests go; the first rule that matches applies."""
    default_route: str | None = None
    """Name of the backend for requests without a rule."""
    default_route_strategy: Annotated[Literal["Static", "BackendNameMatch"], Span(since="v0.8.14")] = "Static"
    """Static, or BackendNameMatch for the backend that is named like the requested model."""
    policy: RouterPolicy | None = None
    """Rules for all requests."""
    proxy: ProxySpec | None = None
    """The pods of the proxy."""
    endpoint: EndpointSpec | None = None
    """The Service in front of the proxy."""
    mcp_server: MCPServer | None = None
    """The MCP endpoint of the proxy."""
    data_plane: Annotated[Literal["Proxy", "Gateway"], Span(since="v0.8.8")] = "Proxy"
    """Proxy, or Gateway for routes of Envoy AI Gateway instead of a proxy."""
    gateway_ref: Annotated[GatewayRef | None, Span(since="v0.8.8")] = None
    """The Gateway, for data plane Gateway."""


class ModelRouter(Resource):
    """Rules by which requests reach services and cloud providers."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["ModelRouter"]
    spec: ModelRouterSpec
    status: ModelRouterStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
