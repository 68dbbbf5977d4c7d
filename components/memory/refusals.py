"""Why an engine would not start, whatever the memory: tensor parallelism has to cut a model evenly."""

from .cases import MemoryCase
from .shapes import Shape

_MOST = 64


def refusal(case: MemoryCase) -> str:
    """Return why tensor parallelism cannot cut a model, with the degrees that can; empty where it can."""
    tensor, shape = case.parallel.tensor, case.shape
    if not case.budget.cuts or cuts_evenly(shape, tensor):
        return ""
    allowed = ", ".join(map(str, allowed_degrees(shape)))
    return (
        f"{_fault(shape, tensor)} cannot be divided over {tensor} accelerators; tensor parallelism may be {allowed}"
    )


def cuts_evenly(shape: Shape, tensor: int) -> bool:
    """Tell whether tensor parallelism can cut a model."""
    return not _fault(shape, tensor)


def allowed_degrees(shape: Shape) -> tuple[int, ...]:
    """Return the degrees of tensor parallelism that can cut a model."""
    return tuple(tensor for tensor in range(1, _MOST + 1) if cuts_evenly(shape, tensor))


def _fault(shape: Shape, tensor: int) -> str:
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
    for width in shape.cuts:
        if shape.block and (width % tensor or width // tensor % shape.block):
            return f"the width {width} of {shape.name}, which is quantized in blocks of {shape.block},"
    return ""
