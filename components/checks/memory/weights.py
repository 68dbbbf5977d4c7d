"""The size of a model's weights, and the part of them on the fullest rank.

The size of the files is preferred; otherwise it is computed from the number of parameters and their data type.
Quantization leaves the vocabulary at 16 bits, and MXFP4 everything but the experts (Qwen3-8B-AWQ: 5.68 GiB for 8.19
billion parameters; OCP Microscaling Formats 1.0: a scale of 8 bits per block of 32 numbers of 4 bits).
"""

import math
from decimal import Decimal
from typing import NamedTuple

from .cases import MemoryCase, Parallel
from .shapes import Shape

_WIDE = {"bfloat16": 16, "float16": 16, "float32": 32, "half": 16, "float": 32}
"""Bits per weight of unquantized types, which apply to all weights of a model."""
_NARROW = {
    "fp8": Decimal(8),
    "int8": Decimal(8),
    # A scale of 8 bits per block of 32 numbers (OCP Microscaling Formats 1.0).
    "mxfp8": Decimal("8.25"),
    "nvfp4": Decimal("4.5"),
    "mxfp4": Decimal("4.25"),
    # Scales of 16 bits and zeros of 4 per group of 128 (AWQ, GPTQ); 32-bit scales per block of 64 (bitsandbytes).
    "int4": Decimal(4) + Decimal(20) / 128,
    "int4-awq": Decimal(4) + Decimal(20) / 128,
    "int4-gptq": Decimal(4) + Decimal(20) / 128,
    "bitsandbytes": Decimal("4.5"),
}
"""Bits per weight of quantized types, including scales; they apply to quantized layers only."""
_EXPERTS_ONLY = frozenset({"mxfp4"})
_BYTE = 8
_ATTENTION_BESIDE_EXPERTS = Decimal("0.75")
_QUANTIZED_ERROR = Decimal("0.025")
"""Files of quantized models are up to 2.5 % larger than computed (DeepSeek-V3.2)."""
_MIXED_ERROR = Decimal("0.12")
"""In models with experts, often only the experts have four bits: Kimi-K2.6 is 10.9 % larger than computed."""
_ROUNDED_ERROR = Decimal("0.15")
"""Names of models round down: Qwen3-VL-4B has 4.44 billion parameters, MiMo-7B 7.83."""


class WeightSizes(NamedTuple):
    """Weights of a model, in bytes.

    Attributes:
        embeddings: Part for the vocabulary at both ends; 0 if unknown.
        experts: Part for the experts; 0 without any.
        error: Error of the total.
    """

    total: int
    embeddings: int
    experts: int
    error: int


def bits_of(dtype: str) -> Decimal | None:
    """Return the bits per parameter of a data type, including scales; None for an unknown type."""
    return Decimal(_WIDE[dtype]) if dtype in _WIDE else _NARROW.get(dtype)


