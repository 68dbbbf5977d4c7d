"""What the key-value cache takes of the fullest accelerator.

Per token a layer keeps a key and a value for each of its heads of keys and values. Tensor parallelism divides those
heads among the ranks and, once there are more ranks than heads, gives each rank one. What stands for both (MLA) is
kept whole by each rank. Pipeline parallelism divides the layers.
"""

from decimal import ROUND_CEILING, Decimal

from .cases import Parallel
from .shapes import Layers


def sequence_bytes(layers: tuple[Layers, ...], context: int, parallel: Parallel, number_bytes: Decimal) -> int:
    """Return what one sequence of a length takes of an accelerator, in bytes."""
    total = sum((_of_layers(kind, context, parallel, number_bytes) for kind in layers), Decimal(0))
    return int(total.to_integral_value(ROUND_CEILING))


def heads_of_a_rank(kv_heads: int, tensor: int) -> int:
    """Return how many heads of keys and values a rank keeps: at least one."""
    return -(-kv_heads // tensor)


def _of_layers(kind: Layers, context: int, parallel: Parallel, number_bytes: Decimal) -> Decimal:
    count = -(-kind.count // parallel.pipeline)
    tokens = context if kind.window is None else min(context, kind.window)
    heads = 1 if kind.is_latent else heads_of_a_rank(kind.kv_heads, parallel.tensor)
    state = -(-kind.state_bytes // parallel.tensor)
    return count * (tokens * heads * (kind.key_dim + kind.value_dim) * number_bytes + state)
