"""The simulated fleet of a stack as plain data: written by ``up`` from the plan, read by every process.

Times are simulated seconds and sizes bytes, unless a name says otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Object = dict[str, Any]
TIMES_HEADER = "x-simulated-times"
"""Request header: the stream then ends with a comment that has the engine's own times. Other clients skip it."""


class Speaks(StrEnum):
    """The API of an engine."""

    OPENAI = "openai"
    OLLAMA = "ollama"
    TGI = "tgi"
    LLAMACPP = "llamacpp"
    TEI = "tei"


class PaceSource(StrEnum):
    """Source of a pace, which is displayed with every figure."""

    PROFILE = "profile"
    """Measured by the team (llm-d's alpha and beta)."""
    ESTIMATE = "estimate"
    """Computed from the weights and the memory bandwidth of the accelerator."""
    ASSUMED = "assumed"
    """A constant, if neither a profile nor the model and its node are known."""


@dataclass(frozen=True, slots=True)
class TokenPace:
    """How fast one replica is on one instance type.

    A decode step with n requests takes ``alpha + beta * n`` (WVA spec 8.2), plus the time to read the KV cache and
    the experts: ``cached`` for each token that these requests have in the cache, and ``experts`` times the share of
    the experts that the step activates, assuming that each token is routed to random ones. Before its first token, a
    prompt takes ``prefill`` for each of its tokens, and ``attention`` for each pair of tokens.

    Attributes:
        cached: Seconds that each cached token adds to a step; 0 if ``beta`` includes the cache of typical requests.
        attention: Seconds of a prompt token for each token before it.
        experts: Seconds to read all experts; 0 for dense models, or if ``alpha`` includes them.
        untouched: Share of the experts that one token does not activate.
        eager: Seconds that a step takes longer if it computes prompts: its kernels are not launched from a graph.
        latency: Seconds before a request is in the queue: HTTP, and passing it between processes.
        tokenizing: Seconds that each prompt token adds to ``latency``.
        batch: Maximum number of requests in a step.
        cache_tokens: Maximum tokens in the KV cache, prompts and answers; None for no limit.
        chunk: Maximum prompt tokens computed in a step.
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
    eager: float = 0.0
    latency: float = 0.0
    tokenizing: float = 0.0

    def before_queue(self, prompt: int) -> float:
        """Return the seconds between the arrival of a request and its place in the queue."""
        return self.latency + self.tokenizing * prompt

    def step(self, requests: int, cached: float = 0.0, prompts: int = 0) -> float:
        """Return the seconds of a step, without the time to compute prompts.

        Args:
            requests: Requests in the batch.
            cached: Cached tokens of the requests that generate.
            prompts: Prompt tokens computed in the step; they activate experts, too.
        """
        experts = self.experts * (1 - self.untouched ** (requests + prompts)) if self.experts else 0.0
        eager = self.eager if prompts else 0.0
        return self.alpha + self.beta * requests + self.cached * cached + experts + eager

    def prompt(self, tokens: int, before: int = 0) -> float:
        """Return the seconds to compute prompt tokens, after ``before`` tokens of the same prompt.

        0 without ``prefill``, whatever ``attention`` is.
        """
        if not self.prefill:
            return 0.0
        return self.prefill * tokens + self.attention * tokens * (before + (tokens + 1) / 2)


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds from binding a pod until its engine answers, and from requesting a node until it is Ready."""

    pod: float
    node: float


@dataclass(frozen=True, slots=True)
class ServedWorkload:
    """A workload: identical pods that serve a model.

    Attributes:
        kind: Kind of the object that creates its pods, such as ``Deployment``.
        title: Name of the resource in the outputs (key of ``models`` and ``endpoints``).
        selector: Labels of the pods that take requests.
        group: Labels of all pods of its replicas, if a replica is a leader with workers; empty for single pods.
        container: Name of the serving container.
        engine: Name of the engine, as in ``components/engines``; empty if unknown.
        version: Version of the engine according to its image tag; empty if unknown.
        port: Serving port of the container.
        models: Every name that the engine accepts: the model first, then LoRA adapters.
        adapters: Names of the LoRA adapters.
        loaded: Model path or repository on the command line, which ``/v1/models`` and ``/info`` show.
        role: ``prefill``, ``decode`` or ``router`` of a resource with several workloads; else empty.
        paces: By instance type that its pods may run on; the empty key is for any other.
        queue: Maximum queued requests; None for no limit.
        in_flight: Maximum queued and running requests together; None for no limit.
        context: Maximum tokens of a request with its answer; None if unknown.
        embeds: Whether it serves embeddings instead of text.
        dimensions: Length of an embedding; None if unknown.
        images: Whether it accepts images; None if unknown.
        exports: Whether its metrics are enabled.
        metrics_refusal: Answer to ``/metrics`` if they are disabled; empty if it answers 404.
        image_refusal: Error for images that its model does not read; empty if it accepts them.
        tool_refusal: Error for requests with ``tool_choice: auto``; empty if it accepts them.
        inputs: Maximum texts in one embeddings request; None for no limit.
        truncates: Whether it truncates inputs that exceed its context, instead of rejecting them.
        finishing: Seconds that the requests of a terminating pod have, until they are aborted; None for its whole
            grace period.
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
    finishing: float | None = None
    adapters: tuple[str, ...] = ()
    group: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def simulated_server(self) -> str:
        """Name of the simulated server: that of its engine or, if the engine is unknown, of its API."""
        return self.engine or ("" if self.speaks == Speaks.OPENAI else self.speaks.value)

    def pace_on(self, instance_type: str) -> TokenPace:
        return self.paces.get(instance_type) or self.paces[""]


@dataclass(frozen=True, slots=True)
class ServedEndpoint:
    """An endpoint of the outputs.

    Attributes:
        title: Key in the outputs.
        url: Address in the cluster, as in the outputs.
        workloads: The workloads that answer, with their weights. A router, or a pair of prefill and decode, is
            represented by the workloads that decode. Empty if no workload of the stack answers (``why``).
        why: Why no workload answers; empty if one does.
        stand_in: What a stand-in replaces, such as ``router``; empty if nothing.
        outside: Whether the gateway exposes it.
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
    """A group of simulated nodes, which are named ``<name>-<index>``.

    Attributes:
        least: Minimum number of nodes.
        most: Maximum number of nodes.
        usd_per_hour: On-demand price of a node in us-east-1; None without a price.
    """

    name: str
    instance_type: str
    labels: Mapping[str, str]
    least: int
    most: int
    usd_per_hour: float | None = None


@dataclass(frozen=True, slots=True)
class LiveFleet:
    """The simulated part of a stack.

    Attributes:
        autoscalers: Namespace and name of each HorizontalPodAutoscaler that reads a serving metric, by the workload
            (``namespace/name``) that it scales.
        monitors: The rendered PodMonitors.
        rules: The ``rules`` of prometheus-adapter's chart values: ``custom`` and ``external``.
        door: The rendered objects of the gateway; empty without one.
        at_rest: Messages about autoscalers that do not scale in the simulated cluster.
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
