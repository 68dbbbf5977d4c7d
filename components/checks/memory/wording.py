"""Verdicts in words: one plain sentence each, with its numbers and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.workloads import SpreadField
from .accelerators.devices import GIB
from .cases import CheaperType, MemoryCase, MemoryPart, Parallel
from .ledger import Uncounted


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


def uncounted(case: MemoryCase, parts: Sequence[MemoryPart], usable: int, found: Sequence[Uncounted]) -> str:
    """Describe a model that fits without the consumers of memory that are not counted."""
    each = [f"{part.name} may take up to {gib(part.most)}, and {gib(max(0, part.left))} are left" for part in found]
    return f"{_needs(parts)} of the {gib(usable)} that it may use of {_one(case)}, but {' and '.join(each)}"


def perhaps(case: MemoryCase, parts: Sequence[MemoryPart], usable: int) -> str:
    """Describe a model that may not fit at the upper end of an estimate."""
    return f"{_needs(parts)} at most of the {gib(usable)} that it may use of {_one(case)}, and perhaps does not fit"


def estimated(case: MemoryCase) -> str:
    """Describe what a verdict is estimated from."""
    span = case.shape.span
    if span is None:
        return f"by an estimate from {case.shape.estimate}"
    least, most = int(span.least_bits), int(span.most_bits)
    bits = f"{least}" if least == most else f"{least} to {most}"
    return f"by an estimate from {case.shape.estimate}, of {bits} bits each"


def loading(case: MemoryCase, lacking: int) -> str:
    """Return that a model cannot be loaded."""
    lack = f"{gib(lacking)} more than {_one(case)} has"
    return f"quantizes its weights to {case.weights_dtype} once all are loaded as they are, which needs {lack}"


@dataclass(frozen=True, slots=True)
class Remedies:
    """Remedies for a model that does not fit.

    Attributes:
        spread: Parallelism over the accelerators that a replica has; None if that does not help.
        more: Parallelism over more accelerators of the same nodes; None if that does not help.
        context: Tokens of the longest request that fits.
        requests: With how many requests at once it would fit as well; 0 where that does not help.
        types: Instance types on which it would fit, cheapest first.
        share: Lower share of the memory that leaves room for the rest; None if that does not help.
    """

    spread: Parallel | None = None
    more: Parallel | None = None
    context: int = 0
    requests: int = 0
    types: tuple[CheaperType, ...] = ()
    share: Decimal | None = None


def next_step(case: MemoryCase, remedies: Remedies) -> str:
    """Return what to do about a model that does not fit, free remedies first."""
    steps = []
    if remedies.spread and case.spread:
        steps.append(_spreading(case.spread, remedies.spread))
    elif remedies.more:
        degrees = _degrees(remedies.more)
        steps.append(f"give each replica {remedies.more.accelerators} accelerators of {case.instance_type}{degrees}")
    if remedies.share is not None:
        steps.append(f"lower the share of the memory that the engine may use to {remedies.share}")
    if remedies.requests:
        steps.append(f"lower the number of requests at once to {remedies.requests:,}")
    if 0 < remedies.context < (case.length or 0):
        steps.append(f"lower the context to {remedies.context:,} tokens")
    # Nodes of the present type are no remedy.
    others = (each for each in remedies.types if each.instance_type != case.instance_type or each.count > 1)
    first = next(others, None)
    if first is not None:
        steps.append(f"use {instances_of(first)}")
    return "; " + ", or ".join(steps) if steps else ""


def _spreading(field: SpreadField, parallel: Parallel) -> str:
    text = field.both if parallel.pipeline > 1 and field.both else field.tensor
    return text.replace("{tensor}", str(parallel.tensor)).replace("{pipeline}", str(parallel.pipeline))


def instances_of(choice: CheaperType) -> str:
    """Return how people name some instances: ``2 x p5.48xlarge (tensor parallelism 8, pipeline parallelism 2)``."""
    name = choice.instance_type
    return (name if choice.count == 1 else f"{choice.count} x {name}") + _degrees(choice.parallel)


def _degrees(parallel: Parallel) -> str:
    degrees = {"tensor": parallel.tensor, "pipeline": parallel.pipeline}
    shared = ", ".join(f"{kind} parallelism {degree}" for kind, degree in degrees.items() if degree > 1)
    return f" ({shared})" if shared else ""


def _needs(parts: Sequence[MemoryPart]) -> str:
    each = ", ".join(f"{part.name} {gib(part.size)}" for part in parts)
    return f"needs {gib(sum(part.size for part in parts))} ({each})"


def _one(case: MemoryCase) -> str:
    number = case.parallel.accelerators
    return f"each of {number} {case.device}" if number > 1 else f"one {case.device}"
