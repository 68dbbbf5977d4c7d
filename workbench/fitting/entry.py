"""The profile of a fit: rounded figures for a manifest and for ``workbench size``."""

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
    """Reject names that a variant cannot have: accelerator names are ConfigMap keys (WVA spec 3, 4).

    Raises:
        WorkbenchError: the name is invalid.
    """
    if name and not _ACCELERATOR.match(name):
        raise WorkbenchError(
            "--accelerator: must be 2 to 253 letters, digits, dots, dashes and underscores, such as H100, found "
            f"{name!r}",
            2,
        )


def batch_of(fitted: LineFit) -> int:
    """Return the highest measured concurrency, but at least 2: a batch of 1 cannot be sized (WVA spec 8.5)."""
    return max(round(fitted.measurements[-1].concurrency), 2)


def profile_of(fitted: LineFit, accelerator: str, count: int, batch: int) -> "Profile":
    """Return the profile with rounded figures."""
    from components.performance.sizing.cases import Profile

    return Profile(accelerator, count, rounded(fitted.alpha.value), rounded(fitted.beta.value), batch)


def ends_of(fitted: LineFit, profile: "Profile") -> "tuple[Profile, Profile] | None":
    """Return the fastest and the slowest possible replica; None if the measurements give no bounds.

    They are the straight lines between the confidence bounds at one request and at a full batch. The bounds in
    between are closer to the fit.
    """
    low, high = _chord(fitted, profile.batch, -1), _chord(fitted, profile.batch, 1)
    if low is None or high is None:
        return None
    fast, slow = (replace(profile, alpha=rounded(alpha), beta=rounded(beta)) for alpha, beta in (low, high))
    return fast, slow


def _chord(fitted: LineFit, batch: int, side: int) -> tuple[float, float] | None:
    """Return alpha and beta of the line between the bounds of one side; None if one of them is not above 0."""
    one, full = fitted.value_at(1), fitted.value_at(batch)
    first, last = (one.low, full.low) if side < 0 else (one.high, full.high)
    if first is None or last is None:
        return None
    beta = (last - first) / (batch - 1)
    alpha = first - beta
    return (alpha, beta) if alpha > 0 and beta > 0 else None


def rounded(value: float) -> float:
    """Round a value above 0 to three decimals, but to at least three significant digits."""
    return round(value, max(_DECIMALS, _DIGITS - 1 - math.floor(math.log10(value))))


def option_of(profile: "Profile") -> str:
    """Format a profile for ``workbench size --profile``."""
    alpha, beta = (Decimal(repr(value)) for value in (profile.alpha, profile.beta))  # without exponent
    return f"{profile.accelerator}={profile.count}x{alpha:f}/{beta:f}@{profile.batch}"
