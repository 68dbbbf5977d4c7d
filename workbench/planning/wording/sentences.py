"""The sentences of a review: its verdict and its footnotes."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from components.checks.memory.cases import Fit
from components.plan.costs.bill import HOURS_PER_MONTH
from components.plan.review.review import Review
from components.plan.review.snapshot import Snapshot
from components.plan.review.speeds import SOURCE as SPEEDS

from .figures import counted, joined, usd
from .findings import doubtful_starts, summed_up
from .fits import fit_of, worst
from .models import Sums, environment, is_paid
from .resources import changed, left_pending, restarted

NOTHING = "Nothing changes."
_MOST_NAMES = 3


def verdict(review: Review) -> str:
    """Summarize changes, memory fit, cost and findings in one sentence."""
    if review.head.failed:
        reasons = [line.strip() for line in review.head.failed.splitlines() if line.strip()]
        return f"No plan could be made: {'; '.join(reasons)}"
    if review.changes_nothing:
        return NOTHING
    parts = [
        _changes(review),
        _removed(review),
        restarted(review),
        left_pending(review),
        *_other_speeds(review),
        _fit(review.head),
        doubtful_starts(review),
        _cost(review),
        summed_up(review),
    ]
    return "; ".join(_capitalized([part for part in parts if part])) + "."


def remains(review: Review) -> str:
    """Summarize memory fit, cost and findings of an unchanged plan."""
    models = _fit(review.head) or counted(len(review.head.models), "model")
    parts = [models, doubtful_starts(review), _cost(review), summed_up(review)]
    return "; ".join(_capitalized([part for part in parts if part])) + "."


def _capitalized(parts: list[str]) -> list[str]:
    return [parts[0][:1].upper() + parts[0][1:], *parts[1:]]


def _changes(review: Review) -> str:
    planned = [each for each in review.head.resources if not each.is_component]
    if review.head.is_refused:
        return "nothing can be deployed before the errors are gone"
    if review.base is None:
        return f"{counted(len(planned), 'resource')} planned"
    if review.base.absent:
        return f"a new environment of {counted(len(planned), 'resource')}"
    if not review.is_compared:
        return f"no comparison, because the base {_refused(review.base)}"
    moved = f" and {counted(len(review.endpoints), 'endpoint')}" if review.endpoints else ""
    return f"{changed(review)}{moved}"


def _removed(review: Review) -> str:
    gone = [each.before for each in review.models if each.before and not each.after]
    # With errors, resources that are not rendered would look removed.
    if not gone or review.head.is_refused:
        return ""
    several = len({model.namespace for each in review.models for model in (each.before, each.after) if model}) > 1
    names = [f"{each.title} in {each.namespace}" if several else each.title for each in gone[:_MOST_NAMES]]
    rest = [f"{len(gone) - _MOST_NAMES} more models"] if len(gone) > _MOST_NAMES else []
    return f"{joined(names + rest)} {'is' if len(gone) == 1 else 'are'} removed"


def _other_speeds(review: Review) -> Iterator[str]:
    """Describe models whose GPU type changes."""
    changed = [(each.after.title, speed) for each in review.models for speed in each.speeds if each.after]
    for title, speed in changed[:_MOST_NAMES]:
        gets = f"{title} gets {speed.after} instead of {speed.before}"
        if speed.bandwidth is None:
            yield f"{gets}, whose speeds are not known"
        else:
            yield f"{gets}, each with {speed.bandwidth:.2f} times the memory bandwidth"
    left = len(changed) - _MOST_NAMES
    if left > 0:
        yield f"{counted(left, 'more workload gets', 'more workloads get')} other GPUs"


def _refused(snapshot: Snapshot) -> str:
    return "could not be planned" if snapshot.failed else "has errors"


def _fit(head: Snapshot) -> str:
    """Summarize how many models fit, and name those that do not."""
    found = [(model, fit) for model in head.models if (fit := fit_of(model))]
    counts = Counter(fit for _, fit in found)
    if not found:
        return ""
    verdicts = [verdict for model, fit in found if fit is not Fit.UNKNOWN and (verdict := worst(model))]
    by_name = sum(bool(verdict.asked and verdict.asked.shape.estimate) for verdict in verdicts)
    estimated = f", {by_name} by an estimate" if by_name else ""
    if not counts[Fit.EXCEEDED] and not counts[Fit.UNKNOWN]:
        tight = f", {counts[Fit.TIGHT]} of them tightly" if counts[Fit.TIGHT] else ""
        return f"all {len(found)} models fit their GPUs{tight}{estimated}" if len(found) > 1 else _only(found[0][1])
    if len(found) == 1 and counts[Fit.UNKNOWN]:
        return "whether the model fits its GPUs is not checked"
    parts = [f"{number} {one if number == 1 else many}" for fit, one, many in _EACH if (number := counts[fit])]
    if names := [model.title for model, fit in found if fit is Fit.EXCEEDED]:
        rest = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        parts.insert(0, f"{joined(names[:_MOST_NAMES] + rest)} {'does' if len(names) == 1 else 'do'} not fit")
    return f"of {counted(len(found), 'model')} {joined(parts)}{estimated}"


_EACH = (
    (Fit.FITS, "fits", "fit"),
    (Fit.TIGHT, "fits tightly", "fit tightly"),
    (Fit.UNKNOWN, "is not checked", "are not checked"),
)


def _only(fit: Fit) -> str:
    return "the model fits its GPUs" + (" tightly" if fit is Fit.TIGHT else "")


def _cost(review: Review) -> str:
    if not is_paid(review):
        return ""
    now, _, most = environment(review)
    if now.after is None:
        return "costs not known"
    text = f"{usd(now.after)} a month"
    if now.difference is not None and review.base is not None:
        text += _against(now.difference)
    most_of_it = [f"at most {_most(most)}"] if most.after is not None and most != now else []
    unpriced = review.head.bill.unpriced if review.head.bill else ()
    without = [f"without {counted(len(unpriced), 'item')} that no price is known of"] if unpriced else []
    inside = "; ".join(most_of_it + without)
    return f"{text} ({inside})" if inside else text


def _most(sums: Sums) -> str:
    rise = f", {_rise(sums.difference)}" if sums.difference else ""
    return f"{usd(sums.after or Decimal(0))}{rise}"


def _against(difference: Decimal) -> str:
    return f", {_rise(difference)} than before" if difference else " as before"


def _rise(difference: Decimal) -> str:
    return f"{usd(abs(difference))} {'more' if difference > 0 else 'less'}"


def footnotes(review: Review) -> Iterator[str]:
    """Yield explanations of the figures: sources, dates of prices, and omissions."""
    if review.base and not (review.base.absent or review.base.failed):
        yield f"Compared with {review.base.ref or 'the base'} at {review.base.revision}."
    yield from (f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in review.notes)
    bill = review.head.bill or (review.base.bill if review.base else None)
    if bill is not None and is_paid(review):
        kinds = joined(sorted({group.capacity for group in review.head.groups if group.capacity}))
        nodes = f"; nodes are bought {kinds}" if kinds else ""
        where, day = bill.region or "an unknown region", bill.date or "an unknown day"
        yield f"Costs are estimates: prices of {where} as of {day} for {HOURS_PER_MONTH} hours a month{nodes}."
        if review.changes_nothing:
            return
        yield "Now: with the replicas of the manifests. At least and at most: with the bounds of autoscalers."
        yield from (f"Without a price: {item.name} ({item.unpriced})." for item in bill.unpriced)
        yield from bill.notes
    if any(change.speeds for change in review.models):
        yield (
            "Speeds are what the makers of GPUs publish of one: the bandwidth of its memory bounds how fast answers "
            f"are written, its operations per second how fast prompts are read ({SPEEDS}); what engines get of them "
            "is not estimated."
        )
    if any(model.verdicts for model in review.head.models):
        yield "Memory is estimated, for the fullest GPU of a replica."
