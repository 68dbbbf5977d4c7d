"""The text and JSON output of a fit."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from components.contract.texts.printable import printable
from toolkit.plotting.chart import is_plain
from toolkit.screen import Screen, TableColumn

from .entry import ends_of, option_of
from .line import CONFIDENCE, FittedValue, LineFit
from .plot import text_plot

if TYPE_CHECKING:
    from components.performance.sizing.cases import Profile

_WIDTH = 100
"""Columns of the plot; a wider one shows no more."""
_CONFIDENCE = f"{100 * CONFIDENCE:g} %"


def lines(fitted: LineFit, profile: "Profile", screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield a fit, a plot, and the profile to copy; with details, each measurement."""
    weights = "weighted by 1 / error^2" if fitted.weighted else "equal weights"
    spread = "" if fitted.residual_ms is None else f", residuals {fitted.residual_ms:.3g} ms"
    count = len(fitted.measurements)
    yield from screen.text(
        f"A token takes alpha + beta * n ms at n concurrent requests: {count} measurements", "bold"
    )
    yield from screen.text(f"R^2 {fitted.r_squared:.6f}{spread}, {weights}")
    columns = [
        TableColumn(""),
        TableColumn("MS", right=True),
        TableColumn(f"{_CONFIDENCE} INTERVAL"),
    ]
    values = {"alpha": fitted.alpha, "beta": fitted.beta}
    values |= {f"a token, {n} at once": fitted.value_at(n) for n in sorted({1, profile.batch})}
    yield from screen.table(
        columns, [[name, f"{value.value:.6g}", _interval(value)] for name, value in values.items()]
    )
    yield from text_plot(fitted, min(screen.width, _WIDTH), plain=is_plain())
    yield from _measurements(fitted, screen) if details else screen.left_out(["each measurement"])
    if profile.accelerator:
        yield from _next_steps(fitted, profile)


def _measurements(fitted: LineFit, screen: Screen) -> Iterator[str]:
    yield from screen.heading("Measurements")
    titles = ("AT ONCE", "MEASURED MS", "LINE MS", "DIFFERENCE")
    rows = [
        [
            f"{each.concurrency:.6g}",
            f"{each.itl_ms:.6g}",
            f"{fitted.at(each.concurrency):.6g}",
            f"{each.itl_ms - fitted.at(each.concurrency):+.3g}",
            f"{each.place} ({each.counted})",
        ]
        for each in fitted.measurements
    ]
    yield from screen.table([*(TableColumn(title, right=True) for title in titles), TableColumn("FROM")], rows)


def _interval(value: FittedValue) -> str:
    return "unknown" if value.low is None else f"{value.low:.6g} to {value.high:.6g}"


def _next_steps(fitted: LineFit, profile: "Profile") -> Iterator[str]:
    """Yield the profile for a manifest and for a command; these lines are copied, and therefore not wrapped."""
    from components.contract.documents.writer import dump_all
    from components.families import profile_entries

    entries = profile_entries(profile)
    for family, entry in entries.items():
        yield ""
        yield f"Add to the resource of the variant{f' ({family})' if len(entries) > 1 else ''}:"
        yield from map(printable, dump_all([entry]).splitlines())
    yield ""
    yield "Size with this profile:"
    yield f"workbench size --profile {option_of(profile)}"
    ends = ends_of(fitted, profile)
    if ends:
        fast, slow = ends
        yield ""
        yield f"Size with the fastest and the slowest replica at {_CONFIDENCE} confidence:"
        yield f"workbench size --profile {option_of(fast)} \\"
        yield f"  --profile {option_of(slow)}"


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
