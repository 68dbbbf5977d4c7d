"""Models before and after: whether they fit, on how many GPUs, and what they cost a month."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from components.checks.memory.cases import Fit
from components.plan.costs.bill import NOTHING, Amounts, Bill, ModelCost
from components.plan.review.review import ModelChange, Review
from components.plan.review.snapshot import ServedModel

from .figures import monthly, usd, usd_difference
from .fits import by_how_much, fit_of, word, worst

UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Sums:
    """An amount before and after a change; None if unknown."""

    before: Decimal | None
    after: Decimal | None

    @property
    def difference(self) -> Decimal | None:
        """The increase; None if one of the amounts is unknown."""
        return None if self.before is None or self.after is None else self.after - self.before

    def __str__(self) -> str:
        if self.before is None and self.after is None:
            return UNKNOWN
        if self.difference is None:
            return f"{_known(self.before)} → {_known(self.after)}"
        if not self.difference:
            return _known(self.after)
        return f"{_known(self.before)} → {_known(self.after)} ({usd_difference(self.difference)})"


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A row of the table of models.

    Attributes:
        name: ``Kind/name``, with the namespace if there are several.
        state: ``new``, ``removed`` or ``was <former name>``; empty if unchanged.
        fit: Whether it fits now; None without GPUs.
        fits: The same in words.
        margin: Memory left or missing, now and before.
        accelerators: Numbers now and at the autoscaler's bounds, before and after.
        nodes: Preferred node groups, before and after.
        monthly: Monthly cost in US dollars now, at least and at most.
        speeds: Comparison of the GPUs, if they change.
    """

    name: str
    model: str
    state: str
    fit: Fit | None
    fits: str
    margin: str
    accelerators: str
    nodes: str
    monthly: tuple[Sums, Sums, Sums]
    speeds: tuple[str, ...] = ()

    @property
    def costs(self) -> tuple[str, ...]:
        """The monthly costs, without bounds that equal the current cost."""
        return cost_lines(self.monthly)


def cost_lines(sums: tuple[Sums, Sums, Sums]) -> tuple[str, ...]:
    """Format monthly costs: now, and the bounds that differ from it."""
    now, least, most = sums
    bounds = [f"{word} {each}" for word, each in (("at least", least), ("at most", most)) if each != now]
    return (str(now), *bounds)


def model_lines(review: Review) -> Iterator[ModelLine]:
    """Yield a row for each serving resource."""
    several = len({each.namespace for change in review.models for each in (change.before, change.after) if each}) > 1
    for change in review.models:
        present = change.after or change.before
        if present:
            yield _line(change, present, review, several=several)


def _line(change: ModelChange, present: ServedModel, review: Review, *, several: bool) -> ModelLine:
    fit = fit_of(change.after) if change.after else None
    return ModelLine(
        name=_name(present, several=several),
        model=present.model,
        state=_state(change, several=several) if review.base else "",
        fit=fit,
        fits=word(fit) if change.after else "",
        margin=_margin(change),
        accelerators=_accelerators(change),
        nodes=_nodes(change),
        monthly=_costs(change, review),
        speeds=tuple(_speeds(change)),
    )


def _name(model: ServedModel, *, several: bool) -> str:
    return f"{model.title} in {model.namespace}" if several else model.title


def _state(change: ModelChange, *, several: bool) -> str:
    if change.before is None:
        return "new"
    if change.after is None:
        return "removed"
    before, after = (_name(each, several=several) for each in (change.before, change.after))
    return f"was {before}" if before != after else ""


def _margin(change: ModelChange) -> str:
    if change.after is None:
        return ""
    after = by_how_much(worst(change.after))
    return "; ".join(
        filter(None, (after, _margin_before(change.before, change.after, after) if change.before else ""))
    )


def _margin_before(before: ServedModel, after: ServedModel, margin: str) -> str:
    words = [word(fit_of(before))] if fit_of(before) != fit_of(after) else []
    found = by_how_much(worst(before))
    margins = [found] if found and found != margin else []
    return f"before: {', '.join(words + margins)}" if words or margins else ""


def _accelerators(change: ModelChange) -> str:
    before, after = (each.accelerators if each else None for each in (change.before, change.after))
    if before is None or after is None or before == after:
        return _bounds(after or before or (0, 0, 0))
    return f"{_bounds(before)} → {_bounds(after)}"


def _nodes(change: ModelChange) -> str:
    before, after = (", ".join(each.groups) if each else "" for each in (change.before, change.after))
    return f"{before} → {after}" if before and after and before != after else after or before


def _speeds(change: ModelChange) -> Iterator[str]:
    """Yield a comparison of each changed GPU type with its predecessor."""
    for speed in change.speeds:
        which = f"{speed.title}: " if len(change.speeds) > 1 else ""
        if speed.gigabytes is None or speed.teraflops is None or speed.bandwidth is None or speed.compute is None:
            yield f"{which}{speed.before} → {speed.after}: how fast these are is not known"
            continue
        (bandwidth, now), (operations, then) = speed.gigabytes, speed.teraflops
        yield (
            f"{which}{speed.before} → {speed.after}; each {bandwidth} → {now} GB/s of memory "
            f"({speed.bandwidth:.2f} times), {operations} → {then} TFLOPS with 16 bits ({speed.compute:.2f} times)"
        )


def _bounds(numbers: tuple[int, int, int]) -> str:
    now, least, most = numbers
    return str(now) if now == least == most else f"{now} ({least} to {most})"


def _costs(change: ModelChange, review: Review) -> tuple[Sums, Sums, Sums]:
    before, after = (_amounts(cost) for cost in (change.cost_before, change.cost_after))
    if review.base is None:
        before = after
    elif change.before is None and after:
        before = NOTHING
    if change.after is None and before:
        after = NOTHING
    return three(before, after)


def _amounts(cost: ModelCost | None) -> Amounts | None:
    return monthly(cost.usd_per_hour) if cost else None


def three(before: Amounts | None, after: Amounts | None) -> tuple[Sums, Sums, Sums]:
    """Pair the amounts before and after: now, at least and at most."""

    def side_by_side(get: Callable[[Amounts], Decimal]) -> Sums:
        return Sums(*(None if each is None else get(each) for each in (before, after)))

    return (
        side_by_side(lambda each: each.now),
        side_by_side(lambda each: each.least),
        side_by_side(lambda each: each.most),
    )


def is_paid(review: Review) -> bool:
    """Whether the environment has costs."""
    bills = [snapshot.bill for snapshot in (review.head, review.base) if snapshot]
    return any(bill is not None and bool(bill.region or bill.items) for bill in bills)


def environment(review: Review) -> tuple[Sums, Sums, Sums]:
    """Return the monthly cost of the whole environment."""
    after = _total(review.head.bill)
    if review.base is None:
        return three(after, after)
    return three(NOTHING if review.base.absent else _total(review.base.bill), after)


def _total(bill: Bill | None) -> Amounts | None:
    return monthly(bill.usd_per_hour) if bill else None


def _known(amount: Decimal | None) -> str:
    return UNKNOWN if amount is None else usd(amount)