def weights_of(shape: Shape, dtype: str = "") -> WeightSizes | str:
    """Return the weights of a model, or a message if their size is unknown.

    Args:
        shape: The model.
        dtype: Type that weights are converted to on loading; empty without conversion.
    """
    stored = shape.dtype
    loaded = _loaded_as(stored, dtype)
    if loaded == stored and shape.weights_bytes is not None:
        return _split(shape, shape.weights_bytes, loaded, Decimal(0))
    parameters = shape.parameters
    if parameters is None:
        weights = "weights" if loaded == stored else f"weights as {loaded}"
        return f"neither the number of parameters nor the size of the {weights} is known"

    error = _ROUNDED_ERROR if shape.rounded else Decimal(0)
    if loaded in _WIDE:
        return _split(shape, parameters * _WIDE[loaded] // 8, loaded, error)
    bits = _NARROW.get(loaded)
    if bits is None:
        return f"the size of weights of type {loaded} is unknown" if loaded else "the type of the weights is unknown"
    if loaded in _EXPERTS_ONLY:
        if shape.expert_share is None:
            return f"the share of experts, the only weights in {loaded}, is unknown"
        narrow = parameters * shape.expert_share
    else:
        if shape.embeddings is None:
            return f"the size of the vocabulary, which stays at 16 bits beside {loaded}, is unknown"
        narrow = Decimal(parameters - shape.embeddings)
        error += _MIXED_ERROR if shape.experts and bits < _BYTE else _QUANTIZED_ERROR
    return _split(shape, math.ceil(narrow * bits / 8 + (parameters - narrow) * 2), loaded, error)


def rank_bytes(weights: WeightSizes, shape: Shape, parallel: Parallel, *, spread: bool) -> int:
    """Return the bytes of weights on the fullest rank.

    Tensor parallelism splits every matrix. Pipeline parallelism divides the layers; the fullest stage has the
    remainder and one end of the vocabulary. Data parallel ranks have copies, but share the experts with expert
    parallelism, or if the engine always does so (``spread``: vLLM, docs/serving/data_parallel_deployment: without
    expert parallelism, experts are cut over data x tensor ranks).
    """
    layers = sum(kind.count for kind in shape.layers) or parallel.pipeline
    stage = Decimal(-(-layers // parallel.pipeline)) / layers
    ends = weights.embeddings
    if parallel.pipeline > 1 and shape.vocabulary is not None and shape.hidden is not None:
        ends = min(ends, shape.vocabulary * shape.hidden * 2)

    dense = weights.total - weights.experts - weights.embeddings
    replicated = Decimal(0)
    if shape.replicated and shape.parameters is not None:
        parameters = shape.parameters * (1 - (shape.expert_share or Decimal(0))) - (shape.embeddings or 0)
        if parameters > 0:
            replicated = dense * min(Decimal(1), shape.replicated / parameters)

    if parallel.groups > 1:
        # Each group of ranks has the attention of its own requests, and the input embeddings.
        attention = min(dense - replicated, _attention_bytes(dense, shape))
        whole = attention / parallel.attention + (dense - replicated - attention) / parallel.tensor
        ends = ends // 2 * parallel.tensor + ends // 2
    else:
        whole = (dense - replicated) / parallel.tensor
    ranks = parallel.tensor * parallel.data
    if not parallel.experts:
        expert_part = Decimal(1) / (ranks if spread else parallel.tensor)
    else:
        experts = shape.experts or ranks
        expert_part = Decimal(-(-experts // ranks)) / experts
    size = (replicated + whole) * stage + Decimal(ends) / parallel.tensor
    return math.ceil(size + weights.experts * stage * expert_part)


def _attention_bytes(dense: int, shape: Shape) -> Decimal:
    """Return the bytes of attention among the weights that are neither experts nor embeddings.

    With experts, most of the rest is attention: 11.4 of the 15.3 billion parameters of DeepSeek-V3, whose shared
    experts have 2.6 and dense layers 1.2; 6.7 of 6.8 of Qwen3-235B-A22B. Otherwise it follows from the heads and the
    inner width.
    """
    if shape.experts:
        return dense * _ATTENTION_BESIDE_EXPERTS
    attention = network = Decimal(0)
    for kind in shape.layers:
        heads = (shape.heads or 0) * (kind.key_dim + (kind.value_dim or kind.key_dim))
        attention += kind.count * (heads + kind.kv_heads * (kind.key_dim + kind.value_dim))
        network += kind.count * 3 * (shape.intermediate or 0)
    return dense * attention / (attention + network) if attention else Decimal(0)


def shares_unknown_experts(case: MemoryCase) -> bool:
    """Return whether data parallel ranks share experts of unknown size."""
    shared = case.parallel.experts or case.budget.spreads_experts
    return bool(shared and case.parallel.data > 1 and case.shape.experts and not case.shape.expert_share)


def _loaded_as(stored: str, dtype: str) -> str:
    """Return the type of weights after loading: engines load 32-bit weights as 16-bit, and keep quantized ones.

    vLLM and SGLang, ``_resolve_auto_dtype`` and ``_get_and_verify_dtype``: "auto" is 16 bits for files of 32.
    """
    if not dtype or dtype == "auto":
        return "bfloat16" if stored == "float32" else stored
    if stored in _WIDE or not stored:
        same_size = dtype in _WIDE and _WIDE.get(dtype) == _WIDE.get(stored)
        return stored if same_size else dtype
    return stored


def _split(shape: Shape, total: int, dtype: str, error: Decimal) -> WeightSizes:
    wide = _WIDE.get(dtype, 16) // 8
    embeddings = min(total, (shape.embeddings or 0) * wide)
    experts = Decimal(0)
    if shape.expert_share and dtype in _EXPERTS_ONLY and shape.parameters:
        experts = shape.parameters * shape.expert_share * _NARROW[dtype] / 8
    elif shape.expert_share:
        rest = 1 - Decimal(shape.embeddings or 0) / shape.parameters if shape.parameters else Decimal(1)
        experts = (total - embeddings) * min(Decimal(1), shape.expert_share / rest)
    return WeightSizes(total, embeddings, min(total - embeddings, math.ceil(experts)), math.ceil(total * error))
