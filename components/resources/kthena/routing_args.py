"""Parts of ModelRoute, ModelServer and a ModelBooster as arguments: which requests go where."""

from typing import Required, TypedDict


class StringMatchArgs(TypedDict, total=False):
    """How a text must be: the first of the keys that is set counts."""

    exact: str
    """The text itself."""
    prefix: str
    """What it begins with."""
    regex: str
    """What it matches."""


class BodyMatchArgs(TypedDict, total=False):
    """What the body of a request must have."""

    model: str
    """Its model."""


class ModelMatchArgs(TypedDict, total=False):
    """Which requests: all that is said must hold."""

    headers: dict[str, StringMatchArgs]
    """Headers, by name."""
    uri: StringMatchArgs
    """The path."""
    body: BodyMatchArgs
    """The body."""


class TargetModelArgs(TypedDict, total=False):
    """A ModelServer, and its share of the requests."""

    model_server_name: Required[str]
    """Name of the ModelServer."""
    weight: int
    """Its share relative to the other targets, 0 to 100. Default: 100."""


class RouteRuleArgs(TypedDict, total=False):
    """Requests that match go to the targets."""

    name: str
    """Name of the rule."""
    model_match: ModelMatchArgs
    """Which requests. Default: all."""
    target_models: Required[list[TargetModelArgs]]
    """Where they go, at most 16."""


class RedisConfigArgs(TypedDict, total=False):
    """A Redis server."""

    address: Required[str]
    """Its address, host:port."""


class GlobalRateLimitArgs(TypedDict, total=False):
    """Counts that all routers share."""

    redis: RedisConfigArgs
    """Where they are kept."""


class RouteRateLimitArgs(TypedDict, total=False):
    """Tokens per unit of time."""

    input_tokens_per_unit: int
    """Tokens of prompts, at least 1. Default: no limit."""
    output_tokens_per_unit: int
    """Tokens of answers, at least 1. Default: no limit."""
    unit: str
    """second, minute, hour, day or month. Default: second."""
    global_: GlobalRateLimitArgs
    """Counts that all routers share. Default: each router counts on its own."""


class PDGroupArgs(TypedDict, total=False):
    """Which pods prefill and which decode; those with the same value of the key are paired."""

    group_key: Required[str]
    """Label whose value pairs the pods."""
    prefill_labels: Required[dict[str, str]]
    """Labels of the pods that prefill."""
    decode_labels: Required[dict[str, str]]
    """Labels of the pods that decode."""


class WorkloadSelectorArgs(TypedDict, total=False):
    """The pods that serve."""

    match_labels: dict[str, str]
    """Labels of the pods."""
    pd_group: PDGroupArgs
    """Which of them prefill and which decode."""


class WorkloadPortArgs(TypedDict, total=False):
    """Where the pods listen."""

    port: Required[int]
    """Port of the engine."""
    protocol: str
    """http or https. Default: http."""


class RetryArgs(TypedDict, total=False):
    """How often a request is tried again."""

    attempts: int
    """Attempts after the first."""
    retry_interval: str
    """Time between them. Default: 100ms."""


class TrafficPolicyArgs(TypedDict, total=False):
    """How requests are sent."""

    timeout: str
    """Time for the whole request."""
    retry: RetryArgs
    """How often it is tried again."""


class KVConnectorArgs(TypedDict, total=False):
    """How the KV cache gets from prefill to decode."""

    type: str
    """http, lmcache, nixl or mooncake. Default: http."""
