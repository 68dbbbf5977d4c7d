"""What is written of a fit: rounded figures of an accelerator, ready for a manifest and for ``workbench size``."""

import math
import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ..errors import WorkbenchError
from .line import LineFit

if TYPE_CHECKING:
    from components.performance.sizing.cases import Profile

_ACCELERATOR = re.compile(r"[A-Za-z0-9._-]{2,253}\Z", re.ASCII)
_DECIMALS = 3
"""As upstream writes them (WVA spec 8.11: 6.973 and 0.027)."""
_DIGITS = 3


def check_accelerator(name: str) -> None:
    """Refuse names that no accelerator of a variant can have: they are keys of a ConfigMap (WVA spec 3, 4).

    Raises:
        WorkbenchError: this is one.
    """
    if name and not _ACCELERATOR.match(name):
        raise WorkbenchError(
            "--accelerator: must have 2 to 253 letters, digits, dots, dashes and underscores, such as H100, found "
            f"{name!r}",
            2,
        )


def batch_of(fitted: LineFit) -> int:
    """Return the largest batch that was measured; one of a single request cannot be sized (WVA spec 8.5)."""
    return max(round(fitted.measurements[-1].concurrency), 2)


def profile_of(fitted: LineFit, accelerator: str, count: int, batch: int) -> "Profile":
    """Return the profile, with figures rounded as they are written."""
    from components.performance.sizing.cases import Profile

    return Profile(accelerator, count, rounded(fitted.alpha.value), rounded(fitted.beta.value), batch)


def ends_of(fitted: LineFit, profile: "Profile") -> "tuple[Profile, Profile] | None":
    """Return the fastest and the slowest replica that the measurements leave possible; None where they do not tell.

    They are the straight lines between the bounds at one request and at a full batch: those in between are nearer to
    the fit.
    """
    low, high = _chord(fitted, profile.batch, -1), _chord(fitted, profile.batch, 1)
    if low is None or high is None:
        return None
    fast, slow = (replace(profile, alpha=rounded(alpha), beta=rounded(beta)) for alpha, beta in (low, high))
    return fast, slow


def _chord(fitted: LineFit, batch: int, side: int) -> tuple[float, float] | None:
    """Return alpha and beta between two bounds of one side; None where there are none of a model."""
    one, full = fitted.value_at(1), fitted.value_at(batch)
    first, last = (one.low, full.low) if side < 0 else (one.high, full.high)
    if first is None or last is None:
        return None
    beta = (last - first) / (batch - 1)
    alpha = first - beta
    return (alpha, beta) if alpha > 0 and beta > 0 else None


def rounded(value: float) -> float:
    """Return a value above 0 with three decimals, and more where those are less than three digits."""
    return round(value, max(_DECIMALS, _DIGITS - 1 - math.floor(math.log10(value))))


def option_of(profile: "Profile") -> str:
    """Return the profile as ``workbench size --profile`` takes it."""
    alpha, beta = (Decimal(repr(value)) for value in (profile.alpha, profile.beta))  # without exponent
    return f"{profile.accelerator}={profile.count}x{alpha:f}/{beta:f}@{profile.batch}"
