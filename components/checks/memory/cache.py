"""What the key-value cache takes of the fullest accelerator.

Per token a layer keeps a key and a value for each of its heads of keys and values. Tensor parallelism divides those
heads among the ranks and, once there are more ranks than heads, gives each rank one (vLLM, ``ModelConfig.
get_num_kv_heads``). What stands for both (MLA) is kept whole by each rank. Pipeline parallelism divides the layers.

Layers with a window keep what lies in it, and what is computed at a time (vLLM, ``SlidingWindowSpec.
max_memory_usage_bytes``: the window less one and the tokens of a batch, at most the context, and a block).
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from .cases import Parallel
from .shapes import Layers


@dataclass(frozen=True, slots=True)
class KeyCache:
    """The cache of a model on some accelerators.

    Attributes:
        layers: Layers of the model, by kind.
        number_bytes: Bytes of a number.
        block: How many tokens it grows by.
        batch_tokens: Tokens that are computed at a time, which layers with a window keep as well.
        windows: Whether layers with a window stop growing there.
    """

    layers: tuple[Layers, ...]
    parallel: Parallel
    number_bytes: Decimal = Decimal(2)
    block: int = 1
    batch_tokens: int = 0
    windows: bool = True

    def of_sequence(self, context: int) -> int:
        """Return what one sequence of a length takes of an accelerator, in bytes."""
        return _up(sum((self._grown(kind, context) + self._state(kind) for kind in self.layers), Decimal(0)))

    @property
    def least(self) -> int:
        """What a sequence takes if no source is right about how much the layers keep: its fixed states alone."""
        return _up(sum(map(self._state, self.layers), Decimal(0)))

    @property
    def state_block(self) -> int:
        """What a place for one more sequence takes where states and keys share one pool of blocks; 0 without states.

        vLLM pads all layers to the largest page and groups as many layers as the rarest kind has, so that a place
        takes that many pages: 2 GPUs with 3.86 GiB of cache each have 161 for Qwen3.8-27B (issue 49064), 25.7 MB
        each.
        """
        states = [-(-kind.state_bytes // self.parallel.tensor) for kind in self.layers]
        counts = [self._count(kind) for kind in self.layers if kind.key_dim or kind.state_bytes]
        return max(states, default=0) * min(counts, default=0)

    def _count(self, kind: Layers) -> int:
        return -(-kind.count // self.parallel.pipeline)

    def _state(self, kind: Layers) -> Decimal:
        return Decimal(self._count(kind) * -(-kind.state_bytes // self.parallel.tensor))

    def _grown(self, kind: Layers, context: int) -> Decimal:
        heads = 1 if kind.is_latent else -(-kind.kv_heads // self.parallel.tensor)
        token = heads * (kind.key_dim + kind.value_dim) * self.number_bytes + kind.token_bytes
        return self._count(kind) * self._tokens(kind, context) * token

    def _tokens(self, kind: Layers, context: int) -> int:
        if kind.window is None or not self.windows:
            return -(-context // self.block) * self.block
        kept = min(context, kind.window - 1 + self.batch_tokens if self.batch_tokens else kind.window)
        return (-(-kept // self.block) + (kept < context and self.block > 1)) * self.block


def _up(size: Decimal) -> int:
    return int(size.to_integral_value(ROUND_CEILING))
