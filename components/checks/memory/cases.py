"""The memory case of a replica, and the verdict on it."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from ...engines.formats.faults import FormatUse
from ...engines.memory.budget import EngineMemory as EngineMemory
from ...engines.memory.encoders import NO_LIMITS, Encoder, MediaLimits
from ...engines.memory.reserve import DraftKind, ServerTraits
from ...fleet.workloads import SpreadField
from .shapes import UNQUANTIZED, Shape, heads_of

NOTHING = (Decimal(0), Decimal(0))
"""No cores and no memory: what a pod without requests needs."""


class Fit(StrEnum):
    """Whether a model fits."""

    FITS = "fits"
    TIGHT = "tight"
    """The model fits, but by less than the error of the estimate."""
    EXCEEDED = "exceeded"
    """The model does not fit."""
    UNKNOWN = "not checked"
    """A required fact is unknown; nothing is guessed."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """Parallelism of one replica, which has tensor x pipeline x data accelerators."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    experts: bool = False
    """Whether whole experts are distributed over tensor x data ranks (expert parallelism)."""
    groups: int = 1
    """Groups of the ranks of tensor parallelism, each of which computes the attention of its own requests."""

    @property
    def accelerators(self) -> int:
        """Accelerators of one replica."""
        return self.tensor * self.pipeline * self.data

    @property
    def attention(self) -> int:
        """Ranks that divide the attention of a request."""
        return max(1, self.tensor // self.groups)


NO_ACCELERATOR = "the pods request no accelerator"
"""Why there is no verdict on a model that runs on processors alone."""
IDEAL_ENGINE = EngineMemory()
"""An engine that uses all memory and needs none for itself."""


@dataclass(frozen=True, slots=True)
class MemoryCase:
    """A model as one replica serves it.

    Attributes:
        device: Name of the accelerator.
        device_bytes: Memory of one accelerator as the cloud's API reports it.
        dtype: Value of the flag for the type of computation; empty if it is not set.
        quantization: Value of the flag for the method of quantization; empty if it is not set.
        weights_dtype: Type that weights are converted to on loading; empty without conversion.
        cache_bytes: Bytes per number in the cache, such as 2, 1 or 0.5625 (q4_0 of llama.cpp).
        context: Tokens of a request with its answer; None for the model's own limit.
        sequences: Concurrent requests; None if not set.
        batch_tokens: Tokens of a batch; None if not set.
        draft: A smaller model on the same accelerators that proposes tokens; None without one.
        draft_tensor: Tensor parallelism of the draft model.
        draft_kind: What proposes tokens, as far as the engine reserves memory for it.
        graph_requests: Requests in the largest CUDA graph; None if not set.
        adapters: Number of LoRA adapters loaded at once.
        adapter_rank: Their largest rank.
        offloaded_bytes: Weights kept in host memory instead, per accelerator.
        share: Share of the memory that the engine may use, if the command line sets it.
        engine: Name of the engine, to look up its budget on other accelerators; empty if that is the same.
        tag: Image tag, which determines the engine's version.
        instance_type: Type of the nodes; empty if only the accelerator is known.
        per_node: Accelerators of such a node.
        per_pod: Accelerators of a pod, including unused ones.
        pods: Pods of a replica that have accelerators.
        host: Cores and bytes of memory that a pod requests.
        spread: Fields of the manifest that set the parallelism; None without any.
        media: What requests may contain beside text.
        encoder: The encoder of images and videos; None if the engine's table does not list it.
        no_videos: How to turn videos off; empty if that is not possible.
    """

    shape: Shape
    device: str
    device_bytes: int
    parallel: Parallel = Parallel()
    budget: EngineMemory = IDEAL_ENGINE
    dtype: str = ""
    quantization: str = ""
    weights_dtype: str = ""
    cache_bytes: Decimal = Decimal(2)
    context: int | None = None
    sequences: int | None = None
    batch_tokens: int | None = None
    draft: Shape | None = None
    draft_tensor: int = 1
    draft_kind: DraftKind = DraftKind.NONE
    graph_requests: int | None = None
    adapters: int = 0
    adapter_rank: int = 0
    offloaded_bytes: int = 0
    share: Decimal | None = None
    engine: str = ""
    tag: str = ""
    instance_type: str = ""
    per_node: int = 0
    per_pod: int = 0
    pods: int = 1
    host: tuple[Decimal, Decimal] = NOTHING
    spread: SpreadField | None = None
    media: MediaLimits = NO_LIMITS
    encoder: Encoder | None = None
    no_videos: str = ""

    @property
    def downloads(self) -> tuple[Shape, ...]:
        """The models with files of their own: heads that propose tokens are in those of the model."""
        if self.draft is None or self.draft == heads_of(self.shape):
            return (self.shape,)
        return (self.shape, self.draft)

    @property
    def traits(self) -> ServerTraits:
        """What the server computes, as far as its engine reserves memory for it."""
        return ServerTraits(
            batch_tokens=self.batch_tokens,
            graph_requests=self.graph_requests,
            has_latents=any(kind.is_latent for kind in self.shape.layers),
            has_images=self.shape.images,
            tower=self.shape.tower,
            draft=self.draft_kind,
            groups=self.parallel.groups,
            is_simple=self.parallel.pipeline == 1 and not self.adapters,
        )

    @property
    def formats(self) -> FormatUse:
        """The number formats of the engine and the model."""
        return FormatUse(
            engine=self.engine,
            tag=self.tag,
            model=self.shape.name,
            weights=self.shape.known_dtype,
            dtype=self.dtype or (self.weights_dtype if self.weights_dtype in UNQUANTIZED else ""),
            quantization=self.quantization,
            experts=bool(self.shape.experts),
        )

    @property
    def requests(self) -> int | None:
        """Concurrent requests, from the command line or the engine's default; None if neither sets a limit."""
        return self.budget.sequences if self.sequences is None else self.sequences

    @property
    def length(self) -> int | None:
        """Tokens of a request; None if unknown."""
        return self.shape.max_context if self.context is None else self.context

    def tokens_at_a_time(self, context: int) -> int:
        """Return the tokens of a batch."""
        if self.cuts_requests(context):
            return self.budget.chunk
        tokens = self.budget.batch_tokens if self.batch_tokens is None else self.batch_tokens
        return context if tokens is None else tokens

    def cuts_requests(self, context: int) -> bool:
        """Tell whether the engine computes requests of a length in chunks without being configured to."""
        above = self.budget.chunks_above
        return self.batch_tokens is None and above is not None and context > above


class MemoryPart(NamedTuple):
    """A consumer of memory on the fullest accelerator, with its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class CheaperType:
    """Instances on which the model would fit.

    Attributes:
        count: Instances of one replica.
        parallel: Parallelism over their accelerators.
        usd_per_hour: On-demand price of all instances.
    """

    instance_type: str
    count: int
    parallel: Parallel
    usd_per_hour: Decimal


@dataclass(frozen=True, slots=True)
class MemoryVerdict:
    """Whether a model fits, and by how much.

    Attributes:
        reason: The figures and the next steps, or the missing fact, in one sentence.
        asked: The case; None if too little was known to build one.
        parts: Consumers of memory: weights, cache of one request, activations, the engine itself, adapters, draft.
        usable: Memory of an accelerator that the engine may use, in bytes.
        context: Tokens of the request that was assumed.
        sequences: Requests of that length that fit at once.
        largest_context: Longest request that fits; 0 if not even the weights do.
        types: Instance types on which the model would fit, cheapest first.
        notes: Limits of the figures, such as an upper bound.
    """

    fit: Fit
    reason: str
    asked: MemoryCase | None = None  # the name is a key of JSON reports
    parts: tuple[MemoryPart, ...] = ()
    usable: int = 0
    context: int = 0
    sequences: int = 0
    largest_context: int = 0
    types: tuple[CheaperType, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_missing(self) -> bool:
        """Whether a fact is missing that a verdict on accelerators needs."""
        return self.fit is Fit.UNKNOWN and self.reason != NO_ACCELERATOR

    @property
    def needed(self) -> int:
        """Bytes needed on the fullest accelerator."""
        return sum(part.size for part in self.parts)

    @property
    def margin(self) -> int:
        """Bytes left of ``usable``; negative if the model does not fit."""
        return self.usable - self.needed
