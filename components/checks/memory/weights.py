"""How large the weights are, and what the fullest rank has of them.

Files tell it best. Without, it is the number of parameters times what their type takes. Quantization leaves the
vocabulary at 16 bits, and MXFP4 everything but the experts (Qwen3-8B-AWQ: 5.68 GiB for 8.19 billion parameters; OCP
Microscaling Formats 1.0: a scale of 8 bits per block of 32 numbers of 4 bits).
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from .cases import MemoryCase, Parallel
from .shapes import Shape

_WIDE = {"bfloat16": 16, "float16": 16, "float32": 32, "half": 16, "float": 32}
"""Bits of a number in types that all weights of a model have."""
_NARROW = {
    "fp8": Decimal(8),
    "int8": Decimal(8),
    "nvfp4": Decimal("4.5"),
    "mxfp4": Decimal("4.25"),
    # Scales of 16 bits and zeros of 4 per group of 128 (AWQ, GPTQ); 32-bit scales per block of 64 (bitsandbytes).
    "int4": Decimal(4) + Decimal(20) / 128,
    "int4-awq": Decimal(4) + Decimal(20) / 128,
    "int4-gptq": Decimal(4) + Decimal(20) / 128,
    "bitsandbytes": Decimal("4.5"),
}
"""Bits of a number with its part of the scales, in types that quantized layers have."""
_EXPERTS_ONLY = frozenset({"mxfp4"})
_BYTE = 8
_PART_KNOWN = Decimal("0.025")
"""Files of quantized models have up to 2.5 % more than the sum (DeepSeek-V3.2)."""
_PART_MIXED = Decimal("0.12")
"""Of models with experts often these alone have four bits: Kimi-K2.6 has 10.9 % more than the sum."""
_PART_ROUNDED = Decimal("0.15")
"""Names of models round down: Qwen3-VL-4B has 4.44 billion parameters, MiMo-7B 7.83."""


@dataclass(frozen=True, slots=True)
class WeightSizes:
    """Weights of a model, in bytes.

    Attributes:
        embeddings: Of them the vocabulary at both ends; 0 where it is not known.
        experts: Of them the experts; 0 without any.
        error: By how much the whole may be wrong.
    """

    total: int
    embeddings: int
    experts: int
    error: int


def bits_of(dtype: str) -> Decimal | None:
    """Return the bits per parameter of a data type, including scales; None for an unknown type."""
    return Decimal(_WIDE[dtype]) if dtype in _WIDE else _NARROW.get(dtype)


def weights_of(shape: Shape, dtype: str = "") -> WeightSizes | str:
    """Return the weights of a model that is loaded as a type, or what is not known of them.

    Args:
        shape: The model.
        dtype: What weights are converted to when they are loaded; empty where they stay as they are.
    """
    kept = shape.dtype
    loaded = _loaded_as(kept, dtype)
    if loaded == kept and shape.weights_bytes is not None:
        return _split(shape, shape.weights_bytes, loaded, Decimal(0))
    if shape.parameters is None:
        what = "weights" if loaded == kept else f"weights as {loaded}"
        return f"neither the number of parameters nor the size of the {what} is known"
    size = _computed(shape, loaded)
    if isinstance(size, str):
        return size
    return _split(shape, size, loaded, _error(shape, loaded))


def rank_bytes(weights: WeightSizes, shape: Shape, parallel: Parallel, *, spread: bool) -> int:
    """Return what the fullest rank has of the weights, in bytes.

    Tensor parallelism cuts every matrix, pipeline parallelism divides the layers, of which the fullest stage has the
    remainder and one end of the vocabulary. Data parallel ranks have copies; but they share the experts with expert
    parallelism, or where the engine does so anyway (vLLM, docs/serving/data_parallel_deployment: without it, experts
    are cut over data x tensor ranks).
    """
    layers = sum(kind.count for kind in shape.layers) or parallel.pipeline
    stage = Decimal(-(-layers // parallel.pipeline)) / layers
    ends = weights.embeddings if parallel.pipeline == 1 else _one_end(weights, shape)
    dense = weights.total - weights.experts - weights.embeddings
    whole = dense * _whole_part(shape)
    size = whole * stage + ((dense - whole) * stage + ends) / parallel.tensor
    return _up(size + weights.experts * stage * _expert_part(shape, parallel, spread=spread))


def _whole_part(shape: Shape) -> Decimal:
    """Return which part of what is neither vocabulary nor experts each rank keeps whole."""
    if not shape.replicated or shape.parameters is None:
        return Decimal(0)
    dense = shape.parameters * (1 - (shape.expert_share or Decimal(0))) - (shape.embeddings or 0)
    return min(Decimal(1), shape.replicated / dense) if dense > 0 else Decimal(0)


def shares_unknown_experts(case: MemoryCase) -> bool:
    """Tell whether data parallel ranks share experts of which no source says how large they are."""
    shared = case.parallel.experts or case.budget.spreads_experts
    return bool(shared and case.parallel.data > 1 and case.shape.experts and not case.shape.expert_share)


def _expert_part(shape: Shape, parallel: Parallel, *, spread: bool) -> Decimal:
    if not parallel.experts:
        return Decimal(1) / (parallel.tensor * (parallel.data if spread else 1))
    ranks = parallel.tensor * parallel.data
    experts = shape.experts or ranks
    return Decimal(-(-experts // ranks)) / experts


def _error(shape: Shape, dtype: str) -> Decimal:
    """Return by which part the sum may be wrong."""
    number = _PART_ROUNDED if shape.rounded else Decimal(0)
    if dtype in _WIDE or dtype in _EXPERTS_ONLY:
        return number
    return number + (_PART_MIXED if shape.experts and _NARROW[dtype] < _BYTE else _PART_KNOWN)


def _one_end(weights: WeightSizes, shape: Shape) -> int:
    if shape.vocabulary is None or shape.hidden is None:
        return weights.embeddings
    return min(weights.embeddings, shape.vocabulary * shape.hidden * 2)


def _loaded_as(kept: str, dtype: str) -> str:
    """Return what weights are after loading: engines load numbers of 32 bits as 16, and keep what is quantized.

    vLLM and SGLang, ``_resolve_auto_dtype`` and ``_get_and_verify_dtype``: "auto" is 16 bits for files of 32.
    """
    if not dtype or dtype == "auto":
        return "bfloat16" if kept == "float32" else kept
    if kept in _WIDE or not kept:
        same = _WIDE.get(dtype) == _WIDE.get(kept) and dtype in _WIDE
        return kept if same else dtype
    return kept


def _computed(shape: Shape, dtype: str) -> int | str:
    parameters = shape.parameters or 0
    if dtype in _WIDE:
        return parameters * _WIDE[dtype] // 8
    bits = _NARROW.get(dtype)
    if bits is None:
        return f"what weights of the type {dtype or 'that no source says'} take is not known"
    if dtype in _EXPERTS_ONLY:
        if shape.expert_share is None:
            return f"which part of the parameters are experts, which alone are {dtype}, is not known"
        narrow = parameters * shape.expert_share
    else:
        if shape.embeddings is None:
            return f"how large the vocabulary is, which stays at 16 bits beside {dtype}, is not known"
        narrow = Decimal(parameters - shape.embeddings)
    return _up(narrow * bits / 8 + (parameters - narrow) * 2)


def _split(shape: Shape, total: int, dtype: str, error: Decimal) -> WeightSizes:
    wide = _WIDE.get(dtype, 16) // 8
    embeddings = min(total, (shape.embeddings or 0) * wide)
    experts = min(total - embeddings, _up(_expert_bytes(shape, total, embeddings, dtype)))
    return WeightSizes(total, embeddings, experts, _up(total * error))


def _expert_bytes(shape: Shape, total: int, embeddings: int, dtype: str) -> Decimal:
    if not shape.expert_share:
        return Decimal(0)
    if dtype in _EXPERTS_ONLY and shape.parameters:
        return shape.parameters * shape.expert_share * _NARROW[dtype] / 8
    rest = 1 - Decimal(shape.embeddings or 0) / shape.parameters if shape.parameters else Decimal(1)
    return (total - embeddings) * min(Decimal(1), shape.expert_share / rest)


def _up(size: Decimal) -> int:
    return int(size.to_integral_value(ROUND_CEILING))
