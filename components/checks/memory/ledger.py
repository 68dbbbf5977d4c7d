"""What a model needs of the fullest accelerator at a context, and what it may use of it."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cached_property

from .accelerators.devices import is_measured, visible_bytes
from .activations import activation_bytes, adapter_bytes
from .cache import KeyCache
from .cases import MemoryCase, MemoryPart, Parallel
from .shapes import Shape
from .weights import WeightSizes, rank_bytes

_UNMEASURED = Decimal("0.02")
"""Which part of its memory an accelerator keeps from programs, at most, where nobody reported it."""
_FILLED_UP = "mxfp4"
_BY_NAME = Decimal("0.05")
"""Fraction by which weights may be smaller than those of the known model with the same name."""


@dataclass(frozen=True, slots=True)
class Uncounted:
    """A consumer of memory that is not part of the sum.

    Attributes:
        most: The largest amount that was reported, in bytes.
        left: Bytes that are left for it.
    """

    name: str
    most: int
    left: int


@dataclass(frozen=True)
class Ledger:
    """The sums of one case.

    Attributes:
        weights: Of the model.
        draft: Those of the model that proposes tokens; None without one.
        kept: As they are before the engine quantizes them, where it loads all of them first; else None.
    """

    case: MemoryCase
    weights: WeightSizes
    draft: WeightSizes | None = None
    kept: WeightSizes | None = None

    def parts(self, context: int) -> tuple[MemoryPart, ...]:
        """Return what takes memory when requests have a length; what takes none is left out."""
        return tuple(
            part for part in (*self._steady, *self._computed(context), self._cache_part(context)) if part.size
        )

    def usable(self, context: int) -> int:
        """Return what weights, cache and whatever else the engine counts may use."""
        case, budget = self.case, self.case.budget
        visible = visible_bytes(case.device, case.device_bytes)
        share = budget.share if case.share is None else case.share
        beside = budget.beside_bytes + (activation_bytes(case, context) if budget.activations_beside else 0)
        within = visible if share is None else int(visible * share * budget.share_used)
        return max(0, min(within, visible - beside))

    def margin(self, context: int) -> int:
        """Return what is left at a context; negative where it does not fit."""
        return self.usable(context) - sum(part.size for part in self.parts(context))

    def room(self, context: int) -> int:
        """Return what is left for the cache."""
        taken = sum(part.size for part in (*self._steady, *self._computed(context)))
        return int(max(0, self.usable(context) - taken) * self.case.budget.cache_share)

    def error(self, context: int) -> int:
        """Return by how much more than the sum a server may take."""
        case = self.case
        weights = self.weights.error + (self.draft.error if self.draft else 0)
        cards = case.parallel.tensor * case.parallel.pipeline
        unseen = 0 if is_measured(case.device, case.device_bytes) else int(case.device_bytes * _UNMEASURED)
        return case.budget.spread_bytes + activation_bytes(case, context) // 4 + -(-weights // cards) + unseen

    def uncounted(self, context: int) -> tuple[Uncounted, ...]:
        """Return the consumers of an unpredictable amount of memory that may exceed what is left for them.

        Graphs are captured outside of the share, after the cache has taken all of it (vLLM before 0.21). Images and
        audio use the same memory as activations.
        """
        case, budget, shape = self.case, self.case.budget, self.case.shape
        share = budget.share if case.share is None else case.share
        visible = visible_bytes(case.device, case.device_bytes)
        beside = visible - int(visible * (share or 1) * budget.share_used) - budget.process_bytes
        layers = -(-sum(kind.count for kind in shape.layers) // case.parallel.pipeline)
        each = max(budget.layer_graphs, budget.expert_graphs if shape.experts else 0)
        graphs = min(budget.most_graphs, layers * each)
        found = [Uncounted("the graphs that the engine captures beside its share", graphs, beside)]
        if shape.dtype == _FILLED_UP:
            weights = rank_bytes(self.weights, shape, case.parallel, spread=budget.spreads_experts)
            most = int(weights * budget.mxfp4_share)
            found.append(Uncounted("filling up weights in MXFP4 for a kernel", most, self.margin(context)))
        if shape.images:
            room = beside - budget.beside_bytes - activation_bytes(case, context)
            left = room if budget.activations_beside else self.margin(context)
            found.append(Uncounted("reading images and sounds", budget.image_bytes, left))
        return tuple(each for each in found if each.most > max(0, each.left))

    @property
    def unsure(self) -> int:
        """Bytes by which estimated weights of an accelerator may be too large."""
        shape, parallel = self.case.shape, self.case.parallel
        less = max(self.weights.error, int(self.weights.total * _BY_NAME))
        if shape.least_bytes is not None and shape.weights_bytes is not None:
            less = max(less, shape.weights_bytes - shape.least_bytes)
        return less // (parallel.tensor * parallel.pipeline)

    def of_sequence(self, context: int) -> int:
        """Return what one request takes of the cache, with that of the model that proposes tokens."""
        draft = self._draft_cache.of_sequence(context) if self._draft_cache else 0
        return self._own_cache.of_sequence(context) + draft

    def least(self, context: int) -> int:
        """Return what is left if the cache of layers that no source tells apart took nothing."""
        cache = self._own_cache
        return (
            self.usable(context)
            - sum(part.size for part in (*self._steady, *self._computed(context)))
            - cache.least * self._requests_held
        )

    @property
    def lacks_to_load(self) -> int:
        """How many bytes are missing while weights are loaded that are quantized later; 0 where there is room."""
        if self.kept is None:
            return 0
        case, budget = self.case, self.case.budget
        size = rank_bytes(self.kept, case.shape, case.parallel, spread=budget.spreads_experts) - case.offloaded_bytes
        return max(0, size + budget.beside_bytes - visible_bytes(case.device, case.device_bytes))

    @cached_property
    def _steady(self) -> tuple[MemoryPart, ...]:
        case, budget = self.case, self.case.budget
        size = rank_bytes(self.weights, case.shape, case.parallel, spread=budget.spreads_experts)
        weights = max(0, size - case.offloaded_bytes)
        draft = 0
        if case.draft and self.draft:
            draft = rank_bytes(self.draft, case.draft, Parallel(case.draft_tensor), spread=False)
        return (
            MemoryPart("weights", weights),
            MemoryPart("draft model", draft),
            MemoryPart("LoRA adapters", adapter_bytes(case) or 0),
            MemoryPart("engine", budget.fixed_bytes + int(budget.weights_share * weights)),
        )

    def _computed(self, context: int) -> tuple[MemoryPart, ...]:
        size = 0 if self.case.budget.activations_beside else activation_bytes(self.case, context)
        return (MemoryPart("activations", size),)

    def _cache_part(self, context: int) -> MemoryPart:
        budget, requests = self.case.budget, self._requests_held
        size = requests * self.of_sequence(context)
        states = self._states
        if states > size:
            return MemoryPart(f"states of {self.case.requests:,} requests", _up(states / budget.cache_share))
        what = "one request" if requests == 1 else f"{requests:,} requests"
        return MemoryPart(f"cache of {what}", _up(size / budget.cache_share))

    @property
    def _requests_held(self) -> int:
        return max(1, self.case.requests or 1) if self.case.budget.reserves_all else 1

    @property
    def _states(self) -> int:
        if not self.case.budget.reserves_states or self.case.requests is None:
            return 0
        return self.case.requests * self._own_cache.state_block

    @cached_property
    def _own_cache(self) -> KeyCache:
        return self._keys(self.case.shape, self.case.parallel)

    @cached_property
    def _draft_cache(self) -> KeyCache | None:
        return self._keys(self.case.draft, Parallel(self.case.draft_tensor)) if self.case.draft else None

    def _keys(self, shape: Shape, parallel: Parallel) -> KeyCache:
        budget = self.case.budget
        batch = budget.batch_tokens if self.case.batch_tokens is None else self.case.batch_tokens
        return KeyCache(shape.layers, parallel, self.case.cache_bytes, budget.block, batch or 0, budget.windows)


def _up(size: Decimal) -> int:
    return int(size.to_integral_value(ROUND_CEILING))
