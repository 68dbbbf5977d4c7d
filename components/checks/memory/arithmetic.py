"""Whether a model fits its accelerators: what it needs on the fullest one, against what the engine may use.

The total is the least that is known to be needed. The verdict is "exceeded" if that is more than may be used, and
"tight" if it is less, but by no more than measured servers exceeded the total. So an error never rests on a
pessimistic assumption.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from ...fleet.clouds import cleared_with_clouds
from . import wording
from .accelerators.choices import cheapest_types, spread_over
from .accelerators.devices import maker_of
from .accelerators.refusals import allowed_degrees, doubtful_division, expert_parallel_flag, refusal
from .activations import adapter_bytes, unknown_widths
from .cases import CheaperType, Fit, MemoryCase, MemoryVerdict, Parallel
from .ledger import Ledger
from .shapes import SizeSpan
from .weights import WeightSizes, bits_of, shares_unknown_experts, weights_of

_MEASURED = frozenset({"NVIDIA", ""})
"""Manufacturers whose accelerators were measured. Empty: accelerators that no instance type has."""
_QUANTIZED_AFTER_LOADING = frozenset({"fp8", "int8"})


@cleared_with_clouds
@functools.lru_cache(maxsize=4096)
def judge(case: MemoryCase, *, types: bool = True) -> MemoryVerdict:
    """Return whether a model fits, and with ``types`` also the instance types on which it would.

    Nothing is guessed: missing facts lead to the verdict "not checked".
    """
    if case.shape.span is not None:
        return _judge_span(case, case.shape.span, types=types)
    missing = _missing_fact(case)
    if missing:
        return MemoryVerdict(Fit.UNKNOWN, missing, case)
    context = case.length or 0
    ledger = ledger_of(case)
    choices = cheapest_types(case, _fits) if types else ()
    largest = _largest_context(ledger, max(context, case.shape.max_context or 0))
    fit, reason = _verdict(ledger, context, largest, choices)
    one = ledger.of_sequence(context)
    return MemoryVerdict(
        fit=fit,
        reason=f"{wording.estimated(case)}: {reason}" if case.shape.estimate and fit is not Fit.UNKNOWN else reason,
        asked=case,
        parts=ledger.parts(context),
        usable=ledger.usable(context),
        context=context,
        sequences=ledger.room(context) // one if one else 0,
        largest_context=largest,
        types=choices,
        notes=_notes(case, ledger.error(context)),
    )


def _judge_span(case: MemoryCase, span: SizeSpan, *, types: bool) -> MemoryVerdict:
    """Judge a model of which only a range of sizes is known.

    It is exceeded if even the lower end does not fit without any cache, and fits if the upper end does.
    """
    from .naming import least_of, most_of

    bits = bits_of(case.weights_dtype)
    if bits is not None and bits < span.most_bits:
        span = span._replace(least_bits=min(bits, span.least_bits), most_bits=bits)
    spanned = replace(case, shape=replace(case.shape, span=span))
    least = replace(case, shape=least_of(case.shape, span), weights_dtype="", context=case.context or 1)
    most = replace(case, shape=most_of(case.shape, span), weights_dtype="")
    missing = _missing_fact(least)
    if missing:
        return MemoryVerdict(Fit.UNKNOWN, missing, case)
    lower = ledger_of(least)
    choices = cheapest_types(most, _fits) if types and case.context else ()
    if lower.margin(1) < 0:
        parts, usable = lower.parts(1), lower.usable(1)
        fit = Fit.TIGHT if case.budget.spills else Fit.EXCEEDED
        reason = wording.exceeding(least, parts, usable) + wording.next_step(most, _remedies(most, choices))
    elif case.context is None:
        size = wording.gib(sum(part.size for part in lower.parts(1)))
        reason = (
            f"{case.shape.name}: no context length is set, and the model's own is unknown; estimated from "
            f"{case.shape.estimate}, it needs at least {size} of {wording.gib(lower.usable(1))}"
        )
        return MemoryVerdict(Fit.UNKNOWN, reason, case)
    else:
        upper, context = ledger_of(most), case.context
        parts, usable = upper.parts(context), upper.usable(context)
        margin = upper.margin(context)
        uncounted = upper.uncounted(context)
        is_sized = margin >= upper.error(context)
        fit = Fit.FITS if is_sized and not uncounted else Fit.TIGHT
        reason = wording.fitting(most, parts, usable, margin)
        if fit is Fit.TIGHT:
            comfortable = _comfortable_context(upper, _largest_context(upper, context))
            remedies = _remedies(most, choices, context=comfortable)
            words = wording.perhaps(most, parts, usable)
            if is_sized:
                words = wording.uncounted(most, parts, usable, uncounted)
            reason = words + wording.next_step(most, remedies)
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
    case, margin = ledger.case, ledger.inside(context)
    parts, usable, error = ledger.parts(context), ledger.usable(context), ledger.error(context)
    indivisible = refusal(case)
    if indivisible:
        return Fit.EXCEEDED, indivisible + _whole_experts(case)
    if ledger.lacks_to_load:
        return Fit.EXCEEDED, wording.loading(case, ledger.lacks_to_load) + wording.next_step(
            case, _remedies(case, types)
        )
    beside = ledger.left_beside(context)
    # Of weights that are too large, how much they exceed the share counts.
    if beside is not None and beside < (ledger.error_beside(context) if margin >= 0 else 0):
        fit = Fit.EXCEEDED if beside < 0 else Fit.TIGHT
        comfortable = _comfortable_context(ledger, largest)
        remedies = _remedies(case, types, context=comfortable, share=_smaller_share(ledger, context))
        return fit, wording.beside(case, ledger.beside(context), beside) + wording.next_step(case, remedies)
    uncounted = ledger.uncounted(context)
    if margin >= error and uncounted:
        step = wording.next_step(case, _remedies(case, types, share=_smaller_share(ledger, context)))
        return Fit.TIGHT, wording.uncounted(case, parts, usable, uncounted) + step
    if margin >= error and (doubt := doubtful_division(case)):
        return Fit.UNKNOWN, doubt
    if margin >= error:
        return Fit.FITS, wording.fitting(case, parts, usable, margin)
    if case.shape.estimate and margin < 0 <= margin + ledger.unsure:
        remedies = _remedies(case, types, context=_comfortable_context(ledger, largest))
        return Fit.TIGHT, wording.perhaps(case, parts, usable) + wording.next_step(case, remedies)
    if not case.shape.exact and ledger.least(context) >= 0:
        return Fit.UNKNOWN, (
            f"{case.shape.name} needs at most {wording.gib(sum(part.size for part in parts))} of "
            f"{wording.gib(usable)}, possibly less: no source says which of its layers cache the whole context"
        )
    if margin >= 0:
        step = wording.next_step(case, _remedies(case, types, context=_comfortable_context(ledger, largest)))
        return Fit.TIGHT, wording.tight(case, parts, usable, margin, error) + step
    reason = wording.exceeding(case, parts, usable)
    if case.budget.spills:
        return Fit.TIGHT, f"{reason}; {case.engine or 'the engine'} keeps the rest in host memory, which is slow"
    if largest and not (case.budget.reserves_context or case.budget.reserves_all):
        return Fit.TIGHT, f"{reason}; the engine starts, but rejects requests longer than {largest:,} tokens"
    remedies = _remedies(case, types, context=largest, requests=_fewer_requests(ledger, context))
    return Fit.EXCEEDED, reason + wording.next_step(case, remedies)


def _whole_experts(case: MemoryCase) -> str:
    """Return the step that keeps experts whole, if a model then fits the same accelerators; otherwise empty."""
    whole = replace(case, parallel=replace(case.parallel, experts=True))
    flag = expert_parallel_flag(case)
    if not flag or case.parallel.experts or not case.shape.experts or not _fits(whole):
        return ""
    return f", or add {flag}, which keeps experts whole"


def _missing_fact(case: MemoryCase) -> str:
    """Name the fact without which a case cannot be judged; empty if nothing is missing."""
    name = case.shape.name
    if case.device_bytes <= 0:
        return f"the memory of {case.device or 'the accelerator'} is unknown"
    if maker_of(case.device) not in _MEASURED:
        return f"no measurement of {case.engine or 'the engine'}'s memory use on {case.device}"
    weights = weights_of(case.shape, case.weights_dtype)
    if isinstance(weights, str):
        return f"{name}: {weights}"
    if not case.shape.layers:
        return f"{name}: the size of its key-value cache per token is unknown"
    if case.length is None:
        return f"{name}: no context length is set, and the model's own is unknown"
    if case.draft is not None:
        draft = weights_of(case.draft)
        if isinstance(draft, str):
            return f"the draft model {case.draft.name}: {draft}"
        if not case.draft.layers:
            return f"the draft model {case.draft.name}: the size of its key-value cache per token is unknown"
    if shares_unknown_experts(case):
        return f"{name}: the size of its experts, which data parallel ranks share, is unknown"
    if adapter_bytes(case) is None:
        return f"{name}: its layer widths, which determine the size of LoRA adapters, are unknown"
    return ""


def ledger_of(case: MemoryCase) -> Ledger:
    """Return the memory of a case that :func:`judge` can judge; its size must be known."""
    weights = weights_of(case.shape, case.weights_dtype)
    draft = weights_of(case.draft) if case.draft else None
    if not isinstance(weights, WeightSizes) or isinstance(draft, str):
        raise TypeError(case)
    quantizes_late = case.budget.loads_whole and case.weights_dtype in _QUANTIZED_AFTER_LOADING
    loaded = weights_of(case.shape) if quantizes_late else None
    if not isinstance(loaded, WeightSizes) or loaded.total <= weights.total:
        loaded = None
    return Ledger(case, weights, draft, loaded)


def _fits(case: MemoryCase) -> bool:
    ledger, context = ledger_of(case), case.length or 0
    is_divided = not refusal(case) and not doubtful_division(case)
    return _is_comfortable(ledger, context) and is_divided and not ledger.lacks_to_load


def _is_comfortable(ledger: Ledger, context: int) -> bool:
    return ledger.is_comfortable(context) and not ledger.uncounted(context)


def _remedies(
    case: MemoryCase,
    types: tuple[CheaperType, ...],
    *,
    context: int = 0,
    requests: int = 0,
    share: Decimal | None = None,
) -> wording.Remedies:
    return wording.Remedies(
        spread=_spread_over_replica(case),
        more=_spread_over_node(case),
        context=context,
        requests=requests,
        types=types,
        share=share,
        no_videos=_without_videos(case),
    )


def _without_videos(case: MemoryCase) -> str:
    """Return how to turn videos off, if a model then fits; otherwise empty."""
    if not case.no_videos or case.encoder is None or not case.encoder.video or not case.media.has_videos:
        return ""
    return case.no_videos if _fits(replace(case, media=replace(case.media, videos=0))) else ""


def _spread_over_replica(case: MemoryCase) -> Parallel | None:
    """Return the parallelism over a replica's own accelerators at which its model fits.

    None if all are used already, if the manifest has no field for it, or if it does not help.
    """
    now, spread = case.parallel, case.spread
    if spread is None or not case.budget.cuts or now.accelerators >= case.per_pod * case.pods:
        return None
    pipeline = now.pipeline if case.pods == 1 else case.pods
    most = case.per_pod // (now.pipeline * now.data) if case.pods == 1 else case.per_pod
    if case.pods > 1 and (now.data > 1 or not spread.both):
        return None
    # Most accelerators first: idle ones are paid for as well.
    degrees = [
        degree
        for degree in reversed(allowed_degrees(case.shape, experts=now.experts))
        if degree <= most and degree * pipeline > now.tensor * now.pipeline
    ]
    if spread.is_whole:
        degrees = [degree for degree in degrees if degree == most]
    candidates = [Parallel(degree, pipeline, now.data, now.experts) for degree in degrees]
    return next((parallel for parallel in candidates if _fits(spread_over(case, parallel))), None)


def _spread_over_node(case: MemoryCase) -> Parallel | None:
    """Return the parallelism over more accelerators of the same node at which a model fits; None without one."""
    if not case.budget.cuts or case.pods > 1:
        return None
    degrees = allowed_degrees(case.shape, experts=case.parallel.experts)
    candidates = (Parallel(degree, experts=case.parallel.experts) for degree in degrees)
    within = (parallel for parallel in candidates if case.per_pod < parallel.tensor <= case.per_node)
    return next((parallel for parallel in within if _fits(spread_over(case, parallel))), None)


def _smaller_share(ledger: Ledger, context: int) -> Decimal | None:
    """Return the largest smaller memory share, in hundredths, at which everything fits; None if no share does."""
    case = ledger.case
    now = case.budget.share if case.share is None else case.share
    if now is None:
        return None
    shares = (Decimal(hundredths) / 100 for hundredths in range(int((now or 1) * 100) - 1, 49, -1))
    return next(
        (share for share in shares if _is_comfortable(replace(ledger, case=replace(case, share=share)), context)),
        None,
    )


def _fewer_requests(ledger: Ledger, context: int) -> int:
    """Return the largest number of concurrent requests with which a case fits; 0 if fewer do not help.

    Fewer requests need fewer logits and states. An engine that divides its cache among them gains nothing.
    """
    case = ledger.case
    if case.requests is None or case.budget.reserves_all:
        return 0

    def holds(requests: int) -> bool:
        return replace(ledger, case=replace(case, sequences=requests)).margin(context) >= 0

    return _bisect(holds, case.requests - 1)


def _largest_context(ledger: Ledger, bound: int) -> int:
    """Return the longest context up to a bound that fits; 0 if none does."""
    return _bisect(lambda context: ledger.margin(context) >= 0, bound)


def _comfortable_context(ledger: Ledger, bound: int) -> int:
    """Return the longest context up to a bound that fits without being tight; 0 if none does."""
    return _bisect(ledger.is_comfortable, bound)


def _bisect(holds: Callable[[int], bool], bound: int) -> int:
    """Return the largest number up to a bound for which a monotone condition holds; 0 if it never does."""
    least, most = 0, bound
    while least < most:
        middle = (least + most + 1) // 2
        if holds(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _notes(case: MemoryCase, error: int) -> tuple[str, ...]:
    notes = [f"measured servers needed up to {wording.gib(error)} more than this total"] if error else []
    if case.shape.estimate:
        notes.append("an estimate: for exact figures, describe the model in modelShapes by config.json or weightsGib")
    if not case.shape.exact:
        notes.append("the cache is an upper bound: no source says which layers cache the whole context")
    if case.shape.rounded and case.shape.weights_bytes is None:
        notes.append("the size of the weights is estimated from a rounded number of parameters")
    if case.shape.images and case.encoder is None and not case.media.is_text:
        notes.append("the memory for encoding images and audio is not included")
    if case.adapters and case.shape.experts:
        notes.append("LoRA adapters of experts are not included")
    unknown = unknown_widths(case.shape)
    if unknown and case.shape.span is None:
        notes.append(f"activations do not include the {' and '.join(unknown)}, which no source states")
    return tuple(notes)
