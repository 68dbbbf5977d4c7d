"""Degrees of tensor parallelism that an engine rejects: it must divide a model evenly."""

import functools

from ....engines.flags.tables import flags_of
from ....engines.registry import engines
from ....engines.settings import Setting
from ..cases import MemoryCase
from ..shapes import Shape

_MAX_DEGREE = 64
_GROUPED, _OF_GROUPS, _GROUP = "int4", "gptq", 128


def refusal(case: MemoryCase) -> str:
    """Return why the engine would reject the degree of tensor parallelism, with the valid ones; otherwise empty."""
    tensor, shape, experts = case.parallel.tensor, case.shape, case.parallel.experts
    if case.parallel.groups > 1:
        # Each group divides the heads, and all ranks together the rest.
        return ""
    indivisible = _indivisible(shape, tensor, experts=experts) if case.budget.cuts else ""
    if not indivisible:
        return ""
    allowed = ", ".join(map(str, allowed_degrees(shape, experts=experts)))
    return f"{indivisible} cannot be divided across {tensor} accelerators; set tensor parallelism to one of {allowed}"


def doubtful_division(case: MemoryCase) -> str:
    """Return why it is not known whether an engine can divide a quantized model; empty if it is known.

    AWQ and GPTQ have a scale for 128 numbers of a row, and the kernels of both take whole groups of them. Some
    repositories pad the widths of the model for that, and some do not (vLLM issue 13640).
    """
    tensor, shape = case.parallel.tensor, case.shape
    width = shape.intermediate or 0
    is_grouped = shape.dtype == _GROUPED or (not shape.dtype and _OF_GROUPS in shape.name.lower())
    if tensor == 1 or not case.budget.cuts or not shape.estimate or not is_grouped or shape.experts:
        return ""
    if width % (tensor * _GROUP) == 0:
        return ""
    return (
        f"the width {width} of {shape.name} is quantized in groups of {_GROUP}, which cannot be divided across "
        f"{tensor} accelerators, unless the repository pads it"
    )


def expert_parallel_flag(case: MemoryCase) -> str:
    """Return the argument that distributes whole experts over all ranks; empty if the release has none."""
    engine, table = engines().get(case.engine), flags_of(case.engine)
    name = engine.flag(Setting.EXPERT_PARALLEL) if engine else None
    flag = table.find(name) if table and name else None
    version = engine.version(case.tag) if engine else None
    if flag is None or not flag.span.includes(version):
        return ""
    return f"{flag.name} {case.parallel.tensor}" if flag.form_in(version).takes_value else flag.name


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
