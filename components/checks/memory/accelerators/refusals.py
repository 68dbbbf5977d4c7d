"""Degrees of tensor parallelism that an engine rejects: it must divide a model evenly."""

import functools

from ..cases import MemoryCase
from ..shapes import Shape

_MAX_DEGREE = 64


def refusal(case: MemoryCase) -> str:
    """Return why the engine would reject the degree of tensor parallelism, with the valid ones; otherwise empty."""
    tensor, shape, experts = case.parallel.tensor, case.shape, case.parallel.experts
    indivisible = _indivisible(shape, tensor, experts=experts) if case.budget.cuts else ""
    if not indivisible:
        return ""
    allowed = ", ".join(map(str, allowed_degrees(shape, experts=experts)))
    return f"{indivisible} cannot be divided across {tensor} accelerators; set tensor parallelism to one of {allowed}"


@functools.lru_cache(maxsize=1024)
def allowed_degrees(shape: Shape, *, experts: bool = False) -> tuple[int, ...]:
    """Return the valid degrees of tensor parallelism; with expert parallelism (``experts``), experts stay whole."""
    return tuple(tensor for tensor in range(1, _MAX_DEGREE + 1) if not _indivisible(shape, tensor, experts=experts))


def _indivisible(shape: Shape, tensor: int, *, experts: bool) -> str:
    """Name the part of a model that tensor parallelism cannot divide; empty if it divides everything.

    vLLM, ``ModelConfig.verify_with_parallel_config``: the attention heads are divided (issues 2652, 4232, 11797);
    ``QKVParallelLinear``: key-value heads are divided, or each is replicated on a whole number of ranks;
    ``Fp8LinearMethod`` and ``GPTQMarlinLinearMethod``: each part consists of whole quantization blocks.
    """
    if tensor == 1:
        return ""
    if shape.heads is not None and shape.heads % tensor:
        return f"the {shape.heads} attention heads of {shape.name}"
    for kind in shape.layers:
        if not kind.is_latent and kind.kv_heads and kind.kv_heads % tensor and tensor % kind.kv_heads:
            return f"the {kind.kv_heads} key-value heads of {shape.name}"
    whole = shape.intermediate if experts and shape.experts else None
    for width in shape.cuts:
        if width != whole and shape.block and (width % tensor or width // tensor % shape.block):
            return f"the width {width} of {shape.name}, quantized in blocks of {shape.block},"
    return ""
