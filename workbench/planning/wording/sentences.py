"""The sentences of a review: its verdict and its footnotes."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from components.checks.memory.cases import Fit
from components.plan.costs.bill import HOURS_PER_MONTH
from components.plan.engine_versions import unchecked_versions
from components.plan.review.review import Review
from components.plan.review.snapshot import ServedModel
from components.plan.review.speeds import SOURCE as SPEEDS

from .figures import join_words, pluralize, usd
from .findings import finding_counts, refused_changes, startup_risks
from .fits import fit_of, worst_verdict
from .models import environment_costs, has_costs, planned_share, simulated_region, unpriced_text
from .resources import change_counts, pending, restarts
from .starts import FOOTNOTE as STARTS
from .traffic import FOOTNOTE as TRAFFIC

_MAX_NAMES = 3


def verdict(review: Review) -> str:
    """Summarize changes, memory fit, cost and findings in one sentence."""
    if review.head.failed:
        reasons = [line.strip() for line in review.head.failed.splitlines() if line.strip()]
        return f"Planning failed: {'; '.join(reasons)}"
    if review.changes_nothing:
        return "Nothing changes."
    return _sentence(
        refused_changes(review),
        _changes(review),
        _removed_models(review),
        restarts(review),
        pending(review),
        *_changed_gpus(review),
        _fit(review),
        startup_risks(review),
        *unchecked_versions(review.head.findings),
        _cost(review),
        finding_counts(review),
    )


def unchanged_summary(review: Review) -> str:
    """Summarize memory fit, cost and findings of an unchanged plan."""
    models = _fit(review) or pluralize(len(review.head.models), "model")
    unchecked = unchecked_versions(review.head.findings)
    return _sentence(models, startup_risks(review), *unchecked, _cost(review), finding_counts(review))


def _sentence(*parts: str) -> str:
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}."


def _changes(review: Review) -> str:
    planned = pluralize(sum(not resource.is_component for resource in review.head.resources), "resource")
    if review.head.is_refused:
        return "nothing can be deployed until the errors are fixed"
    if review.base is None:
        return f"{planned} planned"
    if review.base.absent:
        return f"a new environment of {planned}"
    if not review.is_compared:
        return f"no comparison, because the base {'could not be planned' if review.base.failed else 'has errors'}"
    endpoints = f" and {pluralize(len(review.endpoints), 'endpoint')}" if review.endpoints else ""
    return f"{change_counts(review)}{endpoints}"


def _removed_models(review: Review) -> str:
    removed = [change.before for change in review.models if change.before and not change.after]
    # With errors, resources that are not rendered would look removed.
    if not removed or review.head.is_refused:
        return ""
    models = [model for change in review.models for model in (change.before, change.after) if model]
    names = [model.title for model in removed]
    if len({model.namespace for model in models}) > 1:
        names = [f"{model.title} in {model.namespace}" for model in removed]
    verb = "is" if len(names) == 1 else "are"
    left = len(names) - _MAX_NAMES
    if left > 0:
        names[_MAX_NAMES:] = [f"{left} more models"]
    return f"{join_words(names)} {verb} removed"


def _changed_gpus(review: Review) -> Iterator[str]:
    """Describe models whose GPU type changes."""
    changes = [(change.after.title, speed) for change in review.models for speed in change.speeds if change.after]
    for title, speed in changes[:_MAX_NAMES]:
        gpus = f"{title} moves from {speed.before} to {speed.after}"
        if speed.bandwidth is None:
            yield f"{gpus}, of unknown speed"
        else:
            yield f"{gpus}, each with {speed.bandwidth:.2f} times the memory bandwidth"
    left = len(changes) - _MAX_NAMES
    if left > 0:
        yield f"{pluralize(left, 'more workload changes', 'more workloads change')} GPUs"


def _fit(review: Review) -> str:
    """Summarize how many models fit, and name those that do not."""
    unplanned = {
        (model.namespace, model.title) for change in review.models if change.unplanned and (model := change.after)
    }
    models = [
        (model, fit)
        for model in review.head.models
        if (fit := fit_of(model)) and (fit is Fit.EXCEEDED or (model.namespace, model.title) not in unplanned)
    ]
    exceeded = {(model.namespace, model.title) for model, fit in models if fit is Fit.EXCEEDED} & unplanned
    left = sum(change.unplanned for change in review.models) - len(exceeded)
    fits = _planned_fit(models)
    rest = pluralize(left, "model is not planned", "models are not planned") if left else ""
    return "; ".join(filter(None, (fits, rest)))


def _planned_fit(models: list[tuple[ServedModel, Fit]]) -> str:
    counts = Counter(fit for _, fit in models)
    if not models:
        return ""
    verdicts = [verdict for model, fit in models if fit is not Fit.UNKNOWN and (verdict := worst_verdict(model))]
    estimates = sum(bool(verdict.asked and verdict.asked.shape.estimate) for verdict in verdicts)
    estimated = f", {estimates} estimated" if estimates else ""
    if not counts[Fit.EXCEEDED] and not counts[Fit.UNKNOWN]:
        if len(models) == 1:
            return f"the model fits its GPUs{' tightly' if counts[Fit.TIGHT] else ''}"
        tight = f", {counts[Fit.TIGHT]} of them tightly" if counts[Fit.TIGHT] else ""
        return f"all {len(models)} models fit their GPUs{tight}{estimated}"
    if len(models) == 1 and counts[Fit.UNKNOWN]:
        return "whether the model fits its GPUs is not checked"
    parts = []
    if names := [model.title for model, fit in models if fit is Fit.EXCEEDED]:
        rest = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
        parts.append(f"{join_words(names[:_MAX_NAMES] + rest)} {'does' if len(names) == 1 else 'do'} not fit")
    for fit, singular, plural in (
        (Fit.FITS, "fits", "fit"),
        (Fit.TIGHT, "fits tightly", "fit tightly"),
        (Fit.UNKNOWN, "is not checked", "are not checked"),
    ):
        if counts[fit]:
            parts.append(pluralize(counts[fit], singular, plural))
    return f"of {pluralize(len(models), 'model')} {join_words(parts)}{estimated}"


def _cost(review: Review) -> str:
    if not has_costs(review):
        return ""
    if review.head.is_refused:
        share = planned_share(review)
        return f"the models without errors use {usd(share)} a month of nodes" if share else ""
    now, _, most = environment_costs(review)
    if now.after is None:
        return "costs unknown"
    region = simulated_region(review)
    text = f"free, because its nodes are simulated: as instances in {region} " if region else ""
    text += f"{usd(now.after)} a month"
    if review.base is not None and now.before is not None and not now.is_comparable:
        text += ", the difference is unknown"
    elif now.difference is not None and review.base is not None:
        text += f", {_increase(now.difference)} than before" if now.difference else ", unchanged"
    details = []
    if most.after is not None and most != now:
        increase = f", {_increase(most.difference)}" if most.difference else ""
        details.append(f"at most {usd(most.after)}{increase}")
    if without := unpriced_text(review.head.bill):
        details.append(without)
    return f"{text} ({'; '.join(details)})" if details else text


def _increase(difference: Decimal) -> str:
    return f"{usd(abs(difference))} {'more' if difference > 0 else 'less'}"


def footnotes(review: Review) -> Iterator[str]:
    """Yield explanations of the figures: sources, dates of prices, and omissions."""
    if review.base and not (review.base.absent or review.base.failed):
        yield f"Compared with {review.base.ref or 'the base'} at {review.base.revision}."
    yield from (f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in review.notes)
    if review.head.given:
        yield f"From the settings, because the tables do not have them: {'; '.join(review.head.given)}."
    bill = review.head.bill or (review.base.bill if review.base else None)
    if bill is not None and has_costs(review):
        capacities = join_words(sorted({group.capacity for group in review.head.groups if group.capacity}))
        nodes = f"; node capacity is {capacities}" if capacities else ""
        region = bill.region or bill.simulated_region or "an unknown region"
        date = bill.date or "an unknown day"
        yield f"Costs are estimates: prices of {region} as of {date} for {HOURS_PER_MONTH} hours a month{nodes}."
        if review.changes_nothing:
            return
        yield "Now: with the replicas of the manifests. At least and at most: with the bounds of autoscalers."
        yield from (f"No price for {item.name} ({item.unpriced})." for item in bill.unpriced)
        yield from bill.notes
    if any(change.speeds for change in review.models):
        yield (
            f"GPU speeds are the makers' published figures for one GPU ({SPEEDS}): memory bandwidth limits how fast "
            "output tokens are generated, operations per second how fast prompts are processed. What engines achieve "
            "is not estimated."
        )
    if review.traffic is not None:
        yield TRAFFIC
    if any(workload.start for workload in review.head.workloads):
        yield STARTS
    if any(model.verdicts for model in review.head.models):
        yield "Memory is estimated, for the fullest GPU of a replica."
