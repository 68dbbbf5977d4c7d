"""Whether a profile can meet its targets at all, however many replicas there are (WVA spec 8.5).

The queueing model decides whether it can under a given load.
"""

from dataclasses import dataclass
from decimal import Decimal

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....fleet.levels import LatencyTargets
from ....performance.sizing.refusals import MOST_AT_ONCE
from .accelerator import Entry
from .service_class import LEVELS

_MIN_MS, _MAX_MS = Decimal("0.000001"), Decimal(1_000_000)
"""Plausible milliseconds per token. Anything beyond is a typing error, and would overflow the computation."""
_NOISE = Decimal("0.0000001")
"""Relative difference of neighbouring numbers in single precision, in which the optimizer computes rates (8.9)."""
_MAX_DIGITS = 24
"""Digits of a number that a message shows."""


@dataclass(frozen=True, slots=True)
class ModelTargets:
    """The targets of a model and the service class that sets them."""

    model: str
    class_name: str
    targets: LatencyTargets


def check_targets(entry: Entry, target: ModelTargets, findings: Findings) -> None:
    """Report a profile that can never meet its targets, or from which no rate can be computed."""
    profile, speed, targets, class_name = entry.profile, entry.speed, target.targets, target.class_name
    alone = Decimal(speed.alpha) + Decimal(speed.beta)
    alone_text = f"alpha + beta = {shortened(speed.alpha)} + {shortened(speed.beta)} = {shortened(f'{alone:f}')} ms"
    is_plausible, is_small = _MIN_MS <= alone <= _MAX_MS, profile.max_batch_size <= MOST_AT_ONCE
    if not is_plausible:
        findings.error(
            f"{entry.path}.{speed.alpha_path}",
            f"{alone_text} per token for a single request, which no engine has: it must be at least {_MIN_MS} and at "
            f"most {_MAX_MS} ms; measure alpha and beta (workbench dev fit-profile)",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    if not is_small:
        findings.error(
            f"{entry.path}.maxBatchSize",
            f"must be at most {MOST_AT_ONCE}, found {profile.max_batch_size}; write the engine's limit on concurrent "
            "requests, typically some hundreds",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    if not (is_plausible and is_small):
        return
    if not targets.itl_ms and not targets.ttft_ms:
        findings.warn(
            "spec.modelID",
            f"class {class_name!r} sets no target for it (itlMs and ttftMs are 0): it is sized to barely keep up, "
            f"and requests wait long; set one of them in {LEVELS}.classes",
            RuleId.SIZING_UNPROMISED,
        )
    if not targets.itl_ms:
        return
    # If the time per token does not grow with the load, the target does not limit the rate, and the optimizer's
    # rounding errors would decide (8.5).
    noise = (
        f"so the target of {targets.itl_ms} ms of class {class_name!r} does not limit the rate of a replica, and "
        "rounding errors decide whether a number of replicas is found"
    )
    alternative = f"or set no target for it ({LEVELS}.classes, itlMs: 0)"
    if Decimal(speed.beta) <= alone * _NOISE:
        findings.error(
            f"{entry.path}.{speed.beta_path}",
            f"must be above 0, found {shortened(speed.beta)}: a token takes {shortened(speed.alpha)} ms however "
            f"many requests run concurrently, {noise}; measure it with concurrent requests (workbench dev "
            f"fit-profile), {alternative}",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    if profile.max_batch_size == 1:
        findings.error(
            f"{entry.path}.maxBatchSize",
            f"must be at least 2, found 1: requests never run concurrently, and a token takes {alone_text}, {noise}; "
            f"write the engine's limit on concurrent requests, {alternative}",
            RuleId.SIZING_IMPLAUSIBLE,
        )
    if alone >= targets.itl_ms:
        findings.error(
            f"{entry.path}.{speed.alpha_path}",
            f"{alone_text} per token for a single request, but the target of class {class_name!r} for "
            f"{target.model!r} is {targets.itl_ms} ms (itlMs): no number of replicas can meet it; set at least "
            f"{int(alone) + 1} ms, or use a faster accelerator than {profile.acc!r}",
            RuleId.SIZING_IMPOSSIBLE,
        )


def shortened(digits: str) -> str:
    """Truncate a number for a message: manifests may have hundreds of digits."""
    return digits if len(digits) <= _MAX_DIGITS else f"{digits[: _MAX_DIGITS - 3]}..."
