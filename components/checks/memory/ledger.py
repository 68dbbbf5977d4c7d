"""The memory of the fullest accelerator: what a model needs at a context, and what the engine may use."""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from ...engines.memory.encoders import EncoderUse, encoder_bytes
from .accelerators.devices import is_measured, visible_bytes
from .activations import activation_bytes, adapter_bytes, gathered_bytes
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
        if self._fills_share:
            return max(0, self._limit)
        budget = self.case.budget
        outside = budget.beside_bytes + (activation_bytes(self.case, context) if budget.activations_beside else 0)
        return max(0, min(self._limit, self._visible - outside))

    def margin(self, context: int) -> int:
        """Return what is left at a context; negative if it does not fit."""
        beside = self.left_beside(context)
        return self.inside(context) if beside is None else min(self.inside(context), beside)

    def inside(self, context: int) -> int:
        """Return what is left of the memory that the engine may use for weights and cache."""
        return self.usable(context) - sum(part.size for part in self.parts(context))

    def beside(self, context: int) -> int:
        """Return what an engine needs outside of a share that its cache fills."""
        budget = self.case.budget
        tables = self._slots(context) * context * budget.slot_bytes
        return budget.beside_bytes + activation_bytes(self.case, context) + tables

    def left_beside(self, context: int) -> int | None:
        """Return what is left of the memory outside of a share that the cache fills; None for other engines."""
        if not self._fills_share:
            return None
        return self._free - self._limit - self.beside(context)

    def is_comfortable(self, context: int) -> bool:
        """Return whether everything fits by more than real servers exceed the total."""
        beside = self.left_beside(context)
        fits_beside = beside is None or beside >= self.error_beside(context)
        return fits_beside and self.inside(context) >= self.error(context)

    def error_beside(self, context: int) -> int:
        """Return the amount by which a real server may exceed what is computed outside of its share."""
        case = self.case
        hidden = 0 if is_measured(case.device, case.device_bytes) else int(case.device_bytes * _HIDDEN_SHARE)
        return case.budget.spread_bytes + activation_bytes(case, context) // 4 + hidden

    def room(self, context: int) -> int:
        """Return the memory left for the cache of all requests."""
        fixed = sum(part.size for part in self._fixed_parts(context))
        return int(max(0, self.usable(context) - fixed) * self.case.budget.cache_share)

    def error(self, context: int) -> int:
        """Return the amount by which a real server may exceed the total."""
        weights = self.weights.error + (self.draft.error if self.draft else 0)
        cards = self.case.parallel.tensor * self.case.parallel.pipeline
        return self.error_beside(context) + -(-weights // cards)

    def uncounted(self, context: int) -> tuple[Uncounted, ...]:
        """Return the unpredictable consumers of memory that may exceed what is left for them."""
        return tuple(consumer for consumer in self.consumers(context) if consumer.most > max(0, consumer.left))

    def consumers(self, context: int) -> tuple[Uncounted, ...]:
        """Return the unpredictable consumers of memory, which are not part of the total."""
        case, budget, shape = self.case, self.case.budget, self.case.shape
        # vLLM before 0.21 captures graphs outside its share, after the cache has taken all of the share.
        outside = self._visible - self._limit - budget.process_bytes
        layers = -(-sum(kind.count for kind in shape.layers) // case.parallel.pipeline)
        layers *= case.parallel.pipeline if budget.graphs_per_stage else 1
        layer_graphs = max(budget.layer_graphs, budget.expert_graphs if shape.experts else 0)
        graphs = min(budget.most_graphs, layers * layer_graphs)
        consumers = [Uncounted("CUDA graphs captured outside the engine's memory share", graphs, outside)]
        if not shape.exact and shape.expert_share and not shape.replicated:
            dense = self.weights.total - self.weights.experts - self.weights.embeddings
            whole = dense - dense // case.parallel.tensor
            consumers.append(Uncounted("weights that each rank may keep whole", whole, self.margin(context)))
        if shape.dtype == _PADDED_DTYPE:
            weights = rank_bytes(self.weights, shape, case.parallel, spread=budget.spreads_experts)
            padding = int(weights * budget.mxfp4_share)
            consumers.append(Uncounted("padding of MXFP4 weights", padding, self.margin(context)))
        if case.parallel.data > 1 and case.parallel.experts:
            gathered = gathered_bytes(case, context)
            consumers.append(Uncounted("the experts of the tokens of all ranks", gathered, self.margin(context)))
        encoding = self._encoding(context)
        if encoding.most:
            # Encoders use the same memory as activations.
            beside = self.left_beside(context)
            consumers.append(encoding._replace(left=self.margin(context) if beside is None else beside))
        return tuple(consumer for consumer in consumers if consumer.most)

    def _encoding(self, context: int) -> Uncounted:
        """Return the most memory that encoding images, videos and sounds takes."""
        case, media = self.case, self.case.media
        encoder = case.encoder
        if encoder is None:
            is_text = media.is_text or not (case.shape.images and (media.has_images or media.has_videos))
            return Uncounted("encoding images and audio", 0 if is_text else case.budget.image_bytes, 0)
        use = EncoderUse(
            limits=media,
            context=context,
            tokens=case.tokens_at_a_time(context),
            requests=case.requests or 1,
            whole_requests=case.budget.whole_requests,
            ranks=case.parallel.tensor,
            hidden=case.shape.hidden or 0,
            parameters=case.shape.parameters,
        )
        kinds = "images and videos" if encoder.video and media.has_videos else "images"
        return Uncounted(f"encoding {kinds} at the start", encoder_bytes(encoder, use), 0)

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
        # Activations and graphs come later.
        process = budget.process_bytes if budget.share_of_free else budget.beside_bytes
        return max(0, size - case.offloaded_bytes + process - self._visible)

    @property
    def _fills_share(self) -> bool:
        """Whether the cache takes all of a share, and activations are computed in the rest."""
        budget = self.case.budget
        return budget.activations_beside and (budget.share is not None or self.case.share is not None)

    @cached_property
    def _visible(self) -> int:
        return visible_bytes(self.case.device, self.case.device_bytes)

    @property
    def _free(self) -> int:
        """The memory of which the engine takes its share."""
        budget = self.case.budget
        return max(0, self._visible - (budget.process_bytes if budget.share_of_free else 0))

    @cached_property
    def _limit(self) -> int:
        case, budget = self.case, self.case.budget
        share = budget.share if case.share is None else case.share
        return self._free if share is None else int(self._free * share * budget.share_used)

    def _slots(self, context: int) -> int:
        """Return the number of requests for which the engine keeps a table of their tokens.

        SGLang, ``_resolve_max_num_reqs``: 512 for each request of the whole context that its cache holds, within
        bounds, and only as many as have states.
        """
        budget, state = self.case.budget, self._own_cache.least
        if not budget.slot_bytes:
            return 0
        one, room = self.of_sequence(context) - state, self.room(context)
        slots = 512 * room // one if one else 0
        slots = max(budget.least_slots, min(budget.most_slots, slots))
        if state and budget.state_ratio:
            pool = int(room * budget.state_ratio / (1 + budget.state_ratio)) // state
            slots = min(slots, (pool if budget.states is None else budget.states) // budget.state_slots)
        return slots if self.case.sequences is None else min(slots, self.case.sequences)

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
        size = requests * self._pooled(context)
        states = 0
        if budget.reserves_states and self.case.requests is not None:
            states = self.case.requests * self._own_cache.state_block
        if states > size:
            return MemoryPart(f"states of {self.case.requests:,} requests", math.ceil(states / budget.cache_share))
        held = "one request" if requests == 1 else f"{requests:,} requests"
        return MemoryPart(f"cache of {held}", math.ceil(size / budget.cache_share))

    def _pooled(self, context: int) -> int:
        """Return the cache of one request, with the pool of states that the engine makes beside it."""
        budget, states = self.case.budget, self._own_cache.least
        if not budget.state_ratio or not states:
            return self.of_sequence(context)
        grown = self.of_sequence(context) - states
        if budget.states is not None:
            return grown + budget.states * states
        # Both pools have a fixed ratio, and each is large enough for a request.
        pool = max(budget.state_slots * states, math.ceil(grown * budget.state_ratio))
        return pool + max(grown, math.ceil(pool / budget.state_ratio))

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
        return KeyCache(
            layers=shape.layers,
            parallel=parallel,
            number_bytes=self.case.cache_bytes,
            block=budget.block,
            batch_tokens=batch or 0,
            windows=budget.windows,
            window_share=budget.window_share,
        )
