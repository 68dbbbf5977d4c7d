"""Models before and after: whether they fit, on how many GPUs, and what they cost a month."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from components.checks.memory.cases import Fit
from components.plan.costs.bill import NOTHING, Amounts, Bill, CostItem
from components.plan.review.review import ModelChange, Review
from components.plan.review.snapshot import ServedModel
from components.plan.review.speeds import SpeedChange

from .figures import join_words, monthly, usd, usd_difference
from .fits import fit_label, fit_of, margin_of, worst_verdict

UNKNOWN = "unknown"
NOT_PLANNED = "not planned"
_MOST_NAMES = 3
"""Items without a price that a sentence names; the report lists all of them."""


@dataclass(frozen=True, slots=True)
class AmountChange:
    """An amount before and after a change; None if unknown.

    Attributes:
        is_comparable: Whether both amounts leave out the same, if they leave out anything.
    """

    before: Decimal | None
    after: Decimal | None
    is_comparable: bool = True

    @property
    def difference(self) -> Decimal | None:
        """The increase; None if one of the amounts is unknown, or has parts without a price that the other lacks."""
        if self.before is None or self.after is None or not self.is_comparable:
            return None
        return self.after - self.before

    def __str__(self) -> str:
        before, after = (UNKNOWN if amount is None else usd(amount) for amount in (self.before, self.after))
        if self.before == self.after:
            return after
        if self.difference is None:
            return f"{before} → {after}"
        return f"{before} → {after} ({usd_difference(self.difference)})"


CostChange = tuple[AmountChange, AmountChange, AmountChange]
"""Monthly costs in US dollars: now, at least and at most."""


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A row of the table of models.

    Attributes:
        name: ``Kind/name``, with the namespace if there are several.
        state: ``new``, ``removed``, ``not planned`` or ``was <former name>``; empty if unchanged.
        fit: Whether it fits now; None without GPUs.
        fits: The same in words.
        margin: Memory left or missing, now and before.
        accelerators: Numbers now and at the autoscaler's bounds, before and after.
        nodes: Preferred node groups, before and after.
        monthly: Its monthly costs.
        speeds: Comparison of the GPUs, if they change.
        is_planned: Whether it has figures; not with an error.
    """

    name: str
    model: str
    state: str
    fit: Fit | None
    fits: str
    margin: str
    accelerators: str
    nodes: str
    monthly: CostChange
    speeds: tuple[str, ...] = ()
    is_planned: bool = True

    @property
    def costs(self) -> tuple[str, ...]:
        """The monthly costs, without bounds that equal the current cost."""
        return cost_lines(self.monthly) if self.is_planned else (NOT_PLANNED,)


def cost_lines(costs: CostChange) -> tuple[str, ...]:
    """Format monthly costs: now, and the bounds that differ from it."""
    now, least, most = costs
    bounds = [f"{label} {bound}" for label, bound in (("at least", least), ("at most", most)) if bound != now]
    return (str(now), *bounds)


def model_lines(review: Review) -> Iterator[ModelLine]:
    """Yield a row for each serving resource."""
    models = [model for change in review.models for model in (change.before, change.after) if model]
    several_namespaces = len({model.namespace for model in models}) > 1

    def name_of(model: ServedModel) -> str:
        return f"{model.title} in {model.namespace}" if several_namespaces else model.title

    for change in review.models:
        before, after = change.before, change.after
        model = after or before
        if model is None:
            continue
        if change.unplanned:
            state = NOT_PLANNED
        elif not review.base or change.was_unplanned:
            state = ""
        elif before is None or after is None:
            state = "removed" if before else "new"
        else:
            state = f"was {name_of(before)}" if name_of(before) != name_of(after) else ""
        # Of a model with an error, only a verdict that is the error itself is known.
        is_silent = change.unplanned and not (after and after.verdicts)
        fit = fit_of(after) if after and not is_silent else None
        accelerators = [_bounds(revision.accelerators) for revision in (before, after) if revision]
        nodes = [", ".join(revision.groups) for revision in (before, after) if revision and revision.groups]
        yield ModelLine(
            name=name_of(model),
            model=model.model,
            state=state,
            fit=fit,
            fits=fit_label(fit) if after and not is_silent else "",
            margin=_margin(before, after) if after and not is_silent else "",
            accelerators=" → ".join(dict.fromkeys(accelerators)),
            nodes=" → ".join(dict.fromkeys(nodes)),
            monthly=_model_costs(change, review),
            is_planned=not change.unplanned,
            speeds=tuple(
                (f"{speed.title}: " if len(change.speeds) > 1 else "") + _speed(speed) for speed in change.speeds
            ),
        )


