"""Replicas of many cases at once (WVA spec 8.5, 8.6).

Cases with the same batch are computed together, in chunks whose states fit into the processor's cache. The results do
not depend on the chunk: each case gets exactly the same bits as if it were computed alone.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..cases import Behaviour, Case, Limit, Sized
from ..refusals import MOST_REPLICAS, broken_itl, broken_ttft, constant, too_many, unusable
from .columns import Columns
from .roots import Floats

_TOGETHER = 65_536
"""Maximum states in a chunk, unless a single case has more."""


def size_all(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return the replicas that each case needs, and their behaviour, in the order of the cases."""
    sized: dict[int, Sized] = {}
    by_batch: dict[int, list[int]] = {}
    for number, case in enumerate(cases):
        if known := _without_queue(case):
            sized[number] = known
        else:
            by_batch.setdefault(case.profile.batch, []).append(number)
    for batch, numbers in by_batch.items():
        step = max(1, _TOGETHER // batch)
        for start in range(0, len(numbers), step):
            some = numbers[start : start + step]
            sized.update(zip(some, _sized([cases[number] for number in some]), strict=True))
    return tuple(sized[number] for number in range(len(cases)))


def behave_all(case: Case, per_minute: Sequence[float]) -> list[Behaviour]:
    """Return the behaviour of one replica at each of several request rates per minute."""
    columns, step = Columns.of([case]), max(1, _TOGETHER // case.profile.batch)
    behaviours: list[Behaviour] = []
    for start in range(0, len(per_minute), step):
        some = np.array(per_minute[start : start + step], dtype=np.float64)
        behaviours += columns.behaviours(some, np.zeros(len(some), dtype=np.intp))
    return behaviours


def _without_queue(case: Case) -> Sized | None:
    """Return the result of a case that needs no queueing model, such as one without output tokens; None otherwise."""
    if reason := unusable(case):
        return Sized(case=case, reason=reason, limit=Limit.CAPACITY)
    tokens, reason = int(case.output_tokens), constant(case)
    if tokens and not reason:
        return None
    if tokens and case.per_minute:
        return Sized(case=case, reason=reason, limit=Limit.ITL, itl_per_minute=0.0)
    itl, service, prefill = case.profile.alpha + case.profile.beta, tokens * sum(case.service), sum(case.prefill)
    idle = Behaviour(response_ms=service, service_ms=service, itl_ms=itl, prefill_ms=prefill)
    return Sized(
        case=case, limit=Limit.CAPACITY, replicas=case.least, behaviour=idle, cents_per_hour=_price(case, case.least)
    )


def _price(case: Case, replicas: int) -> float:
    return case.cents_per_hour * case.profile.count * replicas


def _sized(cases: Sequence[Case]) -> Iterator[Sized]:
    """Yield the results of cases with the same batch."""
    columns = Columns.of(cases)
    itl, ttft, high = columns.itl_load, columns.ttft_load, columns.high
    requested, least = (np.array([getattr(case, name) for case in cases], float) for name in ("per_minute", "least"))
    most = columns.per_minute(np.minimum(itl, ttft))
    needed = np.maximum(_needed(requested, most), least)
    rows = np.flatnonzero((requested == 0) | (most > 0) & (needed <= MOST_REPLICAS))
    behaviours = columns.behaviours(requested[rows] / np.maximum(needed[rows], 1), rows)
    known = dict(zip(rows.tolist(), behaviours, strict=True))
    rates = [most, columns.per_minute(itl), columns.per_minute(ttft), columns.per_minute(high)]
    figures = [*rates, columns.per_minute(columns.low), columns.service_limit_ms, columns.wait_limit_ms]
    reasons = _reasons(columns, cases, most)
    for row, numbers in enumerate(zip(*(column.tolist() for column in figures), strict=True)):
        case, (rate, by_itl, by_ttft, capacity, slowest, service, wait) = cases[row], numbers
        behaviour, targets = known.get(row), case.targets
        replicas = int(needed[row]) if behaviour else 0
        yield Sized(
            case=case,
            reason="" if behaviour else reasons.get(row) or too_many(case, rate),
            limit=Limit.CAPACITY if rate == capacity else Limit.ITL if rate == by_itl else Limit.TTFT,
            most_per_minute=rate,
            itl_per_minute=by_itl if targets.itl_ms else None,
            ttft_per_minute=by_ttft if targets.ttft_ms else None,
            capacity_per_minute=capacity,
            replicas=replicas,
            behaviour=behaviour,
            cents_per_hour=_price(case, replicas),
            slowest_per_minute=slowest,
            service_limit_ms=service if targets.itl_ms else None,
            wait_limit_ms=wait if targets.ttft_ms else None,
        )


def _needed(rate: Floats, most: Floats) -> Floats:
    """Return the replicas for each rate; infinity if a replica meets the targets at no rate."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        needed = np.ceil(rate / most)
        needed -= (needed - 1) * most >= rate  # rounding can lift a quotient just above a whole number
    return np.where(rate > 0, np.maximum(needed, 1.0), 0.0)


def _reasons(columns: Columns, cases: Sequence[Case], most: Floats) -> dict[int, str]:
    """Return why latency targets cannot be met, by row, with the latencies at the lowest rate."""
    rows = np.flatnonzero(most == 0)
    slowest = columns.per_minute(columns.low)[rows]
    least = zip(rows.tolist(), slowest.tolist(), columns.behaviours(slowest, rows), strict=True)
    reasons = {}
    for row, rate, behaviour in least:
        case = cases[row]
        itl = broken_itl(case, rate, behaviour.itl_ms) if columns.itl_load[row] == -np.inf else ""
        ttft = broken_ttft(case, rate, behaviour) if columns.ttft_load[row] == -np.inf else ""
        reasons[row] = "; ".join(filter(None, (itl, ttft)))
    return reasons
