"""Replicas as upstream computes them (optimizer-light v0.5.0, pkg/core/allocation.go)."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from ..cases import Behaviour, Case, Limit, Sized
from ..refusals import MOST_REPLICAS, too_many, unusable
from .queue import Queue, Single, largest

_MARGIN = -Single(math.log(1 - 0.95))
_MOST_AT_ONCE = 8192
"""Maximum batch size; larger ones would take minutes."""
_BEYOND = "the numbers exceed the range of 32-bit floats"


def size_literally(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return the result of upstream's library for each case, given exactly these numbers.

    Upstream accepts an inter-token latency target although token times are constant; rounding decides then.
    """
    with np.errstate(all="ignore"):
        return tuple(_size(case) for case in cases)


@dataclass(frozen=True, slots=True)
class _Bound:
    """The maximum rate within a latency target.

    Attributes:
        rate: The rate; the end of the search range if the target is not reached within it.
        side: -1 if even the lowest rate of the search misses the target, 1 if even the highest one meets it, else 0.
        limit_ms: The limit that follows from the target; None without a target.
    """

    rate: Single
    side: int
    limit_ms: float | None

    @property
    def per_minute(self) -> float | None:
        if self.limit_ms is None:
            return None
        return 0.0 if self.side < 0 else per_minute(self.rate)


def per_minute(rate: Single) -> float:
    """Convert upstream's requests per millisecond to requests per minute."""
    return float(rate * Single(1000) * Single(60))


def _size(case: Case) -> Sized:
    profile, reason = case.profile, unusable(case)
    if not reason and any(case.prefill):
        reason = "the profile has a prefill (gamma and delta), which upstream's model at c0f645c does not have"
    if not reason and profile.batch > _MOST_AT_ONCE:
        reason = f"the maximum batch size must be at most {_MOST_AT_ONCE}, found {profile.batch}"
    numbers = (case.per_minute, case.output_tokens, case.cents_per_hour, profile.alpha, profile.beta)
    if not reason and max(numbers) > np.finfo(Single).max:
        reason = _BEYOND
    refused = Sized(case=case, reason=reason, limit=Limit.CAPACITY)
    if reason:
        return refused
    alpha, beta, tokens = Single(profile.alpha), Single(profile.beta), int(Single(case.output_tokens))
    if Single(case.per_minute) == 0 or tokens == 0:
        sized = _without_load(case, alpha, beta)
    else:
        queue = Queue(alpha, beta, case.profile.batch, tokens)
        if not queue.is_computable:
            return replace(refused, reason=_BEYOND)
        sized = _allocated(case, queue)
    limits = (sized.service_limit_ms or 0.0, sized.wait_limit_ms or 0.0)
    figures = [
        sized.most_per_minute,
        sized.cents_per_hour,
        *limits,
        *(astuple(sized.behaviour) if sized.behaviour else ()),
    ]
    return sized if np.isfinite(figures).all() else replace(refused, reason=_BEYOND)


def _without_load(case: Case, alpha: Single, beta: Single) -> Sized:
    """Return upstream's result without load. Its maximum rate ignores the output tokens, so it is meaningless."""
    batch = Single(case.profile.batch)
    itl, most = float(alpha + beta), per_minute(batch / (alpha + beta * batch))
    idle = Behaviour(itl_ms=itl)
    return Sized(
        case=case,
        limit=Limit.CAPACITY,
        most_per_minute=most,
        capacity_per_minute=most,
        replicas=case.least,
        behaviour=idle,
        cents_per_hour=_price(case, case.least),
    )


def _price(case: Case, replicas: int) -> float:
    return float(Single(case.cents_per_hour) * Single(case.profile.count * replicas))


def _allocated(case: Case, queue: Queue) -> Sized:
    targets, tokens, high = case.targets, Single(queue.tokens), queue.high
    itl, ttft = _Bound(high, 0, None), _Bound(high, 0, None)
    if targets.itl_ms:
        limit = tokens * Single(targets.itl_ms)
        itl = _Bound(*largest(queue.low, high, limit, lambda rate: queue.solve(rate).service), float(limit))
    if targets.ttft_ms:
        limit = Single(targets.ttft_ms) / _MARGIN
        ttft = _Bound(*largest(queue.low, high, limit, lambda rate: queue.solve(rate).wait), float(limit))
    most, reason = min(itl.rate, ttft.rate), _reason(case, queue, itl, ttft)
    load = Single(case.per_minute) / Single(60) / Single(1000)
    needed = float(load) / float(most)
    replicas = max(math.ceil(needed), case.least) if needed < 2**63 else 2**63
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
        behaviour=None if reason else _behaviour(queue, load / Single(replicas)),
        cents_per_hour=0.0 if reason else _price(case, replicas),
        slowest_per_minute=per_minute(queue.low),
        service_limit_ms=itl.limit_ms,
        wait_limit_ms=ttft.limit_ms,
    )


def _reason(case: Case, queue: Queue, itl: _Bound, ttft: _Bound) -> str:
    least, targets, tokens = queue.solve(queue.low), case.targets, Single(queue.tokens)
    missed = []
    if itl.side < 0:
        missed.append(f"a token takes {least.service / tokens:.7g} ms, above the target of {targets.itl_ms} ms")
    if ttft.side < 0:
        missed.append(
            f"5 % of requests wait longer than {least.wait * _MARGIN:.7g} ms, above the target of "
            f"{targets.ttft_ms} ms"
        )
    rate = f"at {per_minute(queue.low):.4g} requests per minute, the lowest rate that upstream tries"
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
