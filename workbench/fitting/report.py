"""A fit for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from components.contract.texts.printable import printable
from toolkit.plotting.chart import is_plain

from .entry import ends_of, option_of
from .line import CONFIDENCE, FittedValue, LineFit
from .plot import drawn

if TYPE_CHECKING:
    from rich.table import Table

    from components.performance.sizing.cases import Profile

_WIDTH = 100
_SURE = f"{100 * CONFIDENCE:g} %"


def show(fitted: LineFit, profile: "Profile") -> None:
    """Print a fit, its measurements, and what to write where it is used."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 240
    for line in _head(fitted):
        console.print(line, soft_wrap=True)
    console.print(_figures(fitted, profile))
    console.print()
    console.print(_measurements(fitted))
    console.print()
    for line in drawn(fitted, min(console.width, _WIDTH), plain=is_plain()):
        console.print(line, soft_wrap=True)
    if profile.accelerator:
        for line in _uses(fitted, profile):
            console.print(printable(line), soft_wrap=True)


def _head(fitted: LineFit) -> Iterator[str]:
    how = "weighted by 1 / error^2" if fitted.weighted else "all alike"
    yield f"A token takes alpha + beta * n ms with n requests at once: {len(fitted.measurements)} measurements, {how}"
    spread = "" if fitted.residual_ms is None else f", residuals {fitted.residual_ms:.3g} ms"
    yield f"R^2 {fitted.r_squared:.6f}{spread}"
    yield ""


def _figures(fitted: LineFit, profile: "Profile") -> "Table":
    from rich.table import Table

    table = Table("", "ms", f"{_SURE} interval", box=None)
    table.add_row("alpha", f"{fitted.alpha.value:.6g}", _interval(fitted.alpha))
    table.add_row("beta", f"{fitted.beta.value:.6g}", _interval(fitted.beta))
    for at_once in sorted({1, profile.batch}):
        found = fitted.value_at(at_once)
        table.add_row(f"a token, {at_once} at once", f"{found.value:.6g}", _interval(found))
    return table


def _interval(found: FittedValue) -> str:
    return "unknown" if found.low is None else f"{found.low:.6g} to {found.high:.6g}"


def _measurements(fitted: LineFit) -> "Table":
    from rich.table import Table

    table = Table("at once", "measured ms", "line ms", "difference", "concurrency is", "from", box=None)
    for each in fitted.measurements:
        line = fitted.at(each.concurrency)
        table.add_row(
            f"{each.concurrency:.6g}",
            f"{each.itl_ms:.6g}",
            f"{line:.6g}",
            f"{each.itl_ms - line:+.3g}",
            str(each.counted),
            printable(each.place),
        )
    return table


def _uses(fitted: LineFit, profile: "Profile") -> Iterator[str]:
    from components.contract.documents.writer import dump_all
    from components.families import profile_entries

    entries = profile_entries(profile)
    for family, entry in entries.items():
        yield ""
        yield f"For the resource of the variant{f' ({family})' if len(entries) > 1 else ''}:"
        yield from dump_all([entry]).splitlines()
    yield ""
    yield "For sizing:"
    yield f"workbench size --profile {option_of(profile)}"
    ends = ends_of(fitted, profile)
    if ends:
        fast, slow = ends
        yield ""
        yield f"The fastest and the slowest replica, with {_SURE} confidence:"
        yield f"workbench size --profile {option_of(fast)} --profile {option_of(slow)}"


def as_dict(fitted: LineFit, profile: "Profile", warned: Sequence[str]) -> dict[str, Any]:
    """Return everything as plain JSON."""
    ends = ends_of(fitted, profile) or (None, None)
    return {
        "alpha": _as_dict(fitted.alpha),
        "beta": _as_dict(fitted.beta),
        "confidence": CONFIDENCE,
        "weighted": fitted.weighted,
        "rSquared": fitted.r_squared,
        "residualMs": fitted.residual_ms,
        "bendMs": fitted.bend_ms,
        "measurements": [
            {
                "concurrency": each.concurrency,
                "itlMs": each.itl_ms,
                "lineMs": fitted.at(each.concurrency),
                "errorMs": each.error_ms,
                "counted": str(each.counted),
                "place": each.place,
            }
            for each in fitted.measurements
        ],
        "warnings": list(warned),
        "profiles": [asdict(profile)] if profile.accelerator else [],
        "ends": {name: asdict(each) if each else None for name, each in zip(("fast", "slow"), ends, strict=True)},
        "option": option_of(profile) if profile.accelerator else None,
    }


def _as_dict(found: FittedValue) -> dict[str, float | None]:
    return {"value": found.value, "low": found.low, "high": found.high}
