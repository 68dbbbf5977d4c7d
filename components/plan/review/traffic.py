"""What a revision does to the latencies, lost requests and costs of a trace, and limits for them.

The figures come from a simulation in virtual time, which the workbench runs for both revisions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class TrafficFigures:
    """Figures of one revision, in seconds and US dollars.

    Attributes:
        lost: Lost requests.
        ttft_p99: Time to the first token of answered requests; None without any.
        itl_p99: Mean time between the tokens of an answer, likewise.
        gpu_hours: Accelerator-hours: of all nodes, or of the replicas of one model.
        usd_per_day: Cost of all nodes; None for one model, and if a price is missing.
    """

    requests: int
    lost: int
    ttft_p50: float | None
    ttft_p99: float | None
    itl_p50: float | None
    itl_p99: float | None
    gpu_hours: float
    usd_per_day: float | None = None

    @property
    def lost_percent(self) -> float:
        return 100 * self.lost / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True)
class ModelTraffic:
    """The figures of a model; None where a revision does not have it, or nothing of it is simulated."""

    name: str
    before: TrafficFigures | None
    after: TrafficFigures | None


@dataclass(frozen=True, slots=True)
class TrafficComparison:
    """The figures of both revisions under the same requests.

    Attributes:
        seconds: Simulated duration.
        before: Figures of the base; None without one.
        after: Figures of the head; None if it cannot be simulated.
        unavailable: Why a revision has no figures; empty if it has.
        refused: Why models of the head are not simulated, by name.
        notes: What the simulation leaves out.
    """

    seconds: float
    before: TrafficFigures | None
    after: TrafficFigures | None
    models: tuple[ModelTraffic, ...] = ()
    unavailable: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Figure(StrEnum):
    """A figure with a limit in ``--fail-on``."""

    TTFT_P50 = "ttft-p50"
    TTFT_P99 = "ttft-p99"
    ITL_P50 = "itl-p50"
    ITL_P99 = "itl-p99"
    LOST = "lost"
    """Share of the requests, in percent."""
    USD_DAY = "usd-day"


class _Unit(NamedTuple):
    pattern: str
    factors: Mapping[str, float]
    text: str
    example: str


_SECONDS = _Unit(r"(ms|s)", {"ms": 0.001, "s": 1.0}, "seconds", "2s, 300ms or +20%")
_UNITS: Mapping[Figure, _Unit] = {
    **dict.fromkeys((Figure.TTFT_P50, Figure.TTFT_P99, Figure.ITL_P50, Figure.ITL_P99), _SECONDS),
    Figure.LOST: _Unit(r"(%)", {"%": 1.0}, "percent of the requests", "0%, 0.1% or +0.5%"),
    Figure.USD_DAY: _Unit("()", {"": 1.0}, "US dollars", "400, +40 or +10%"),
}


@dataclass(frozen=True, slots=True)
class TrafficLimit:
    """A limit of a figure.

    Attributes:
        value: The limit: seconds, percent of the requests, US dollars, or percent of the base if ``relative``.
        added: Whether it limits the increase over the base.
        relative: Whether the increase is in percent of the base.
        text: The limit as it was written.
    """

    figure: Figure
    value: float
    added: bool
    relative: bool
    text: str


def parse_limit(text: str) -> TrafficLimit:
    """Parse ``FIGURE=VALUE``, such as ``ttft-p99=2s``, ``ttft-p99=+20%`` or ``usd-day=+40``.

    Raises:
        ValueError: it is no limit; the message says what is allowed.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in [*Figure]:
        raise ValueError(f"must be error, warning or a limit of {', '.join(Figure)}, found {text!r}")
    figure = Figure(name)
    unit = _UNITS[figure]
    percent = re.fullmatch(r"\+(\d+(?:\.\d+)?)%", value)
    if percent and figure is not Figure.LOST:
        return TrafficLimit(figure, float(percent[1]), added=True, relative=True, text=text)
    match = re.fullmatch(rf"(\+?)(\d+(?:\.\d+)?){unit.pattern}", value)
    if match is None:
        raise ValueError(f"{name}: must be {unit.text} such as {unit.example}, found {value!r}")
    return TrafficLimit(
        figure, float(match[2]) * unit.factors[match[3]], added=bool(match[1]), relative=False, text=text
    )


def exceeded(traffic: TrafficComparison, limits: tuple[TrafficLimit, ...]) -> Iterator[str]:
    """Yield a reason for each limit that is exceeded, or that cannot be checked."""
    for limit in limits:
        option = f"(--fail-on {limit.text})"
        after = _value(traffic.after, limit.figure)
        before = _value(traffic.before, limit.figure)
        if after is None or (limit.added and before is None):
            which = "of this revision" if after is None else "of the base"
            reason = traffic.unavailable or "no request was answered, or a price is missing"
            yield f"{limit.figure} {which} is unknown, so its limit cannot be checked {option}: {reason}"
            continue
        most = limit.value
        if limit.added and before is not None:
            most = before * (1 + limit.value / 100) if limit.relative else before + limit.value
        if after > most * (1 + _ROUNDING):
            was = f", {figure_text(limit.figure, before)} before" if before is not None else ""
            yield (
                f"{limit.figure} is {figure_text(limit.figure, after)}{was}, more than "
                f"{figure_text(limit.figure, most)} {option}"
            )


_ROUNDING = 1e-9


def _value(figures: TrafficFigures | None, figure: Figure) -> float | None:
    if figures is None:
        return None
    values: Mapping[Figure, float | None] = {
        Figure.TTFT_P50: figures.ttft_p50,
        Figure.TTFT_P99: figures.ttft_p99,
        Figure.ITL_P50: figures.itl_p50,
        Figure.ITL_P99: figures.itl_p99,
        Figure.LOST: figures.lost_percent,
        Figure.USD_DAY: figures.usd_per_day,
    }
    return values[figure]


def figure_text(figure: Figure, value: float | None) -> str:
    """Format a value of a figure."""
    if value is None:
        return "-"
    if figure is Figure.LOST:
        return f"{value:.3g} %"
    if figure is Figure.USD_DAY:
        return f"${value:,.2f}"
    if figure in (Figure.ITL_P50, Figure.ITL_P99):
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s"
