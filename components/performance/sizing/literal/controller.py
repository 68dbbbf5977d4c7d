"""What upstream's controller does around the model (WVA spec 8.7, 8.9): texts with two decimals, and its choice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..cases import Case, Sized
from .queue import Single

_PENALTY = Single(0.1)


def status_text(figure: float) -> str:
    """Write a figure as the status has it: two decimals of its float32."""
    return f"{_single(figure):.2f}"


def as_read_back(case: Case) -> Case:
    """Return a case as the model gets it: rate and tokens were texts of the status in between."""
    rate, tokens = (float(Single(status_text(figure))) for figure in (case.per_minute, case.output_tokens))
    return replace(case, per_minute=rate, output_tokens=tokens)


def cost_text(replicas: int, cents_per_hour: float) -> str:
    """Return what a variant costs, as the status has it: without the number of accelerators of a replica."""
    return status_text(replicas * _single(cents_per_hour))


def _single(figure: float) -> float:
    """Round to float32; what is no number then counts as 0."""
    rounded = float(Single(figure))
    return rounded if math.isfinite(rounded) else 0.0


@dataclass(frozen=True, slots=True)
class Current:
    """What a variant has: an accelerator by its label, replicas, and what they cost by its status."""

    accelerator: str = ""
    replicas: int = 0
    cents_per_hour: float = 0.0


def value(current: Current, sized: Sized) -> float:
    """Return what an allocation costs more than the current one, and a penalty for another accelerator."""
    there, here = Single(sized.cents_per_hour), Single(current.cents_per_hour)
    if current.accelerator != sized.case.profile.accelerator:
        return float(_PENALTY * (here + there) + (there - here))
    return 0.0 if current.replicas == sized.replicas else float(there - here)


def chosen(sized: Sequence[Sized], current: Current, *, keep: bool = True) -> Sized | None:
    """Return what upstream takes of the possible allocations of a variant; None if it has none.

    Its controller always keeps the accelerator. Without that, the library takes the least value; of two with the same
    value it is whichever a map yields first there, and the first by name here.
    """
    possible = [result for result in sized if result.is_feasible]
    if keep and current.accelerator:
        possible = [result for result in possible if result.case.profile.accelerator == current.accelerator]
    return min(possible, key=lambda result: (value(current, result), result.case.profile.accelerator), default=None)
