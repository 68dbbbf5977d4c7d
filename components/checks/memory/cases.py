"""The memory case of a replica, and the verdict on it."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from ...engines.memory.budget import EngineMemory as EngineMemory
from ...fleet.workloads import SpreadField
from .shapes import Shape


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

    @property
    def accelerators(self) -> int:
        """Accelerators of one replica."""
        return self.tensor * self.pipeline * self.data


IDEAL_ENGINE = EngineMemory()
"""An engine that uses all memory and needs none for itself."""


@dataclass(frozen=True, slots=True)
class MemoryCase:
    """A model as one replica serves it.

    Attributes:
        device: Name of the accelerator.
        device_bytes: Memory of one accelerator as the cloud's API reports it.
        weights_dtype: Type that weights are converted to on loading; empty without conversion.
        cache_bytes: Bytes per number in the cache, such as 2, 1 or 0.5625 (q4_0 of llama.cpp).
        context: Tokens of a request with its answer; None for the model's own limit.
        sequences: Concurrent requests; None if not set.
        batch_tokens: Tokens of a batch; None if not set.
        draft: A smaller model on the same accelerators that proposes tokens; None without one.
        draft_tensor: Tensor parallelism of the draft model.
        adapters: Number of LoRA adapters loaded at once.
        adapter_rank: Their largest rank.
        offloaded_bytes: Weights kept in host memory instead, per accelerator.
        share: Share of the memory that the engine may use, if the command line sets it.
        engine: Name of the engine, to look up its budget on other accelerators; empty if that is the same.
        tag: Image tag, which determines the engine's version.
        instance_type: Type of the nodes; empty if only the accelerator is known.
        per_pod: Accelerators of a pod, including unused ones.
        pods: Pods of a replica that have accelerators.
        spread: Fields of the manifest that set the parallelism; None without any.
    """

    shape: Shape
    device: str
    device_bytes: int
    parallel: Parallel = Parallel()
    budget: EngineMemory = IDEAL_ENGINE
    weights_dtype: str = ""
    cache_bytes: Decimal = Decimal(2)
    context: int | None = None
    sequences: int | None = None
    batch_tokens: int | None = None
    draft: Shape | None = None
    draft_tensor: int = 1
    adapters: int = 0
    adapter_rank: int = 0
    offloaded_bytes: int = 0
    share: Decimal | None = None
    engine: str = ""
    tag: str = ""
    instance_type: str = ""
    per_pod: int = 0
    pods: int = 1
    spread: SpreadField | None = None

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
    def needed(self) -> int:
        """Bytes needed on the fullest accelerator."""
        return sum(part.size for part in self.parts)

    @property
    def margin(self) -> int:
        """Bytes left of ``usable``; negative if the model does not fit."""
        return self.usable - self.needed
