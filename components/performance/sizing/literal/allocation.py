"""Replicas as upstream finds them (optimizer-light v0.5.0, pkg/core/allocation.go)."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from ..cases import Behaviour, Case, Limit, Sized
from ..refusals import MOST_REPLICAS, too_many, unusable
from .queue import Queue, Single, largest

_MARGIN = -Single(math.log(1 - 0.95))
_DELTA = Single(0.001)
_MOST_AT_ONCE = 8192
"""Requests of a batch; more would take minutes."""
_BEYOND = "the numbers are beyond what 32 bits can hold"


def size_literally(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return what upstream's library answers to each case, if it is given exactly these numbers.

    It does not refuse a promise that bounds no load, because a token takes the same time under any: rounding decides.
    """
    with np.errstate(all="ignore"):
        return tuple(_size(case) for case in cases)


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a promise allows: the largest rate, and whether that is below or above what was tried."""

    rate: Single
    side: int
    limit_ms: float | None

    @property
    def per_minute(self) -> float | None:
        if self.limit_ms is None:
            return None
        return 0.0 if self.side < 0 else per_minute(self.rate)


def per_minute(rate: Single) -> float:
    """Return upstream's requests a minute."""
    return float(rate * Single(1000) * Single(60))


def _size(case: Case) -> Sized:
    alone = Sized(case, unusable(case) or _too_large(case), Limit.CAPACITY, 0.0, None, None, 0.0, 0, None, 0.0)
    if alone.reason:
        return alone
    alpha, beta, tokens = Single(case.profile.alpha), Single(case.profile.beta), int(Single(case.output_tokens))
    if Single(case.per_minute) == 0 or tokens == 0:
        sized = _unasked(case, alpha, beta)
    else:
        queue = Queue(alpha, beta, case.profile.batch, tokens)
        if not queue.is_computable:
            return replace(alone, reason=_BEYOND)
        sized = _allocated(case, queue)
    limits = (sized.service_limit_ms or 0.0, sized.wait_limit_ms or 0.0)
    figures = [
        sized.most_per_minute,
        sized.cents_per_hour,
        *limits,
        *(astuple(sized.behaviour) if sized.behaviour else ()),
    ]
    return sized if np.isfinite(figures).all() else replace(alone, reason=_BEYOND)


def _too_large(case: Case) -> str:
    if case.profile.batch > _MOST_AT_ONCE:
        return f"the largest batch is {case.profile.batch}: up to {_MOST_AT_ONCE} are computed"
    numbers = (case.per_minute, case.output_tokens, case.cents_per_hour, case.profile.alpha, case.profile.beta)
    return _BEYOND if max(numbers) > np.finfo(Single).max else ""


def _unasked(case: Case, alpha: Single, beta: Single) -> Sized:
    """Return the answer where there is no load: its largest rate leaves out the tokens, and means nothing."""
    batch = Single(case.profile.batch)
    itl, most = float(alpha + beta), per_minute(batch / (alpha + beta * batch))
    idle = Behaviour(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, itl)
    return Sized(case, "", Limit.CAPACITY, most, None, None, most, case.least, idle, _price(case, case.least))


def _price(case: Case, replicas: int) -> float:
    return float(Single(case.cents_per_hour) * Single(case.profile.count * replicas))


def _allocated(case: Case, queue: Queue) -> Sized:
    promise, tokens, high = case.promise, Single(queue.tokens), queue.high
    itl, ttft = _Bound(high, 0, None), _Bound(high, 0, None)
    if promise.itl_ms:
        limit = tokens * Single(promise.itl_ms)
        itl = _Bound(*largest(queue.low, high, limit, lambda rate: queue.solve(rate).service), float(limit))
    if promise.ttft_ms:
        limit = Single(promise.ttft_ms) / _MARGIN
        ttft = _Bound(*largest(queue.low, high, limit, lambda rate: queue.solve(rate).wait), float(limit))
    most, reason = min(itl.rate, ttft.rate), _reason(case, queue, itl, ttft)
    asked = Single(case.per_minute) / Single(60) / Single(1000)
    replicas = max(math.ceil(float(asked) / float(most)), case.least) if float(asked) / float(most) < 2**63 else 2**63
    if not reason and replicas > MOST_REPLICAS:
        reason = too_many(case, per_minute(most))
    limits = {itl.rate: Limit.ITL, ttft.rate: Limit.TTFT, high: Limit.CAPACITY}
    return Sized(
        case=case,
        reason=reason,
        limit=limits[most],
        most_per_minute=0.0 if min(itl.side, ttft.side) < 0 else per_minute(most),
        itl_per_minute=itl.per_minute,
        ttft_per_minute=ttft.per_minute,
        capacity_per_minute=per_minute(high),
        replicas=0 if reason else replicas,
        behaviour=None if reason else _behaviour(queue, asked / Single(replicas)),
        cents_per_hour=0.0 if reason else _price(case, replicas),
        slowest_per_minute=per_minute(queue.low),
        service_limit_ms=itl.limit_ms,
        wait_limit_ms=ttft.limit_ms,
    )


def _reason(case: Case, queue: Queue, itl: _Bound, ttft: _Bound) -> str:
    least, promise, tokens = queue.solve(queue.low), case.promise, Single(queue.tokens)
    missed = []
    if itl.side < 0:
        missed.append(f"a token takes {least.service / tokens:.7g} ms, promised are {promise.itl_ms} ms")
    if ttft.side < 0:
        missed.append(
            f"5 % of the requests wait longer than {least.wait * _MARGIN:.7g} ms, promised are {promise.ttft_ms} ms"
        )
    rate = f"at {per_minute(queue.low):.4g} requests a minute, the least that upstream tries"
    return f"{'; '.join(missed)}, {rate}" if missed else ""


def _behaviour(queue: Queue, rate: Single) -> Behaviour:
    solved = queue.solve(rate)
    figures = (
        per_minute(rate),
        per_minute(solved.throughput),
        solved.in_system,
        solved.in_service,
        solved.busy,
        solved.response,
        solved.service,
        solved.wait,
        solved.wait * _MARGIN,
        solved.service / Single(queue.tokens),
    )
    return Behaviour(*(float(figure) for figure in figures))
