"""The first line of the text format: what changes, what fits, what it costs, and what is wrong."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from components.checks.memory.cases import Fit
from components.plan.costs.bill import CostKind
from components.plan.engine_versions import unchecked_versions
from components.plan.review.review import ChangeKind, Review
from components.plan.review.snapshot import ServedModel

from .figures import monthly, pluralize, whole_usd
from .findings import deleted_contents, refused_changes, startup_risks
from .fits import fit_of
from .models import AmountChange, environment_costs, has_costs, planned_share, simulated_region, unpriced_text
from .resources import pending, restarts

_VERBS = {
    ChangeKind.CREATED: "to create",
    ChangeKind.UPDATED: "to update",
    ChangeKind.REPLACED: "to replace",
    ChangeKind.DELETED: "to delete",
}


_SYSTEM_NODES = "system nodes"


def headline(review: Review) -> str:
    """Return ``local: 12 to create, 1 model fits, $0 now ($1,770 a month on AWS)``."""
    head = review.head
    if head.failed:
        return f"{head.stack}: no plan can be made"
    parts = (
        refused_changes(review),
        deleted_contents(review),
        _changes(review),
        _restarts(review),
        _fit(review),
        startup_risks(review),
        *unchecked_versions(head.findings),
        _cost(review),
    )
    return f"{head.stack}: {', '.join(filter(None, parts))}"


def _changes(review: Review) -> str:
    created = sum(not resource.is_component for resource in review.head.resources)
    if review.head.is_refused:
        return "nothing can be deployed until the errors are fixed"
    if review.base is None:
        return f"{created:,} to create"
    if review.base.absent:
        return f"a new environment, {created:,} to create"
    if not review.is_compared:
        return f"not compared: the base {'could not be planned' if review.base.failed else 'has errors'}"
    counts = Counter(change.kind for change in review.changes)
    changes = ", ".join(f"{counts[kind]:,} {_VERBS[kind]}" for kind in ChangeKind if counts[kind])
    endpoints = f", {pluralize(len(review.endpoints), 'endpoint changes', 'endpoints change')}"
    return f"{changes or 'nothing changes'}{endpoints if review.endpoints else ''}"


def _restarts(review: Review) -> str:
    removed = sum(bool(change.before and not change.after) for change in review.models)
    parts = [restarts(review), pending(review)]
    if removed and not review.head.is_refused:
        parts.append(pluralize(removed, "model is removed", "models are removed"))
    return ", ".join(filter(None, parts))


def _fit(review: Review) -> str:
    left = 0
    fits: list[Fit] = []
    for change in review.models:
        fit = fit_of(change.after) if change.after else None
        if change.unplanned and fit is not Fit.EXCEEDED:
            left += 1
        elif fit:
            fits.append(fit)
    counts = Counter(fits)
    good = counts[Fit.FITS] + counts[Fit.TIGHT]
    parts = []
    if counts[Fit.EXCEEDED]:
        parts.append(pluralize(counts[Fit.EXCEEDED], "model does not fit", "models do not fit"))
    if left:
        parts.append(f"{left:,} not planned" if parts else pluralize(left, "model not planned", "models not planned"))
    if good:
        tightly = f" ({counts[Fit.TIGHT]:,} tightly)" if counts[Fit.TIGHT] else ""
        verb = "fits" if good == 1 else "fit"
        parts.append(f"{good:,} {verb}{tightly}" if parts else f"{pluralize(good, 'model')} {verb}{tightly}")
    if counts[Fit.UNKNOWN]:
        parts.append(f"{counts[Fit.UNKNOWN]:,} not checked")
    return ", ".join(parts)


def _cost(review: Review) -> str:
    if not has_costs(review):
        return ""
    if review.head.is_refused:
        # The nodes of the environment are unknown; the shares of the models without errors are not.
        share = planned_share(review)
        return f"the planned models cost {whole_usd(share)} a month" if share else ""
    now, _, most = environment_costs(review)
    if now.after is None:
        return "costs unknown"
    text = f"{whole_usd(now.after)} a month"
    if most.after is not None and most.after != now.after:
        text += f", at most {whole_usd(most.after)}"
    text += _difference(review, now)
    if without := unpriced_text(review.head.bill):
        text += f", {without}"
    return f"$0 now ({text.replace(' a month', ' a month on AWS', 1)})" if simulated_region(review) else text


def _difference(review: Review, now: AmountChange) -> str:
    if review.base is None or review.base.absent or now.before is None:
        return ""
    if now.difference is None:
        return ", the difference is unknown"
    if not now.difference:
        return ", unchanged"
    return f", {whole_usd(abs(now.difference))} {'more' if now.difference > 0 else 'less'}"


def share_lines(review: Review) -> Iterator[str]:
    """Yield how the costs of models and of whole nodes differ, if they do."""
    bill = review.head.bill
    if bill is None or review.head.is_refused or not has_costs(review):
        return
    items = bill.simulated_items if bill.simulated_region else bill.items
    nodes, others = Decimal(0), Decimal(0)
    for item in items:
        amounts = monthly(item.usd_per_hour)
        if amounts and item.kind is CostKind.NODES and item.name != _SYSTEM_NODES:
            nodes += amounts.now
        elif amounts:
            others += amounts.now
    share = planned_share(review)
    rest = [f"{whole_usd(others)} is for the rest of the environment"] if others >= 1 else []
    # Shares of nodes are exact; below a dollar they differ by rounding only.
    if abs(nodes - share) < 1 and not rest:
        return
    room = [f"whole nodes cost {whole_usd(nodes)}, because they have room left"] if nodes - share >= 1 else []
    if room or rest:
        yield f"$/MONTH: each model's share of its nodes, {whole_usd(share)} in all; {'; '.join([*room, *rest])}"


def model_name(model: ServedModel, names: Counter[str]) -> str:
    """Return the name of a model, with its kind or namespace where it would be ambiguous."""
    name = model.title.partition("/")[2]
    if names[name] == 1:
        return name
    return f"{model.namespace}/{model.title}"
