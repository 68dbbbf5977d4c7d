"""Replicas of many cases at once (WVA spec 8.5, 8.6).

Cases with one batch are computed together, so many at a time that their states stay in the processor's cache. No case
depends on its neighbours: not one bit of what it needs changes with them.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..cases import Behaviour, Case, Limit, Sized
from ..refusals import MOST_REPLICAS, broken_itl, broken_ttft, constant, too_many, unusable
from .columns import Columns
from .roots import Floats

_TOGETHER = 65_536
"""States that are computed together, unless one replica has more."""


def size_all(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return how many replicas each case needs, and what they do."""
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
    """Return what one replica does at each of some rates of requests."""
    columns, step = Columns.of([case]), max(1, _TOGETHER // case.profile.batch)
    found: list[Behaviour] = []
    for start in range(0, len(per_minute), step):
        some = np.array(per_minute[start : start + step], dtype=np.float64)
        found += columns.behaviours(some, np.zeros(len(some), dtype=np.intp))
    return found


def _without_queue(case: Case) -> Sized | None:
    """Return the answer if there are no figures, or nothing is asked of which there could be; None otherwise."""
    if reason := unusable(case):
        return Sized(case, reason, Limit.CAPACITY, 0.0, None, None, 0.0, 0, None, 0.0)
    tokens, reason = int(case.output_tokens), constant(case)
    if tokens and not reason:
        return None
    if tokens and case.per_minute:
        return Sized(case, reason, Limit.ITL, 0.0, 0.0, None, 0.0, 0, None, 0.0)
    itl = case.profile.alpha + case.profile.beta
    idle = Behaviour(0.0, 0.0, 0.0, 0.0, 0.0, tokens * itl, tokens * itl, 0.0, 0.0, itl)
    return Sized(case, "", Limit.CAPACITY, 0.0, None, None, 0.0, case.least, idle, _price(case, case.least))


def _price(case: Case, replicas: int) -> float:
    return case.cents_per_hour * case.profile.count * replicas


def _sized(cases: Sequence[Case]) -> Iterator[Sized]:
    """Yield the answers for cases with one batch."""
    columns = Columns.of(cases)
    itl, ttft, high = columns.itl_load, columns.ttft_load, columns.high
    asked, least = (np.array([getattr(case, name) for case in cases], float) for name in ("per_minute", "least"))
    most = columns.per_minute(np.minimum(itl, ttft))
    needed = np.maximum(_needed(asked, most), least)
    rows = np.flatnonzero((asked == 0) | (most > 0) & (needed <= MOST_REPLICAS))
    behaviours = columns.behaviours(asked[rows] / np.maximum(needed[rows], 1), rows)
    known = dict(zip(rows.tolist(), behaviours, strict=True))
    rates = [most, columns.per_minute(itl), columns.per_minute(ttft), columns.per_minute(high)]
    figures = [*rates, columns.per_minute(columns.low), columns.service_limit_ms, columns.wait_limit_ms]
    reasons = _reasons(columns, cases, most)
    for row, numbers in enumerate(zip(*(column.tolist() for column in figures), strict=True)):
        case, (rate, by_itl, by_ttft, capacity, slowest, service, wait) = cases[row], numbers
        does, promise = known.get(row), case.promise
        replicas = int(needed[row]) if does else 0
        yield Sized(
            case=case,
            reason="" if does else reasons.get(row) or too_many(case, rate),
            limit=_limit(rate, by_itl, capacity),
            most_per_minute=rate,
            itl_per_minute=by_itl if promise.itl_ms else None,
            ttft_per_minute=by_ttft if promise.ttft_ms else None,
            capacity_per_minute=capacity,
            replicas=replicas,
            behaviour=does,
            cents_per_hour=_price(case, replicas),
            slowest_per_minute=slowest,
            service_limit_ms=service if promise.itl_ms else None,
            wait_limit_ms=wait if promise.ttft_ms else None,
        )


def _needed(asked: Floats, most: Floats) -> Floats:
    """Return replicas for a rate; without one that can take any, infinitely many."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        needed = np.ceil(asked / most)
        needed -= (needed - 1) * most >= asked  # a quotient that was rounded up to above a whole number
    return np.where(asked > 0, np.maximum(needed, 1.0), 0.0)


def _limit(most: float, by_itl: float, capacity: float) -> Limit:
    if most == capacity:
        return Limit.CAPACITY
    return Limit.ITL if most == by_itl else Limit.TTFT


def _reasons(columns: Columns, cases: Sequence[Case], most: Floats) -> dict[int, str]:
    """Return why promises cannot be kept, by row."""
    rows = np.flatnonzero(most == 0)
    slowest = columns.per_minute(columns.low)[rows]
    least = zip(rows.tolist(), slowest.tolist(), columns.behaviours(slowest, rows), strict=True)
    reasons = {}
    for row, rate, does in least:
        case = cases[row]
        itl = broken_itl(case, rate, does.itl_ms) if columns.itl_load[row] == -np.inf else ""
        ttft = broken_ttft(case, rate, does.wait_p95_ms) if columns.ttft_load[row] == -np.inf else ""
        reasons[row] = "; ".join(filter(None, (itl, ttft)))
    return reasons
