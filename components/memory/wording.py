"""Verdicts in words: one plain sentence each, with its numbers and what to do."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from .accelerators.devices import GIB
from .cases import CheaperType, MemoryCase, MemoryPart


def gib(size: int) -> str:
    """Return bytes in GiB with one decimal, and the unit."""
    return f"{in_gib(size)} GiB"


def in_gib(size: int) -> str:
    """Return bytes in GiB with one decimal."""
    return f"{Decimal(size) / GIB:.1f}"


def fitting(case: MemoryCase, parts: Sequence[MemoryPart], usable: int, margin: int) -> str:
    """Return that a model fits."""
    return f"{_needs(parts)} of the {gib(usable)} that it may use of {_one(case)}, which leaves {gib(margin)}"


def tight(case: MemoryCase, parts: Sequence[MemoryPart], usable: int, margin: int, error: int) -> str:
    """Return that a model fits, by less than servers were seen to differ."""
    left = f"{gib(margin)} left, and servers were seen to need up to {gib(error)} more"
    return f"{_needs(parts)} of the {gib(usable)} that it may use of {_one(case)}: {left}"


def exceeding(case: MemoryCase, parts: Sequence[MemoryPart], usable: int) -> str:
    """Return that a model does not fit."""
    over = sum(part.size for part in parts) - usable
    return f"{_needs(parts)}, {gib(over)} more than the {gib(usable)} that it may use of {_one(case)}"


def loading(case: MemoryCase, lacking: int) -> str:
    """Return that a model cannot be loaded."""
    lack = f"{gib(lacking)} more than {_one(case)} has"
    return f"quantizes its weights to {case.weights_dtype} once all are loaded as they are, which needs {lack}"


def next_step(context: int, largest: int, requests: int, types: Iterable[CheaperType]) -> str:
    """Return what to do about a model that does not fit.

    Args:
        context: Tokens of a request that were asked for.
        largest: Tokens of the longest one that fits.
        requests: With how many requests at once it would fit as well; 0 where that does not help.
        types: Instance types on which it would fit, cheapest first.
    """
    steps = []
    if requests:
        steps.append(f"lower the number of requests at once to {requests:,}")
    if 0 < largest < context:
        steps.append(f"lower the context to {largest:,} tokens")
    first = next(iter(types), None)
    if first is not None:
        steps.append(f"use {instances_of(first)}")
    return "; " + ", or ".join(steps) if steps else ""


def instances_of(choice: CheaperType) -> str:
    """Return how people name some instances: ``2 x p5.48xlarge (tensor parallelism 8, pipeline parallelism 2)``."""
    parallel, name = choice.parallel, choice.instance_type
    degrees = {"tensor": parallel.tensor, "pipeline": parallel.pipeline}
    shared = ", ".join(f"{kind} parallelism {degree}" for kind, degree in degrees.items() if degree > 1)
    return (name if choice.count == 1 else f"{choice.count} x {name}") + (f" ({shared})" if shared else "")


def _needs(parts: Sequence[MemoryPart]) -> str:
    each = ", ".join(f"{part.name} {gib(part.size)}" for part in parts)
    return f"needs {gib(sum(part.size for part in parts))} ({each})"


def _one(case: MemoryCase) -> str:
    number = case.parallel.accelerators
    return f"each of {number} {case.device}" if number > 1 else f"one {case.device}"
