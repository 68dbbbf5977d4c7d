"""The terms of a memory verdict, each with how it is calculated and where its figures come from."""

from collections.abc import Iterator
from typing import NamedTuple

from ...checks.memory.accelerators.devices import is_measured, visible_bytes
from ...checks.memory.arithmetic import ledger_of
from ...checks.memory.cases import MemoryCase, MemoryVerdict

_DEVICES = "components/checks/memory/accelerators/devices.yaml"


class Term(NamedTuple):
    """A term of the total, or what it is compared with.

    Attributes:
        size: Bytes on the fullest accelerator.
        counted: Whether it is part of the total.
    """

    name: str
    size: int
    how: str
    source: str
    counted: bool = True


def terms_of(verdict: MemoryVerdict) -> tuple[Term, ...]:
    """Return the terms of a verdict; none if nothing was judged."""
    return tuple(_terms(verdict, verdict.asked)) if verdict.asked else ()


def _terms(verdict: MemoryVerdict, case: MemoryCase) -> Iterator[Term]:
    shape, budget, engine = case.shape, case.budget, f"components/engines/{case.engine}/memory.yaml"
    origin = shape.source or shape.estimate or "the name of the model"
    share = budget.share if case.share is None else case.share
    part = "all" if share is None else f"{share} of"
    visible = visible_bytes(case.device, case.device_bytes)
    reported = "as reported by programs" if is_measured(case.device, case.device_bytes) else "as the cloud reports it"
    yield Term(
        "usable",
        verdict.usable,
        f"{part} {visible / 2**30:.2f} GiB of one {case.device}, {reported}, less what the engine takes outside",
        f"{_DEVICES}; {engine}",
        counted=False,
    )
    how = {
        "weights": f"{_weights(case)}, divided by {_degrees(case)}",
        "engine": "libraries, communication and graphs within the share",
        "activations": f"one step of {case.tokens_at_a_time(verdict.context):,} tokens, or sampling of "
        f"{case.requests or 1:,} requests",
    }
    for size in verdict.parts:
        is_cache = size.name.startswith(("cache", "states"))
        text = f"{verdict.context:,} tokens, {_cache(case)}" if is_cache else how.get(size.name, "")
        yield Term(size.name, size.size, text, engine if size.name in ("engine", "activations") else origin)
    if shape.span is not None:
        return
    for consumer in ledger_of(case).consumers(verdict.context):
        yield Term(
            consumer.name,
            consumer.most,
            f"at most, not part of the total; {max(0, consumer.left) / 2**30:.1f} GiB are left for it",
            engine,
            counted=False,
        )


def _weights(case: MemoryCase) -> str:
    shape = case.shape
    stored = case.weights_dtype or shape.dtype or "the types of the file"
    if shape.weights_bytes is not None and not case.weights_dtype:
        return f"the size of the files ({stored})"
    return f"{shape.parameters:,} parameters as {stored}" if shape.parameters else f"weights as {stored}"


def _cache(case: MemoryCase) -> str:
    kinds = [
        f"{kind.count} layers of {kind.kv_heads} x ({kind.key_dim} + {kind.value_dim})"
        + (f" within {kind.window:,} tokens" if kind.window else "")
        for kind in case.shape.layers
        if kind.kv_heads
    ]
    return f"{' and '.join(kinds) or 'fixed states'}, {case.cache_bytes} bytes each"


def _degrees(case: MemoryCase) -> str:
    parallel = case.parallel
    return f"{parallel.tensor} x {parallel.pipeline}" if parallel.pipeline > 1 else str(parallel.tensor)