def _margin(before: ServedModel | None, after: ServedModel) -> str:
    """Return the memory left or missing now and, where it differs, before."""
    now = margin_of(worst_verdict(after))
    if before is None:
        return now
    changes = [fit_label(fit_of(before))] if fit_of(before) != fit_of(after) else []
    former = margin_of(worst_verdict(before))
    if former and former != now:
        changes.append(former)
    return "; ".join(filter(None, (now, f"before: {', '.join(changes)}" if changes else "")))


def _bounds(accelerators: tuple[int, int, int]) -> str:
    now, least, most = accelerators
    return str(now) if now == least == most else f"{now} ({least} to {most})"


def _speed(speed: SpeedChange) -> str:
    """Compare a GPU type with its predecessor."""
    if speed.gigabytes is None or speed.teraflops is None or speed.bandwidth is None or speed.compute is None:
        return f"{speed.before} → {speed.after}: speeds unknown"
    (bandwidth_before, bandwidth), (teraflops_before, teraflops) = speed.gigabytes, speed.teraflops
    return (
        f"{speed.before} → {speed.after}; each {bandwidth_before} → {bandwidth} GB/s of memory "
        f"({speed.bandwidth:.2f} times), {teraflops_before} → {teraflops} TFLOPS with 16 bits "
        f"({speed.compute:.2f} times)"
    )


def _model_costs(change: ModelChange, review: Review) -> CostChange:
    before, after = (monthly(cost.usd_per_hour) if cost else None for cost in (change.cost_before, change.cost_after))
    if review.base is None:
        before = after
    elif change.before is None and after and not change.was_unplanned:
        before = NOTHING
    if change.after is None and before and not change.unplanned:
        after = NOTHING
    return _cost_change(before, after)


def environment_costs(review: Review) -> CostChange:
    """Return the monthly cost of the whole environment; without a base, before equals after.

    For simulated nodes, it is what they would cost.
    """
    after, before = (
        monthly(bill.simulated_usd_per_hour if bill.simulated_region else bill.usd_per_hour) if bill else None
        # With errors, the nodes of the environment are unknown.
        for bill in (
            snapshot.bill if snapshot and not snapshot.is_refused else None for snapshot in (review.head, review.base)
        )
    )
    if review.base is None:
        before = after
    elif review.base.absent:
        before = NOTHING
    # What has no price before and after alike cancels out; anything else makes the difference unknown.
    base = review.base
    is_comparable = base is None or base.absent or _without_price(base.bill) == _without_price(review.head.bill)
    return _cost_change(before, after, is_comparable=is_comparable)


def unpriced_items(bill: Bill | None) -> tuple[CostItem, ...]:
    """Return the items of a bill without a price, those of simulated nodes included."""
    return tuple(item for item in (*bill.items, *bill.simulated_items) if item.price is None) if bill else ()


def unpriced_text(bill: Bill | None) -> str:
    """Name the items that a total leaves out; empty if every item has a price."""
    names = [item.name for item in unpriced_items(bill)]
    if not names:
        return ""
    prices = "price" if len(names) == 1 else "prices"
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES - 1 :] = [f"{len(names) - _MOST_NAMES + 1} more"]
    return f"without {join_words(names)} ({prices} unknown)"


def _without_price(bill: Bill | None) -> frozenset[tuple[str, Amounts, str]]:
    return frozenset((item.name, item.counts, item.unpriced) for item in unpriced_items(bill))


def _cost_change(before: Amounts | None, after: Amounts | None, *, is_comparable: bool = True) -> CostChange:
    def change(name: str) -> AmountChange:
        return AmountChange(
            getattr(before, name) if before else None,
            getattr(after, name) if after else None,
            is_comparable=is_comparable,
        )

    return change("now"), change("least"), change("most")


def has_costs(review: Review) -> bool:
    """Whether the environment has costs, or would have them with real nodes."""
    return any(
        bill.region or bill.items or bill.simulated_items or (bill.simulated_region and bill.models)
        for bill in _bills(review)
    )


def _bills(review: Review) -> list[Bill]:
    return [snapshot.bill for snapshot in (review.head, review.base) if snapshot and snapshot.bill]


def simulated_region(review: Review) -> str:
    """Return the region of the prices if nodes are simulated, so that nothing is paid; empty otherwise."""
    return next((bill.simulated_region for bill in _bills(review)), "")


def planned_share(review: Review) -> Decimal:
    """Return the monthly cost of the planned models now: their shares of nodes, of those with known prices."""
    costs = (monthly(change.cost_after.usd_per_hour) for change in review.models if change.cost_after)
    return sum((cost.now for cost in costs if cost), Decimal(0))


def cost_title(review: Review) -> str:
    """Return the title of the costs of models."""
    return "monthly cost as instances" if simulated_region(review) else "monthly cost"


def total_title(review: Review) -> str:
    """Return the title of the costs of the environment."""
    region = simulated_region(review)
    return f"simulated nodes, as instances in {region}" if region else "environment total"
