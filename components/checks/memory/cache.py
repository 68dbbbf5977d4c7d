"""The size of the key-value cache on the fullest accelerator.

Per token, a layer keeps a key and a value for each key-value head. Tensor parallelism divides those heads among the
ranks; with more ranks than heads, each rank keeps one (vLLM, ``ModelConfig.get_num_kv_heads``). Each rank keeps the
whole latent of MLA. Ranks that run attention in data parallel divide only the heads of their own group (SGLang,
``get_attention_tp_size``). Pipeline parallelism divides the layers.

Sliding-window layers keep the window and the tokens of a batch (vLLM, ``SlidingWindowSpec.max_memory_usage_bytes``:
the window less one and the tokens of a batch, at most the context, and a block).
"""

import math
from decimal import Decimal
from typing import NamedTuple

from .cases import Parallel
from .shapes import Layers


class KeyCache(NamedTuple):
    """The cache of a model on some accelerators.

    Attributes:
        layers: Layers of the model, by kind.
        number_bytes: Bytes per number.
        block: Tokens by which the cache grows.
        batch_tokens: Tokens of a batch, which sliding-window layers keep as well.
        windows: Whether the cache of sliding-window layers stops growing at the window.
        window_share: Part of the tokens that they keep if it does not.
    """

    layers: tuple[Layers, ...]
    parallel: Parallel
    number_bytes: Decimal = Decimal(2)
    block: int = 1
    batch_tokens: int = 0
    windows: bool = True
    window_share: Decimal = Decimal(1)

    def of_sequence(self, context: int) -> int:
        """Return the bytes per accelerator of one sequence of a length."""
        return self.grown(context) + self.least

    def grown(self, context: int) -> int:
        """Return those of them that depend on the length."""
        return math.ceil(sum((self._grown(kind, context) for kind in self.layers), Decimal(0)))

    @property
    def least(self) -> int:
        """Lower bound for a sequence, if the layers may cache less than assumed: its fixed states."""
        return sum(map(self._state, self.layers))

    @property
    def state_block(self) -> int:
        """Bytes per sequence if states and keys share one pool of blocks; 0 without states.

        vLLM pads all layers to the largest page and groups as many layers as the rarest kind has, so a sequence
        takes that many pages: 2 GPUs with 3.86 GiB of cache each hold 161 sequences of Qwen3.8-27B (issue 49064),
        25.7 MB each. Layers with both attend to an encoder, whose keys are paged like those of other layers
        (CrossAttentionSpec).
        """
        states = [-(-kind.state_bytes // self.parallel.attention) for kind in self.layers if not kind.key_dim]
        counts = [self._count(kind) for kind in self.layers if kind.key_dim or kind.state_bytes]
        return max(states, default=0) * min(counts, default=0)

    def _count(self, kind: Layers) -> int:
        return -(-kind.count // self.parallel.pipeline)

    def _state(self, kind: Layers) -> int:
        return self._count(kind) * -(-kind.state_bytes // self.parallel.attention)

    def _grown(self, kind: Layers, context: int) -> Decimal:
        share = Decimal(1)
        if kind.window is None or not self.windows:
            blocks = -(-context // self.block)
            share = Decimal(1) if kind.window is None else self.window_share
        else:
            kept = min(context, kind.window - 1 + self.batch_tokens if self.batch_tokens else kind.window)
            # A window that moves with the context may begin within a block.
            blocks = -(-kept // self.block) + (kept < context and self.block > 1)
        heads = 1 if kind.is_latent else -(-kind.kv_heads // self.parallel.attention)
        token = heads * (kind.key_dim + kind.value_dim) * self.number_bytes + kind.token_bytes
        return self._count(kind) * blocks * self.block * token * share
