"""Whether a promise can be kept with a profile, whatever the number of replicas (WVA spec 8.5).

What depends on the load is left to the model of queues.
"""

from dataclasses import dataclass
from decimal import Decimal

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....fleet.levels import Promise
from ....performance.sizing.refusals import MOST_AT_ONCE
from .accelerator import Entry
from .levels import LEVELS

_FASTEST, _SLOWEST = Decimal("0.000001"), Decimal(1_000_000)
"""Milliseconds for a token. What is beyond is a slip of the pen, and leads out of what numbers can hold."""
_NOISE = Decimal("0.0000001")
"""What of a number its neighbours in single precision differ by; the optimizer computes rates in that (8.9)."""
_DIGITS = 24
"""Most of a number that a message shows."""


@dataclass(frozen=True, slots=True)
class Promised:
    """What a service class promises for a model."""

    model: str
    class_name: str
    promise: Promise


def check_promise(entry: Entry, promised: Promised, findings: Findings) -> None:
    """Report a profile with which a promise cannot be kept, or that no rate can be computed from."""
    if not _is_computable(entry, findings):
        return
    promise = promised.promise
    if not promise.itl_ms and not promise.ttft_ms:
        reason = (
            f"class {promised.class_name!r} promises nothing for it (itlMs and ttftMs are 0): it is sized so that it "
            f"just does not fall behind, and requests wait long; set one of them in {LEVELS}.classes"
        )
        findings.warn("spec.modelID", reason, RuleId.SIZING_UNPROMISED)
    if promise.itl_ms:
        _check_degenerate(entry, promised, findings)
        _check_feasible(entry, promised, findings)


def _is_computable(entry: Entry, findings: Findings) -> bool:
    is_plausible = _FASTEST <= _alone(entry) <= _SLOWEST
    is_small = entry.given.max_batch_size <= MOST_AT_ONCE
    if not is_plausible:
        findings.error(
            f"{entry.path}.alpha",
            f"{_sum(entry)} ms for a token of a request that is alone, which no engine takes: it must be at least "
            f"{_FASTEST} and at most {_SLOWEST} ms; measure alpha and beta (workbench fit-profile)",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    if not is_small:
        findings.error(
            f"{entry.path}.maxBatchSize",
            f"must be at most {MOST_AT_ONCE} for a plan, found {entry.given.max_batch_size}; write the most "
            "requests that the engine works on at once, mostly some hundreds",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    return is_plausible and is_small


def _check_degenerate(entry: Entry, promised: Promised, findings: Findings) -> None:
    """Refuse a profile in which a token takes equally long at any rate: rounding noise would decide (8.5)."""
    given, limit = entry.given, promised.promise.itl_ms
    noise = (
        f"so that the {limit} ms that class {promised.class_name!r} promises say nothing about how many requests a "
        "replica can take, and rounding errors decide whether any number of replicas is found"
    )
    instead = f"or promise no inter-token latency ({LEVELS}.classes, itlMs: 0)"
    if Decimal(given.beta) <= _alone(entry) * _NOISE:
        findings.error(
            f"{entry.path}.beta",
            f"must be above 0, found {shortened(given.beta)}: a token takes {shortened(given.alpha)} ms however many "
            f"requests there are, {noise}; measure it with several at once (workbench fit-profile), {instead}",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    if given.max_batch_size == 1:
        findings.error(
            f"{entry.path}.maxBatchSize",
            f"must be at least 2, found 1: a request is always alone, and a token takes {_sum(entry)} ms, {noise}; "
            f"write what the engine works on at once, {instead}",
            RuleId.SIZING_IMPLAUSIBLE,
        )


def _check_feasible(entry: Entry, promised: Promised, findings: Findings) -> None:
    alone, promise = _alone(entry), promised.promise
    if alone < promise.itl_ms:
        return
    findings.error(
        f"{entry.path}.alpha",
        f"{_sum(entry)} ms for a token of a request that is alone, and class {promised.class_name!r} promises "
        f"{promise.itl_ms} ms (itlMs) for {promised.model!r}: no number of replicas can keep that; "
        f"promise at least {int(alone) + 1} ms, or run it on a faster accelerator than {entry.given.acc!r}",
        RuleId.SIZING_IMPOSSIBLE,
    )


def _alone(entry: Entry) -> Decimal:
    return Decimal(entry.given.alpha) + Decimal(entry.given.beta)


def _sum(entry: Entry) -> str:
    alpha, beta = shortened(entry.given.alpha), shortened(entry.given.beta)
    return f"alpha + beta = {alpha} + {beta} = {shortened(f'{_alone(entry):f}')}"


def shortened(digits: str) -> str:
    """Return a number for a message; nobody reads a hundred digits."""
    return digits if len(digits) <= _DIGITS else f"{digits[: _DIGITS - 3]}..."
