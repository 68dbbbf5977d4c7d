"""What the live fleet knows of a stack: written by ``up`` from the plan, read by every part.

Times are seconds and sizes bytes, unless a name says otherwise. All times are simulated ones: a speed above 1 makes
them pass faster.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Object = dict[str, Any]
TIMES_HEADER = "x-simulated-times"
"""A client that sends it gets the engine's own times at the end of a stream, in a comment that others do not read."""


class Speaks(StrEnum):
    """The API of an engine."""

    OPENAI = "openai"
    OLLAMA = "ollama"
    TGI = "tgi"
    LLAMACPP = "llamacpp"
    TEI = "tei"


class PaceSource(StrEnum):
    """Where a pace is from; shown wherever a figure is."""

    PROFILE = "profile"
    """Measured, and written down by the team (llm-d's alpha and beta)."""
    ESTIMATE = "estimate"
    """Computed from the weights and the memory bandwidth of the accelerator."""
    ASSUMED = "assumed"
    """Neither is known: a plain number, so that the model answers at all."""


@dataclass(frozen=True, slots=True)
class TokenPace:
    """How fast one replica is on one instance type.

    A decode step with n requests takes ``alpha + beta * n`` (WVA spec 8.2), and what reading the cache and experts
    takes beside: ``cached * tokens``, for all tokens that these requests have in the cache, and ``experts`` times the
    part of the experts that the tokens of a step go through, if each goes through random ones. A prompt takes
    ``prefill`` seconds for each of its tokens before its first token, and ``attention`` for each token before one.

    Attributes:
        cached: Seconds that each token in the cache adds to a step; 0 where ``beta`` has the cache of usual requests.
        attention: Seconds that a token of a prompt takes for each token before it.
        experts: Seconds that reading all experts of a model takes; 0 without any, or where ``alpha`` has them.
        untouched: The part of the experts that one token does not go through.
        batch: Requests in one step, at most.
        cache_tokens: Tokens of all requests of a step, prompts and answers together; None without a bound.
        chunk: Prompt tokens that are computed in one step, at most.
    """

    alpha: float
    beta: float
    prefill: float
    batch: int
    cache_tokens: int | None = None
    chunk: int = 2048
    source: PaceSource = PaceSource.ASSUMED
    cached: float = 0.0
    attention: float = 0.0
    experts: float = 0.0
    untouched: float = 1.0

    def step(self, requests: int, cached: float = 0.0, prompts: int = 0) -> float:
        """Return the seconds of a step, without what computing prompts takes.

        Args:
            requests: In the batch.
            cached: Tokens that those of them who answer have in the cache.
            prompts: Tokens of prompts that are computed in it; they go through experts, too.
        """
        experts = self.experts * (1 - self.untouched ** (requests + prompts)) if self.experts else 0.0
        return self.alpha + self.beta * requests + self.cached * cached + experts

    def prompt(self, tokens: int, before: int = 0) -> float:
        """Return the seconds that computing tokens of a prompt takes, of which so many are computed already.

        None at all without ``prefill``, whatever ``attention`` is.
        """
        if not self.prefill:
            return 0.0
        return self.prefill * tokens + self.attention * tokens * (before + (tokens + 1) / 2)


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds from a pod that is bound to a node until its engine answers, and until a new node is there."""

    pod: float
    node: float


@dataclass(frozen=True, slots=True)
class ServedWorkload:
    """Equal pods that take requests.

    Attributes:
        kind: The kind of the object that makes its pods, such as ``Deployment``.
        title: The resource, as the outputs name it (key of ``models`` and ``endpoints``).
        selector: Labels of the pods that take requests.
        group: Labels of all pods of its replicas, where a replica is a leader and its workers; empty where it is one
            pod.
        container: Name of the container that serves.
        engine: Name of the engine, as in ``components/engines``; empty if it is not known.
        version: Version of the engine as its image says it; empty if that says none.
        port: Port of the container that takes requests.
        models: Every name that the engine answers to, the model's own first; LoRA adapters after it.
        adapters: Which of them are LoRA adapters.
        loaded: What the engine was told to load, as its ``/v1/models`` and ``/info`` name it.
        role: ``prefill``, ``decode`` or ``router`` of a resource with several workloads; else empty.
        paces: By instance type that its pods may run on; under the empty name, elsewhere.
        queue: Requests that may wait before more are refused; None without a bound.
        in_flight: Requests that may wait or be computed before more are refused; None without a bound.
        context: Tokens of a request with its answer; None if it is not known.
        embeds: Whether it makes embeddings instead of text.
        dimensions: Of an embedding; None if it is not known.
        images: Whether it reads images; None if unknown.
        exports: Whether its metrics are enabled.
        metrics_refusal: Answer to ``/metrics`` if they are disabled; empty if it answers 404.
        image_refusal: Error for images that its model does not read; empty if it accepts them.
        tool_refusal: What it says to a request that leaves the call of a tool to the model; empty where it takes
            such requests.
        inputs: Texts of one request for embeddings, at most; None without a bound.
        truncates: Whether it truncates inputs that exceed its context, instead of rejecting them.
    """

    namespace: str
    kind: str
    name: str
    title: str
    selector: Mapping[str, str]
    container: str
    engine: str
    version: str
    speaks: Speaks
    port: int
    models: tuple[str, ...]
    loaded: str
    paces: Mapping[str, TokenPace]
    startup: Startup
    role: str = ""
    queue: int | None = None
    in_flight: int | None = None
    context: int | None = None
    embeds: bool = False
    dimensions: int | None = None
    images: bool | None = None
    exports: bool = True
    metrics_refusal: str = ""
    image_refusal: str = ""
    tool_refusal: str = ""
    inputs: int | None = None
    truncates: bool = False
    adapters: tuple[str, ...] = ()
    group: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return what names it in other places: ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def played(self) -> str:
        """Name of its server in the live fleet: that of its engine or of its API."""
        return self.engine or ("" if self.speaks == Speaks.OPENAI else self.speaks.value)

    def pace_on(self, instance_type: str) -> TokenPace:
        """Return how fast a pod is on a node of a type."""
        return self.paces.get(instance_type) or self.paces[""]


@dataclass(frozen=True, slots=True)
class ServedEndpoint:
    """Where a model answers, as the outputs name it.

    Attributes:
        title: Key in the outputs.
        url: Address in the cluster, as the outputs have it.
        workloads: Namespace and name of the workloads behind it that answer. Of several, by weight. A router, and a
            pair of prefill and decode, are played by the workloads that decode. Empty where nothing of the stack
            answers there (``why``).
        why: Why nothing answers; empty where something does.
        stand_in: What is played by something else, such as a router; empty where nothing is.
        outside: Whether the address is that of the gateway.
    """

    title: str
    model: str
    api: str
    url: str
    workloads: Mapping[str, float]
    """Weight by ``namespace/name``."""
    outside: bool = False
    why: str = ""
    stand_in: str = ""


@dataclass(frozen=True, slots=True)
class ServedGroup:
    """A group of simulated nodes, which are called ``<name>-<index>``.

    Attributes:
        least: Nodes that are always there.
        most: Nodes that it may grow to.
        usd_per_hour: What a node would cost on demand in us-east-1; None without a price.
    """

    name: str
    instance_type: str
    labels: Mapping[str, str]
    least: int
    most: int
    usd_per_hour: float | None = None


@dataclass(frozen=True, slots=True)
class LiveFleet:
    """Everything of a stack that the live fleet plays.

    Attributes:
        autoscalers: Namespace and name of each HorizontalPodAutoscaler that reads a serving metric, by the workload
            (``namespace/name``) that it scales.
        monitors: The rendered PodMonitors.
        rules: The ``rules`` of prometheus-adapter's chart values: ``custom`` and ``external``.
        door: The rendered objects of the front door; empty without a gateway.
        at_rest: Sentences about autoscalers that do nothing here.
    """

    stack: str
    workloads: tuple[ServedWorkload, ...] = ()
    endpoints: tuple[ServedEndpoint, ...] = ()
    groups: tuple[ServedGroup, ...] = ()
    autoscalers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    monitors: tuple[Object, ...] = ()
    rules: Object = field(default_factory=dict)
    door: tuple[Object, ...] = ()
    at_rest: tuple[str, ...] = ()
