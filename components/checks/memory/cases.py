"""What is asked about memory, and the answer."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from ...engines.memory.budget import EngineMemory as EngineMemory
from ...fleet.workloads import SpreadField
from .shapes import Shape


class Fit(StrEnum):
    """Whether a model fits."""

    FITS = "fits"
    TIGHT = "tight"
    """It fits by less than the arithmetic can be wrong."""
    EXCEEDED = "exceeded"
    """It does not fit."""
    UNKNOWN = "not checked"
    """Something is not known, and nothing is guessed."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """How the accelerators of one replica share a model: tensor x pipeline x data of them."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    experts: bool = False
    """Whether experts are divided over tensor x data ranks instead of being cut (expert parallelism)."""

    @property
    def accelerators(self) -> int:
        """Accelerators of one replica."""
        return self.tensor * self.pipeline * self.data


PLAIN = EngineMemory()
"""An engine that uses all of the memory, and takes nothing for itself."""


@dataclass(frozen=True, slots=True)
class MemoryCase:
    """A model as it is served by one replica.

    Attributes:
        device: Accelerator, for the reader.
        device_bytes: Memory of one accelerator as the API of the cloud reports it.
        weights_dtype: What weights are converted to when they are loaded; empty where they stay as they are.
        cache_bytes: Bytes of a number in the cache, such as 2, 1 or 0.5625 (q4_0 of llama.cpp).
        context: Tokens of a request with its answer; None where the engine takes the model's own.
        sequences: Requests at once; None where nothing says it.
        batch_tokens: Tokens that are computed at a time; None where nothing says it.
        draft: A smaller model on the same accelerators that proposes tokens; None without one.
        draft_tensor: Over how many accelerators it is cut.
        adapters: How many LoRA adapters are kept at once.
        adapter_rank: Their largest rank.
        offloaded_bytes: Weights that are kept in the memory of the host instead, per accelerator.
        share: Share of the memory that the engine may use, where the command line says it.
        engine: Name of the engine, whose table tells the budget on other accelerators; empty where that is the same.
        tag: Tag that tells its version.
        instance_type: Type of the nodes; empty if only the accelerator is known.
        per_pod: Accelerators of a pod, whether the model uses all of them or not.
        pods: Pods of a replica that have accelerators.
        spread: Fields of the manifest that set the parallelism; None if there are none.
    """

    shape: Shape
    device: str
    device_bytes: int
    parallel: Parallel = Parallel()
    budget: EngineMemory = PLAIN
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
        """Requests at once, as the command line says it or the engine has it; None where neither does."""
        return self.budget.sequences if self.sequences is None else self.sequences

    @property
    def length(self) -> int | None:
        """Tokens of a request; None where nothing says it."""
        return self.shape.max_context if self.context is None else self.context

    def tokens_at_a_time(self, context: int) -> int:
        """Return how many tokens are computed at a time."""
        if self.cuts_requests(context):
            return self.budget.chunk
        tokens = self.budget.batch_tokens if self.batch_tokens is None else self.batch_tokens
        return context if tokens is None else tokens

    def cuts_requests(self, context: int) -> bool:
        """Tell whether the engine computes requests of a length in parts because of their length alone."""
        above = self.budget.chunks_above
        return self.batch_tokens is None and above is not None and context > above


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """What something takes of the memory of the fullest accelerator, in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class CheaperType:
    """Instances on which the model would fit.

    Attributes:
        count: Instances of one replica.
        parallel: How their accelerators would share the model.
        usd_per_hour: On demand, of all of them.
    """

    instance_type: str
    count: int
    parallel: Parallel
    usd_per_hour: Decimal


@dataclass(frozen=True, slots=True)
class MemoryVerdict:
    """Whether a model fits, and by how much.

    Attributes:
        reason: In one sentence: what does not fit, or what is not known.
        asked: What was asked; None where too little was known to ask.
        parts: What takes memory: weights, cache of one request, activations, the engine itself, adapters, draft.
        usable: What the engine may use of an accelerator, in bytes.
        context: Tokens of a request that was counted with.
        sequences: Requests of that length that fit at once.
        largest_context: Longest request that fits; 0 where not even the weights do.
        types: The cheapest instance types on which it would fit, cheapest first.
        notes: What the numbers leave open, such as an upper bound.
    """

    fit: Fit
    reason: str
    asked: MemoryCase | None = None
    parts: tuple[MemoryPart, ...] = ()
    usable: int = 0
    context: int = 0
    sequences: int = 0
    largest_context: int = 0
    types: tuple[CheaperType, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def needed(self) -> int:
        """Bytes that are needed of the fullest accelerator."""
        return sum(part.size for part in self.parts)

    @property
    def margin(self) -> int:
        """Bytes that are left of what may be used; negative where it does not fit."""
        return self.usable - self.needed
