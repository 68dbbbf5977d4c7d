"""The size of a model's weights, and the part of them on the fullest rank.

The size of the files is preferred; otherwise it is computed from the number of parameters and their data type.
Quantization leaves the vocabulary at 16 bits, and MXFP4 everything but the experts (Qwen3-8B-AWQ: 5.68 GiB for 8.19
billion parameters; OCP Microscaling Formats 1.0: a scale of 8 bits per block of 32 numbers of 4 bits).
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from .cases import MemoryCase, Parallel
from .shapes import Shape

_WIDE = {"bfloat16": 16, "float16": 16, "float32": 32, "half": 16, "float": 32}
"""Bits per weight of unquantized types, which apply to all weights of a model."""
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
"""Bits per weight of quantized types, including scales; they apply to quantized layers only."""
_EXPERTS_ONLY = frozenset({"mxfp4"})
_BYTE = 8
_QUANTIZED_ERROR = Decimal("0.025")
"""Files of quantized models are up to 2.5 % larger than computed (DeepSeek-V3.2)."""
_MIXED_ERROR = Decimal("0.12")
"""In models with experts, often only the experts have four bits: Kimi-K2.6 is 10.9 % larger than computed."""
_ROUNDED_ERROR = Decimal("0.15")
"""Names of models round down: Qwen3-VL-4B has 4.44 billion parameters, MiMo-7B 7.83."""


@dataclass(frozen=True, slots=True)
class WeightSizes:
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
    kept = shape.dtype
    loaded = _loaded_as(kept, dtype)
    if loaded == kept and shape.weights_bytes is not None:
        return _split(shape, shape.weights_bytes, loaded, Decimal(0))
    if shape.parameters is None:
        weights = "weights" if loaded == kept else f"weights as {loaded}"
        return f"neither the number of parameters nor the size of the {weights} is known"
    size = _computed(shape, loaded)
    if isinstance(size, str):
        return size
    return _split(shape, size, loaded, _error(shape, loaded))


def rank_bytes(weights: WeightSizes, shape: Shape, parallel: Parallel, *, spread: bool) -> int:
    """Return the bytes of weights on the fullest rank.

    Tensor parallelism splits every matrix. Pipeline parallelism divides the layers; the fullest stage has the
    remainder and one end of the vocabulary. Data parallel ranks have copies, but share the experts with expert
    parallelism, or if the engine always does so (``spread``: vLLM, docs/serving/data_parallel_deployment: without
    expert parallelism, experts are cut over data x tensor ranks).
    """
    layers = sum(kind.count for kind in shape.layers) or parallel.pipeline
    stage = Decimal(-(-layers // parallel.pipeline)) / layers
    ends = weights.embeddings if parallel.pipeline == 1 else _one_end(weights, shape)
    dense = weights.total - weights.experts - weights.embeddings
    whole = dense * _whole_part(shape)
    size = whole * stage + ((dense - whole) * stage + ends) / parallel.tensor
    return _up(size + weights.experts * stage * _expert_part(shape, parallel, spread=spread))


def _whole_part(shape: Shape) -> Decimal:
    """Return the fraction of the weights other than vocabulary and experts that each rank keeps whole."""
    if not shape.replicated or shape.parameters is None:
        return Decimal(0)
    dense = shape.parameters * (1 - (shape.expert_share or Decimal(0))) - (shape.embeddings or 0)
    return min(Decimal(1), shape.replicated / dense) if dense > 0 else Decimal(0)


def shares_unknown_experts(case: MemoryCase) -> bool:
    """Tell whether data parallel ranks share experts of unknown size."""
    shared = case.parallel.experts or case.budget.spreads_experts
    return bool(shared and case.parallel.data > 1 and case.shape.experts and not case.shape.expert_share)


def _expert_part(shape: Shape, parallel: Parallel, *, spread: bool) -> Decimal:
    if not parallel.experts:
        return Decimal(1) / (parallel.tensor * (parallel.data if spread else 1))
    ranks = parallel.tensor * parallel.data
    experts = shape.experts or ranks
    return Decimal(-(-experts // ranks)) / experts


def _error(shape: Shape, dtype: str) -> Decimal:
    """Return the relative error of a computed size."""
    number = _ROUNDED_ERROR if shape.rounded else Decimal(0)
    if dtype in _WIDE or dtype in _EXPERTS_ONLY:
        return number
    return number + (_MIXED_ERROR if shape.experts and _NARROW[dtype] < _BYTE else _QUANTIZED_ERROR)


def _one_end(weights: WeightSizes, shape: Shape) -> int:
    if shape.vocabulary is None or shape.hidden is None:
        return weights.embeddings
    return min(weights.embeddings, shape.vocabulary * shape.hidden * 2)


def _loaded_as(kept: str, dtype: str) -> str:
    """Return the type of weights after loading: engines load 32-bit weights as 16-bit, and keep quantized ones.

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
        return f"the size of weights of type {dtype} is unknown" if dtype else "the type of the weights is unknown"
    if dtype in _EXPERTS_ONLY:
        if shape.expert_share is None:
            return f"the share of experts, the only weights in {dtype}, is unknown"
        narrow = parameters * shape.expert_share
    else:
        if shape.embeddings is None:
            return f"the size of the vocabulary, which stays at 16 bits beside {dtype}, is unknown"
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
