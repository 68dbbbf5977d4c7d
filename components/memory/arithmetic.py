"""Whether a model fits its accelerators: what it needs of the fullest one, against what the engine may use."""

import functools
from decimal import Decimal

from .cache import sequence_bytes
from .cases import Fit, MemoryCase, MemoryPart, MemoryVerdict

GIB = 2**30
_BYTES = {"bfloat16": Decimal(2), "float16": Decimal(2), "float32": Decimal(4), "fp8": Decimal(1), "int8": Decimal(1)}


@functools.lru_cache(maxsize=4096)
def judge(case: MemoryCase, *, types: bool = True) -> MemoryVerdict:  # noqa: ARG001
    """Return whether a model fits; with ``types`` also where else it would.

    Nothing is guessed: what is not known makes it "not checked".
    """
    weights = _weights(case)
    context = case.context or case.shape.max_context
    if weights is None:
        return MemoryVerdict(Fit.UNKNOWN, f"the size of the weights of {case.shape.name} is not known", case)
    if not case.shape.layers or context is None:
        return MemoryVerdict(Fit.UNKNOWN, f"the layers of {case.shape.name} are not known", case)
    cards = case.parallel.tensor * case.parallel.pipeline
    share = case.share or case.budget.share or Decimal(1)
    usable = int(case.device_bytes * share)
    weights_part = -(-weights // cards)
    fixed = case.budget.fixed_bytes + int(case.budget.weights_share * weights_part)
    one = sequence_bytes(case.shape.layers, context, case.parallel, case.cache_bytes)
    left = usable - weights_part - fixed
    fits = one <= left
    per_token = sequence_bytes(case.shape.layers, 1, case.parallel, case.cache_bytes)
    parts = (
        MemoryPart("weights", weights_part),
        MemoryPart("cache of one request", one),
        MemoryPart("engine", fixed),
    )
    return MemoryVerdict(
        fit=Fit.FITS if fits else Fit.EXCEEDED,
        reason=f"needs {gib(sum(part.size for part in parts))} GiB of {gib(usable)} GiB",
        asked=case,
        parts=parts,
        usable=usable,
        context=context,
        sequences=max(left, 0) // one if one else 0,
        largest_context=max(left, 0) // per_token if per_token else 0,
    )


def gib(size: int) -> str:
    """Return bytes in GiB with one decimal."""
    return f"{Decimal(size) / GIB:.1f}"


def _weights(case: MemoryCase) -> int | None:
    shape = case.shape
    if shape.weights_bytes is not None:
        return shape.weights_bytes
    number = _BYTES.get(shape.dtype)
    return None if shape.parameters is None or number is None else int(shape.parameters * number)
