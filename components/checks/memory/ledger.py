"""The memory of the fullest accelerator: what a model needs at a context, and what the engine may use."""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from .accelerators.devices import is_measured, visible_bytes
from .activations import activation_bytes, adapter_bytes
from .cache import KeyCache
from .cases import MemoryCase, MemoryPart, Parallel
from .shapes import Shape
from .weights import WeightSizes, rank_bytes

_HIDDEN_SHARE = Decimal("0.02")
"""Largest share of its memory that an accelerator hides from programs, for accelerators without a measurement."""
_PADDED_DTYPE = "mxfp4"
_SAME_NAME_ERROR = Decimal("0.05")
"""Fraction by which weights may be smaller than those of the known model with the same name."""


class Uncounted(NamedTuple):
    """A consumer of memory that is not part of the total.

    Attributes:
        most: The largest amount that was reported, in bytes.
        left: Bytes that are left for it.
    """

    name: str
    most: int
    left: int


@dataclass(frozen=True)
class Ledger:
    """The memory of one case, in bytes per accelerator.

    Attributes:
        weights: Weights of the model.
        draft: Weights of the draft model; None without one.
        loaded: Weights before quantization, if the engine loads all of them first; otherwise None.
    """

    case: MemoryCase
    weights: WeightSizes
    draft: WeightSizes | None = None
    loaded: WeightSizes | None = None

    def parts(self, context: int) -> tuple[MemoryPart, ...]:
        """Return the consumers of memory for requests of a length, without those that need none."""
        return tuple(part for part in (*self._fixed_parts(context), self._cache_part(context)) if part.size)

    def usable(self, context: int) -> int:
        """Return the memory available for weights, cache and whatever else the engine takes from its share."""
        case, budget = self.case, self.case.budget
        visible = visible_bytes(case.device, case.device_bytes)
        share = budget.share if case.share is None else case.share
        outside = budget.beside_bytes + (activation_bytes(case, context) if budget.activations_beside else 0)
        limit = visible if share is None else int(visible * share * budget.share_used)
        return max(0, min(limit, visible - outside))

    def margin(self, context: int) -> int:
        """Return what is left at a context; negative if it does not fit."""
        return self.usable(context) - sum(part.size for part in self.parts(context))

    def room(self, context: int) -> int:
        """Return the memory left for the cache of all requests."""
        fixed = sum(part.size for part in self._fixed_parts(context))
        return int(max(0, self.usable(context) - fixed) * self.case.budget.cache_share)

    def error(self, context: int) -> int:
        """Return the amount by which a real server may exceed the total."""
        case = self.case
        weights = self.weights.error + (self.draft.error if self.draft else 0)
        cards = case.parallel.tensor * case.parallel.pipeline
        hidden = 0 if is_measured(case.device, case.device_bytes) else int(case.device_bytes * _HIDDEN_SHARE)
        return case.budget.spread_bytes + activation_bytes(case, context) // 4 + -(-weights // cards) + hidden

    def uncounted(self, context: int) -> tuple[Uncounted, ...]:
        """Return the unpredictable consumers of memory that may exceed what is left for them."""
        return tuple(consumer for consumer in self.consumers(context) if consumer.most > max(0, consumer.left))

    def consumers(self, context: int) -> tuple[Uncounted, ...]:
        """Return the unpredictable consumers of memory, which are not part of the total."""
        case, budget, shape = self.case, self.case.budget, self.case.shape
        share = budget.share if case.share is None else case.share
        visible = visible_bytes(case.device, case.device_bytes)
        # vLLM before 0.21 captures graphs outside its share, after the cache has taken all of the share.
        outside = visible - int(visible * (share or 1) * budget.share_used) - budget.process_bytes
        layers = -(-sum(kind.count for kind in shape.layers) // case.parallel.pipeline)
        layers *= case.parallel.pipeline if budget.graphs_per_stage else 1
        layer_graphs = max(budget.layer_graphs, budget.expert_graphs if shape.experts else 0)
        graphs = min(budget.most_graphs, layers * layer_graphs)
        consumers = [Uncounted("CUDA graphs captured outside the engine's memory share", graphs, outside)]
        if shape.dtype == _PADDED_DTYPE:
            weights = rank_bytes(self.weights, shape, case.parallel, spread=budget.spreads_experts)
            padding = int(weights * budget.mxfp4_share)
            consumers.append(Uncounted("padding of MXFP4 weights", padding, self.margin(context)))
        if shape.images:
            # Encoders use the same memory as activations.
            room = outside - budget.beside_bytes - activation_bytes(case, context)
            left = room if budget.activations_beside else self.margin(context)
            consumers.append(Uncounted("encoding images and audio", budget.image_bytes, left))
        return tuple(consumer for consumer in consumers if consumer.most)

    @property
    def unsure(self) -> int:
        """Bytes by which estimated weights of an accelerator may be too large."""
        shape, parallel = self.case.shape, self.case.parallel
        less = max(self.weights.error, int(self.weights.total * _SAME_NAME_ERROR))
        if shape.least_bytes is not None and shape.weights_bytes is not None:
            less = max(less, shape.weights_bytes - shape.least_bytes)
        return less // (parallel.tensor * parallel.pipeline)

    def of_sequence(self, context: int) -> int:
        """Return the cache of one request, including that of the draft model."""
        draft = self._draft_cache.of_sequence(context) if self._draft_cache else 0
        return self._own_cache.of_sequence(context) + draft

    def least(self, context: int) -> int:
        """Return what is left if layers that may or may not cache the context cached nothing."""
        fixed = sum(part.size for part in self._fixed_parts(context))
        return self.usable(context) - fixed - self._own_cache.least * self._requests_held

    @property
    def lacks_to_load(self) -> int:
        """Bytes missing while the weights are loaded unquantized; 0 if they fit."""
        if self.loaded is None:
            return 0
        case, budget = self.case, self.case.budget
        size = rank_bytes(self.loaded, case.shape, case.parallel, spread=budget.spreads_experts)
        needed = size - case.offloaded_bytes + budget.beside_bytes
        return max(0, needed - visible_bytes(case.device, case.device_bytes))

    def _fixed_parts(self, context: int) -> tuple[MemoryPart, ...]:
        """Return everything but the cache; only activations depend on the context."""
        activations = 0 if self.case.budget.activations_beside else activation_bytes(self.case, context)
        return (*self._loaded_parts, MemoryPart("activations", activations))

    @cached_property
    def _loaded_parts(self) -> tuple[MemoryPart, ...]:
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

    def _cache_part(self, context: int) -> MemoryPart:
        budget, requests = self.case.budget, self._requests_held
        size = requests * self.of_sequence(context)
        states = 0
        if budget.reserves_states and self.case.requests is not None:
            states = self.case.requests * self._own_cache.state_block
        if states > size:
            return MemoryPart(f"states of {self.case.requests:,} requests", math.ceil(states / budget.cache_share))
        held = "one request" if requests == 1 else f"{requests:,} requests"
        return MemoryPart(f"cache of {held}", math.ceil(size / budget.cache_share))

    @property
    def _requests_held(self) -> int:
        return max(1, self.case.requests or 1) if self.case.budget.reserves_all else 1

    @cached_property
    def _own_cache(self) -> KeyCache:
        return self._cache(self.case.shape, self.case.parallel)

    @cached_property
    def _draft_cache(self) -> KeyCache | None:
        return self._cache(self.case.draft, Parallel(self.case.draft_tensor)) if self.case.draft else None

    def _cache(self, shape: Shape, parallel: Parallel) -> KeyCache:
        budget = self.case.budget
        batch = budget.batch_tokens if self.case.batch_tokens is None else self.case.batch_tokens
        return KeyCache(shape.layers, parallel, self.case.cache_bytes, budget.block, batch or 0, budget.windows)
