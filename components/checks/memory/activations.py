"""The memory of activations and LoRA adapters.

A step of a feed-forward network keeps the input and the residual of each token, the two halves of its inner width and
their product. With experts, each token is copied for each expert it is routed to (vLLM ``fused_experts``: one
buffer of the larger of the doubled inner width and the outer one, and one of the inner width). A log of vLLM has 1.97
GiB for Qwen2.5-7B and 16,384 tokens, of which this formula predicts 1.95. Logits are computed afterwards, so the
larger of the two counts.
"""

from .cases import MemoryCase
from .shapes import Shape

_BYTES = 2
"""Per activation, and per weight of an adapter."""


def activation_bytes(case: MemoryCase, context: int) -> int:
    """Return the peak bytes per accelerator of one step, as far as the model's widths are known."""
    shape, budget, tensor = case.shape, case.budget, case.parallel.tensor
    tokens = case.tokens_at_a_time(context)
    forward = logits = 0
    if shape.hidden is not None:
        inner = shape.intermediate or 0
        if shape.active_experts:
            width = shape.active_experts * (max(-(-2 * inner // tensor), shape.hidden) + -(-inner // tensor))
        else:
            width = -(-3 * inner // tensor)
        forward = tokens * (budget.copies * shape.hidden + width) * _BYTES
    # vLLM 0.7 with 131,072 tokens and 256 requests: 0.22 GiB for Llama 3.1 8B, of which logits would be 1.2.
    if not case.cuts_requests(context):
        requests = 1 if case.requests is None else case.requests
        rows = tokens if budget.logits_of_all else min(tokens, requests)
        logits = rows * (shape.vocabulary or 0) * budget.logit_bytes
    return max(forward, logits)


def gathered_bytes(case: MemoryCase, context: int) -> int:
    """Return the most that the experts of a rank need for the tokens of all ranks of data parallelism, in bytes.

    vLLM, ``DeepGemmExperts.workspace_shapes``: two buffers with a row for each token and expert, beside the tokens
    and the results of all ranks. Releases that compute in chunks need less.
    """
    shape = case.shape
    row = max(2 * (shape.intermediate or 0), shape.hidden or 0)
    tokens = case.tokens_at_a_time(context) * case.parallel.data
    return 2 * tokens * ((shape.active_experts or 0) * row + (shape.hidden or 0)) * _BYTES


def unknown_widths(shape: Shape) -> tuple[str, ...]:
    """Name the unknown widths among those that determine the size of activations."""
    widths = {"hidden size": shape.hidden, "vocabulary": shape.vocabulary, "inner width": shape.intermediate}
    return tuple(name for name, width in widths.items() if width is None)


def adapter_bytes(case: MemoryCase) -> int | None:
    """Return the bytes per accelerator of LoRA adapters; None if the model's widths are unknown.

    Each slot has two matrices of the largest rank for each matrix of a layer (vLLM ``LoRAModelRunnerMixin``, with
    ``max_loras`` slots). Tensor parallelism divides one of them if it divides that side of the matrix. Adapters of
    experts are not counted.
    """
    if not case.adapters:
        return 0
    shape, tensor = case.shape, case.parallel.tensor
    if shape.hidden is None or not shape.layers:
        return None
    if shape.intermediate is None and not shape.experts:
        return None
    inner = 0 if shape.experts else -(-(shape.intermediate or 0) // tensor)
    size = 0
    for kind in shape.layers:
        heads = -(-(shape.heads or 0) * kind.key_dim // tensor)
        keys = -(-kind.kv_heads * (kind.key_dim + kind.value_dim) // tensor)
        attention = 4 * shape.hidden + 2 * heads + keys
        network = 3 * (shape.hidden + inner) if inner else 0
        size += -(-kind.count // case.parallel.pipeline) * (attention + network)
    return case.adapters * case.adapter_rank * size * _BYTES
