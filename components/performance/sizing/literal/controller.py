"""Upstream's controller around the model (WVA spec 8.7, 8.9): numbers as text in the status, and its choice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..cases import Case, Sized
from .queue import Single

_PENALTY = Single(0.1)


def status_text(figure: float) -> str:
    """Format a figure as in the status: its float32 with two decimals."""
    return f"{_single(figure):.2f}"


def as_read_back(case: Case) -> Case:
    """Return a case as upstream's model receives it: rate and tokens come from the status, rounded."""
    rate, tokens = (float(Single(status_text(figure))) for figure in (case.per_minute, case.output_tokens))
    return replace(case, per_minute=rate, output_tokens=tokens)


def cost_text(replicas: int, cents_per_hour: float) -> str:
    """Format the cost of a variant as in the status, where upstream omits the number of accelerators of a replica."""
    return status_text(replicas * _single(cents_per_hour))


def _single(figure: float) -> float:
    """Round to float32; infinities and NaN become 0."""
    rounded = float(Single(figure))
    return rounded if math.isfinite(rounded) else 0.0


@dataclass(frozen=True, slots=True)
class Current:
    """The current allocation of a variant: the accelerator in its label, and replicas and cost in its status."""

    accelerator: str = ""
    replicas: int = 0
    cents_per_hour: float = 0.0


def value(current: Current, sized: Sized) -> float:
    """Return the additional cost over the current allocation, with a penalty for another accelerator."""
    new, old = Single(sized.cents_per_hour), Single(current.cents_per_hour)
    if current.accelerator != sized.case.profile.accelerator:
        return float(_PENALTY * (old + new) + (new - old))
    return 0.0 if current.replicas == sized.replicas else float(new - old)


def chosen(sized: Sequence[Sized], current: Current, *, keep: bool = True) -> Sized | None:
    """Return the allocation that upstream chooses for a variant; None if no allocation meets the targets.

    Upstream's controller always keeps the accelerator; its library alone (``keep=False``) chooses the lowest value.
    Ties are broken by map order there, which is random, and by name here.
    """
    possible = [result for result in sized if result.is_feasible]
    if keep and current.accelerator:
        possible = [result for result in possible if result.case.profile.accelerator == current.accelerator]
    return min(possible, key=lambda result: (value(current, result), result.case.profile.accelerator), default=None)
