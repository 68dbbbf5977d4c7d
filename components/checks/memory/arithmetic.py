"""Whether a model fits its accelerators: what it needs of the fullest one, against what the engine may use.

What is summed is the least that is known to be needed. A model is exceeded where that is more than may be used; tight
where it is less, but by no more than measured servers took beyond it; else it fits. So an error is never for a model
that only a pessimist would refuse.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from ...fleet.clouds import cleared_with_clouds
from ...fleet.instances import instance
from . import wording
from .accelerators.choices import cheapest_types, spread_over
from .accelerators.devices import maker_of
from .accelerators.refusals import allowed_degrees, refusal
from .activations import adapter_bytes, unknown_widths
from .cases import CheaperType, Fit, MemoryCase, MemoryVerdict, Parallel
from .ledger import Ledger
from .naming import least_of, most_of
from .shapes import SizeSpan
from .weights import WeightSizes, bits_of, shares_unknown_experts, weights_of

_MEASURED = frozenset({"NVIDIA", ""})
"""Makers of the accelerators that engines were measured on, and accelerators that no instance type has."""
_AFTERWARDS = frozenset({"fp8", "int8"})
"""Types that weights are quantized to once all of them are loaded."""


def judge(case: MemoryCase, *, types: bool = True) -> MemoryVerdict:
    """Return whether a model fits; with ``types`` also on which instance types it would.

    Nothing is guessed: what is not known makes it "not checked".
    """
    return _judge(case, types)


@cleared_with_clouds
@functools.lru_cache(maxsize=4096)
def _judge(case: MemoryCase, types: bool) -> MemoryVerdict:  # noqa: FBT001
    if case.shape.span is not None:
        return _judge_span(case, case.shape.span, types=types)
    unknown = _unknown(case)
    if unknown:
        return MemoryVerdict(Fit.UNKNOWN, unknown, case)
    context = case.length or 0
    ledger = _ledger(case)
    choices = cheapest_types(case, _fits) if types else ()
    parts, usable, error = ledger.parts(context), ledger.usable(context), ledger.error(context)
    largest = _largest(ledger, max(context, case.shape.max_context or 0))
    fit, reason = _verdict(ledger, context, largest, choices)
    return MemoryVerdict(
        fit=fit,
        reason=f"{wording.estimated(case)}: {reason}" if case.shape.estimate and fit is not Fit.UNKNOWN else reason,
        asked=case,
        parts=parts,
        usable=usable,
        context=context,
        sequences=_sequences(ledger, context),
        largest_context=largest,
        types=choices,
        notes=_notes(case, error),
    )


def _judge_span(case: MemoryCase, span: SizeSpan, *, types: bool) -> MemoryVerdict:
    """Judge a model of which only a range of sizes is known.

    It is exceeded if even the lower end does not fit without any cache, and fits if the upper end does.
    """
    bits = bits_of(case.weights_dtype)
    if bits is not None and bits < span.most_bits:
        span = replace(span, least_bits=min(bits, span.least_bits), most_bits=bits)
    spanned = replace(case, shape=replace(case.shape, span=span))
    least = replace(case, shape=least_of(case.shape, span), weights_dtype="", context=case.context or 1)
    most = replace(case, shape=most_of(case.shape, span), weights_dtype="")
    unknown = _unknown(least)
    if unknown:
        return MemoryVerdict(Fit.UNKNOWN, unknown, case)
    lower = _ledger(least)
    choices = cheapest_types(most, _fits) if types and case.context else ()
    if lower.margin(1) < 0:
        parts, usable = lower.parts(1), lower.usable(1)
        fit = Fit.TIGHT if case.budget.spills else Fit.EXCEEDED
        reason = wording.exceeding(least, parts, usable) + wording.next_step(most, _remedies(most, choices))
    elif case.context is None:
        size = wording.gib(sum(part.size for part in lower.parts(1)))
        reason = f"{case.shape.name}: neither a context is set nor is its longest one known; by an estimate from "
        reason += f"{case.shape.estimate} it needs at least {size} of {wording.gib(lower.usable(1))}"
        return MemoryVerdict(Fit.UNKNOWN, reason, case)
    else:
        upper, context = _ledger(most), case.context
        parts, usable = upper.parts(context), upper.usable(context)
        margin, error = upper.margin(context), upper.error(context)
        fit = Fit.FITS if margin >= error else Fit.TIGHT
        reason = wording.fitting(most, parts, usable, margin)
        if fit is Fit.TIGHT:
            remedies = _remedies(most, choices, context=_roomy(upper, _largest(upper, context)))
            reason = wording.perhaps(most, parts, usable) + wording.next_step(most, remedies)
    return MemoryVerdict(
        fit=fit,
        reason=f"{wording.estimated(spanned)}: {reason}",
        asked=case,
        parts=parts,
        usable=usable,
        context=case.context or 0,
        types=choices,
        notes=_notes(case, 0),
    )


def _verdict(ledger: Ledger, context: int, largest: int, types: tuple[CheaperType, ...]) -> tuple[Fit, str]:
    case, margin = ledger.case, ledger.margin(context)
    parts, usable, error = ledger.parts(context), ledger.usable(context), ledger.error(context)
    uncut = refusal(case)
    if uncut:
        return Fit.EXCEEDED, uncut
    if ledger.lacks_to_load:
        return Fit.EXCEEDED, wording.loading(case, ledger.lacks_to_load) + wording.next_step(
            case, _remedies(case, types)
        )
    uncounted = ledger.uncounted(context)
    if margin >= error and uncounted:
        step = wording.next_step(case, _remedies(case, types, share=_lower_share(ledger, context)))
        return Fit.TIGHT, wording.uncounted(case, parts, usable, uncounted) + step
    if margin >= error:
        return Fit.FITS, wording.fitting(case, parts, usable, margin)
    if case.shape.estimate and margin < 0 <= margin + ledger.unsure:
        remedies = _remedies(case, types, context=_roomy(ledger, largest))
        return Fit.TIGHT, wording.perhaps(case, parts, usable) + wording.next_step(case, remedies)
    if not case.shape.exact and ledger.least(context) >= 0:
        return Fit.UNKNOWN, _unclear(case, wording.gib(sum(part.size for part in parts)), wording.gib(usable))
    if margin >= 0:
        step = wording.next_step(case, _remedies(case, types, context=_roomy(ledger, largest)))
        return Fit.TIGHT, wording.tight(case, parts, usable, margin, error) + step
    reason = wording.exceeding(case, parts, usable)
    if case.budget.spills:
        return (
            Fit.TIGHT,
            f"{reason}; {case.engine or 'the engine'} keeps the rest in the memory of the host, and is slow",
        )
    if largest and not (case.budget.reserves_context or case.budget.reserves_all):
        return Fit.TIGHT, f"{reason}; it starts, and refuses requests of more than {largest:,} tokens"
    remedies = _remedies(case, types, context=largest, requests=_fewer_requests(ledger, context))
    return Fit.EXCEEDED, reason + wording.next_step(case, remedies)


def _remedies(
    case: MemoryCase,
    types: tuple[CheaperType, ...],
    *,
    context: int = 0,
    requests: int = 0,
    share: Decimal | None = None,
) -> wording.Remedies:
    return wording.Remedies(_spread(case), _more(case), context, requests, types, share)


def _lower_share(ledger: Ledger, context: int) -> Decimal | None:
    """Return the largest lower share, in hundredths, at which everything fits; None if there is none."""
    case = ledger.case
    now = case.budget.share if case.share is None else case.share
    hundredths = range(int((now or 1) * 100) - 1, 49, -1) if now is not None else range(0)
    shares = (Decimal(each) / 100 for each in hundredths)
    return next(
        (share for share in shares if _is_roomy(replace(ledger, case=replace(case, share=share)), context)), None
    )


def _is_roomy(ledger: Ledger, context: int) -> bool:
    return ledger.margin(context) >= ledger.error(context) and not ledger.uncounted(context)


def _more(case: MemoryCase) -> Parallel | None:
    """Return the parallelism over more accelerators of the same node at which a model fits; None if there is none."""
    node = instance(case.instance_type)
    if node is None or not case.budget.cuts or case.pods > 1:
        return None
    degrees = allowed_degrees(case.shape, experts=case.parallel.experts)
    tried = (Parallel(each, experts=case.parallel.experts) for each in degrees)
    within = (each for each in tried if case.per_pod < each.tensor <= node.accelerators)
    return next((each for each in within if _fits(spread_over(case, each))), None)


def _spread(case: MemoryCase) -> Parallel | None:
    """Return the parallelism over the accelerators that a replica already has at which its model fits.

    Most accelerators first, because idle ones are paid for as well. None if all are used, if the manifest has no
    field for it, or if it does not help.
    """
    now, spread = case.parallel, case.spread
    if spread is None or not case.budget.cuts or now.accelerators >= case.per_pod * case.pods:
        return None
    pipeline = now.pipeline if case.pods == 1 else case.pods
    most = case.per_pod // (now.pipeline * now.data) if case.pods == 1 else case.per_pod
    if case.pods > 1 and (now.data > 1 or not spread.both):
        return None
    degrees = [
        degree
        for degree in reversed(allowed_degrees(case.shape, experts=now.experts))
        if degree <= most and degree * pipeline > now.tensor * now.pipeline
    ]
    if spread.is_whole:
        degrees = [degree for degree in degrees if degree == most]
    tried = [Parallel(degree, pipeline, now.data, now.experts) for degree in degrees]
    return next((each for each in tried if _fits(spread_over(case, each))), None)


def _unknown(case: MemoryCase) -> str:
    """Return what is not known of a case, without which nothing can be said; empty where all is known."""
    name = case.shape.name
    if case.device_bytes <= 0:
        return f"how much memory {case.device or 'the accelerator'} has is not known"
    if maker_of(case.device) not in _MEASURED:
        return f"what {case.engine or 'the engine'} takes of the memory of {case.device} nobody measured"
    weights = weights_of(case.shape, case.weights_dtype)
    if isinstance(weights, str):
        return f"{name}: {weights}"
    if not case.shape.layers:
        return f"{name}: what its layers keep of a token is not known"
    if case.length is None:
        return f"{name}: neither a context is set nor is its longest one known"
    unknown = _unknown_draft(case)
    if unknown:
        return unknown
    if shares_unknown_experts(case):
        return f"{name}: which part of its weights are experts, which data parallel ranks share, is not known"
    if adapter_bytes(case) is None:
        return f"{name}: its widths, which LoRA adapters have too, are not known"
    return ""


def _unknown_draft(case: MemoryCase) -> str:
    if case.draft is None:
        return ""
    draft = weights_of(case.draft)
    if isinstance(draft, str):
        return f"the draft model {case.draft.name}: {draft}"
    if not case.draft.layers:
        return f"the draft model {case.draft.name}: what its layers keep of a token is not known"
    return ""


def _unclear(case: MemoryCase, most: str, usable: str) -> str:
    which = "which of its layers keep the whole context, no source says"
    return f"{case.shape.name} needs at most {most} of {usable}, and may need less: {which}"


def _ledger(case: MemoryCase) -> Ledger:
    weights = weights_of(case.shape, case.weights_dtype)
    draft = weights_of(case.draft) if case.draft else None
    if not isinstance(weights, WeightSizes) or isinstance(draft, str):
        raise TypeError(case)
    return Ledger(case, weights, draft, _loaded_first(case, weights))


def _loaded_first(case: MemoryCase, weights: WeightSizes) -> WeightSizes | None:
    """Return the weights as they are kept, where an engine loads all of them before it quantizes them; else None."""
    kept = weights_of(case.shape) if case.budget.loads_whole and case.weights_dtype in _AFTERWARDS else None
    return kept if isinstance(kept, WeightSizes) and kept.total > weights.total else None


def _fits(case: MemoryCase) -> bool:
    ledger, context = _ledger(case), case.length or 0
    return _is_roomy(ledger, context) and not refusal(case) and not ledger.lacks_to_load


def _largest(ledger: Ledger, bound: int, *, roomy: bool = False) -> int:
    """Return the longest context up to a bound that fits, or is not tight: more never frees any memory."""
    return _most(lambda context: ledger.margin(context) >= (ledger.error(context) if roomy else 0), bound)


def _most(holds: Callable[[int], bool], bound: int) -> int:
    """Return the largest number up to a bound for which something holds; 0 where it does for none."""
    least, most = 0, bound
    while least < most:
        middle = (least + most + 1) // 2
        if holds(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _roomy(ledger: Ledger, largest: int) -> int:
    return _largest(ledger, largest, roomy=True)


def _sequences(ledger: Ledger, context: int) -> int:
    one = ledger.of_sequence(context)
    return ledger.room(context) // one if one else 0


def _fewer_requests(ledger: Ledger, context: int) -> int:
    """Return with how many requests at once a case would fit; 0 where fewer do not help.

    Fewer requests need fewer logits and states. An engine that divides its cache by them gains nothing.
    """
    case = ledger.case
    if case.requests is None or case.budget.reserves_all:
        return 0

    def holds(requests: int) -> bool:
        return replace(ledger, case=replace(case, sequences=requests)).margin(context) >= 0

    return _most(holds, case.requests - 1)


def _notes(case: MemoryCase, error: int) -> tuple[str, ...]:
    notes = [f"servers were seen to need up to {wording.gib(error)} more than this sum"] if error else []
    if case.shape.estimate:
        notes.append("an estimate: describe the model in modelShapes, by its config.json or weightsGib, for figures")
    if not case.shape.exact:
        notes.append("the cache is an upper bound: which layers keep the whole context, no source says")
    if case.shape.rounded and case.shape.weights_bytes is None:
        notes.append("the size of the weights is an estimate from a rounded number of parameters")
    if case.shape.images:
        notes.append("what images and sounds take while they are read is not counted")
    if case.adapters and case.shape.experts:
        notes.append("LoRA adapters of experts are not counted")
    unknown = unknown_widths(case.shape)
    if unknown and case.shape.span is None:
        notes.append(f"activations are counted without the {' and '.join(unknown)}, which no source says")
    return tuple(notes)
