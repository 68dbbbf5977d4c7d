"""Why an engine would not start, whatever the memory: tensor parallelism has to cut a model evenly."""

import functools

from ..cases import MemoryCase
from ..shapes import Shape

_MOST = 64


def refusal(case: MemoryCase) -> str:
    """Return why tensor parallelism cannot cut a model, with the degrees that can; empty where it can."""
    tensor, shape, experts = case.parallel.tensor, case.shape, case.parallel.experts
    fault = _fault(shape, tensor, experts=experts) if case.budget.cuts else ""
    if not fault:
        return ""
    allowed = ", ".join(map(str, allowed_degrees(shape, experts=experts)))
    return f"{fault} cannot be divided over {tensor} accelerators; tensor parallelism may be {allowed}"


@functools.lru_cache(maxsize=1024)
def allowed_degrees(shape: Shape, *, experts: bool = False) -> tuple[int, ...]:
    """Return the degrees of tensor parallelism that can cut a model; expert parallelism does not cut ``experts``."""
    return tuple(tensor for tensor in range(1, _MOST + 1) if not _fault(shape, tensor, experts=experts))


def _fault(shape: Shape, tensor: int, *, experts: bool) -> str:
    """Return what of a model tensor parallelism cannot cut.

    vLLM, ``ModelConfig.verify_with_parallel_config``: the attention heads are divided (issues 2652, 4232, 11797);
    ``QKVParallelLinear``: heads of keys and values are divided, or each is kept by a whole number of ranks;
    ``Fp8LinearMethod`` and ``GPTQMarlinLinearMethod``: a part has whole blocks of weights that are scaled together.
    """
    if tensor == 1:
        return ""
    if shape.heads is not None and shape.heads % tensor:
        return f"the {shape.heads} attention heads of {shape.name}"
    for kind in shape.layers:
        if not kind.is_latent and kind.kv_heads and kind.kv_heads % tensor and tensor % kind.kv_heads:
            return f"the {kind.kv_heads} heads of keys and values of {shape.name}"
    whole = shape.intermediate if experts and shape.experts else None
    for width in shape.cuts:
        if width != whole and shape.block and (width % tensor or width // tensor % shape.block):
            return f"the width {width} of {shape.name}, which is quantized in blocks of {shape.block},"
    return ""
