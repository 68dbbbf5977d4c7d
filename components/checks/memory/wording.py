"""Verdicts as messages: the figures first, then the next steps."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from ...contract.quantity import GIB
from .cases import CheaperType, MemoryCase, MemoryPart, Parallel
from .ledger import Uncounted


def gib(size: int) -> str:
    """Format bytes as GiB with one decimal, such as ``15.0 GiB``."""
    return f"{in_gib(size)} GiB"


def in_gib(size: int) -> str:
    """Format bytes as GiB with one decimal, without the unit."""
    return f"{Decimal(size) / GIB:.1f}"


def fitting(case: MemoryCase, parts: Sequence[MemoryPart], usable: int, margin: int) -> str:
    return f"needs {_total(parts)} of {_usable(case, usable)}, leaving {gib(margin)}"


def tight(case: MemoryCase, parts: Sequence[MemoryPart], usable: int, margin: int, error: int) -> str:
    """Describe a model that fits, but with less left than measured servers deviated from the estimate."""
    left = f"leaving {gib(margin)}, but measured servers needed up to {gib(error)} more"
    return f"needs {_total(parts)} of {_usable(case, usable)}, {left}"


def exceeding(case: MemoryCase, parts: Sequence[MemoryPart], usable: int) -> str:
    over = sum(part.size for part in parts) - usable
    return f"needs {_total(parts)}, {gib(over)} more than {_usable(case, usable)}"


def beside(case: MemoryCase, needed: int, left: int) -> str:
    """Describe a share that leaves too little for what is computed outside of it."""
    share = case.budget.share if case.share is None else case.share
    room = gib(max(0, needed + left))
    return (
        f"a memory share of {share} leaves {room} of {_device(case)} beside weights and cache, where activations, "
        f"graphs and tables of requests take at least {gib(needed)}"
    )


def uncounted(case: MemoryCase, parts: Sequence[MemoryPart], usable: int, consumers: Sequence[Uncounted]) -> str:
    """Describe a model that fits only if consumers outside the total stay small."""
    risks = [
        f"{item.name} can take up to {gib(item.most)}, and only {gib(max(0, item.left))} are left"
        for item in consumers
    ]
    return f"needs {_total(parts)} of {_usable(case, usable)}, but {' and '.join(risks)}"


def perhaps(case: MemoryCase, parts: Sequence[MemoryPart], usable: int) -> str:
    """Describe a model that may not fit at the upper end of an estimate."""
    return f"needs at most {_total(parts)} of {_usable(case, usable)}, and may not fit"


def estimated(case: MemoryCase) -> str:
    """Name what a verdict is estimated from, as the beginning of a sentence."""
    span = case.shape.span
    if span is None:
        return f"estimated from {case.shape.estimate}"
    least, most = int(span.least_bits), int(span.most_bits)
    bits = f"{least}" if least == most else f"{least} to {most}"
    return f"estimated from {case.shape.estimate} at {bits} bits each"


def loading(case: MemoryCase, lacking: int) -> str:
    """Describe weights that fit once quantized, but not as they are loaded."""
    return (
        f"loads all weights before quantizing them to {case.weights_dtype}, which needs {gib(lacking)} more than "
        f"{_device(case)} has"
    )


class Remedies(NamedTuple):
    """Remedies for a model that does not fit.

    Attributes:
        spread: Parallelism over the accelerators that a replica has; None if that does not help.
        more: Parallelism over more accelerators of the same nodes; None if that does not help.
        context: Tokens of the longest request that fits.
        requests: Number of concurrent requests with which it fits; 0 if fewer do not help.
        types: Instance types on which it fits, cheapest first.
        share: Smaller memory share that leaves room for the rest; None if that does not help.
        no_videos: How to turn videos off; empty if that does not help.
    """

    spread: Parallel | None = None
    more: Parallel | None = None
    context: int = 0
    requests: int = 0
    types: tuple[CheaperType, ...] = ()
    share: Decimal | None = None
    no_videos: str = ""


def next_step(case: MemoryCase, remedies: Remedies) -> str:
    """List the remedies, those without extra cost first; empty without any."""
    steps = []
    if remedies.spread and case.spread:
        parallel = remedies.spread
        step = case.spread.both if parallel.pipeline > 1 and case.spread.both else case.spread.tensor
        step = step.replace("{tensor}", str(parallel.tensor)).replace("{pipeline}", str(parallel.pipeline))
        steps.append(step)
    elif remedies.more:
        degrees = _degrees(remedies.more)
        steps.append(f"give each replica {remedies.more.accelerators} accelerators of {case.instance_type}{degrees}")
    if remedies.no_videos:
        steps.append(remedies.no_videos)
    if remedies.share is not None:
        steps.append(f"lower the engine's memory share to {remedies.share}")
    if remedies.requests:
        steps.append(f"lower the number of concurrent requests to {remedies.requests:,}")
    if 0 < remedies.context < (case.length or 0):
        steps.append(f"lower the context to {remedies.context:,} tokens")
    # One node of the current type is not a remedy.
    others = (choice for choice in remedies.types if choice.instance_type != case.instance_type or choice.count > 1)
    cheapest = next(others, None)
    # A smaller share costs nothing, and what is left beside one of nearly all memory grows little with the memory.
    if cheapest is not None and remedies.share is None:
        is_fewer = cheapest.count == 1 == cheapest.parallel.accelerators < case.per_pod
        steps.append(f"use {instances_of(cheapest)}" + (" (1 accelerator)" if is_fewer else ""))
    return "; " + ", or ".join(steps) if steps else ""


def instances_of(choice: CheaperType) -> str:
    """Format instances, such as ``2 x p5.48xlarge (tensor parallelism 8, pipeline parallelism 2)``."""
    name = choice.instance_type
    return (name if choice.count == 1 else f"{choice.count} x {name}") + _degrees(choice.parallel)


def _degrees(parallel: Parallel) -> str:
    degrees = {"tensor": parallel.tensor, "pipeline": parallel.pipeline}
    shared = ", ".join(f"{kind} parallelism {degree}" for kind, degree in degrees.items() if degree > 1)
    return f" ({shared})" if shared else ""


def _total(parts: Sequence[MemoryPart]) -> str:
    details = ", ".join(f"{part.name} {gib(part.size)}" for part in parts)
    return f"{gib(sum(part.size for part in parts))} ({details})"


def _usable(case: MemoryCase, usable: int) -> str:
    return f"the {gib(usable)} usable on {_device(case)}"


def _device(case: MemoryCase) -> str:
    number = case.parallel.accelerators
    return f"each of {number} {case.device}" if number > 1 else f"one {case.device}"
