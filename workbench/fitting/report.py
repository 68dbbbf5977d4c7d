"""The text and JSON output of a fit."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from components.contract.texts.printable import printable
from toolkit.plotting.chart import is_plain

from .entry import ends_of, option_of
from .line import CONFIDENCE, FittedValue, LineFit
from .plot import text_plot

if TYPE_CHECKING:
    from components.performance.sizing.cases import Profile

_WIDTH = 100
_CONFIDENCE = f"{100 * CONFIDENCE:g} %"


def show(fitted: LineFit, profile: "Profile") -> None:
    """Print a fit, its measurements, and the profile to copy."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 240
    weights = "weighted by 1 / error^2" if fitted.weighted else "equal weights"
    count = len(fitted.measurements)
    console.print(f"A token takes alpha + beta * n ms at n concurrent requests: {count} measurements, {weights}")
    spread = "" if fitted.residual_ms is None else f", residuals {fitted.residual_ms:.3g} ms"
    console.print(f"R^2 {fitted.r_squared:.6f}{spread}\n")
    table = Table("", "ms", f"{_CONFIDENCE} interval", box=None)
    table.add_row("alpha", f"{fitted.alpha.value:.6g}", _interval(fitted.alpha))
    table.add_row("beta", f"{fitted.beta.value:.6g}", _interval(fitted.beta))
    for at_once in sorted({1, profile.batch}):
        latency = fitted.value_at(at_once)
        table.add_row(f"a token, {at_once} at once", f"{latency.value:.6g}", _interval(latency))
    console.print(table)
    console.print()
    table = Table("at once", "measured ms", "line ms", "difference", "concurrency is", "from", box=None)
    for measurement in fitted.measurements:
        line_ms = fitted.at(measurement.concurrency)
        table.add_row(
            f"{measurement.concurrency:.6g}",
            f"{measurement.itl_ms:.6g}",
            f"{line_ms:.6g}",
            f"{measurement.itl_ms - line_ms:+.3g}",
            str(measurement.counted),
            printable(measurement.place),
        )
    console.print(table)
    console.print()
    for line in text_plot(fitted, min(console.width, _WIDTH), plain=is_plain()):
        console.print(line, soft_wrap=True)
    if profile.accelerator:
        for line in _next_steps(fitted, profile):
            console.print(printable(line), soft_wrap=True)


def _interval(value: FittedValue) -> str:
    return "unknown" if value.low is None else f"{value.low:.6g} to {value.high:.6g}"


def _next_steps(fitted: LineFit, profile: "Profile") -> Iterator[str]:
    from components.contract.documents.writer import dump_all
    from components.families import profile_entries

    entries = profile_entries(profile)
    for family, entry in entries.items():
        yield ""
        yield f"Add to the resource of the variant{f' ({family})' if len(entries) > 1 else ''}:"
        yield from dump_all([entry]).splitlines()
    yield ""
    yield "Size with this profile:"
    yield f"workbench size --profile {option_of(profile)}"
    ends = ends_of(fitted, profile)
    if ends:
        fast, slow = ends
        yield ""
        yield f"Size with the fastest and the slowest replica at {_CONFIDENCE} confidence:"
        yield f"workbench size --profile {option_of(fast)} --profile {option_of(slow)}"


def as_dict(fitted: LineFit, profile: "Profile", warnings: Sequence[str]) -> dict[str, Any]:
    ends = ends_of(fitted, profile) or (None, None)
    return {
        "alpha": asdict(fitted.alpha),
        "beta": asdict(fitted.beta),
        "confidence": CONFIDENCE,
        "weighted": fitted.weighted,
        "rSquared": fitted.r_squared,
        "residualMs": fitted.residual_ms,
        "bendMs": fitted.bend_ms,
        "measurements": [
            {
                "concurrency": measurement.concurrency,
                "itlMs": measurement.itl_ms,
                "lineMs": fitted.at(measurement.concurrency),
                "errorMs": measurement.error_ms,
                "counted": str(measurement.counted),
                "place": measurement.place,
            }
            for measurement in fitted.measurements
        ],
        "warnings": list(warnings),
        "profiles": [_decoding(profile)] if profile.accelerator else [],
        "ends": {name: _decoding(end) if end else None for name, end in zip(("fast", "slow"), ends, strict=True)},
        "option": option_of(profile) if profile.accelerator else None,
    }


def _decoding(profile: "Profile") -> dict[str, Any]:
    """Return a fitted profile without the prefill, which is not fitted."""
    return {key: value for key, value in asdict(profile).items() if key not in ("gamma", "delta")}
