"""Latencies, lost requests and costs under a trace of requests, before and after."""

from collections.abc import Iterator
from dataclasses import dataclass

from components.plan.review.review import Review
from components.plan.review.traffic import Figure, TrafficFigures, figure_text

COLUMNS = ("model", "requests", "lost", "TTFT p50", "TTFT p99", "ITL p50", "ITL p99", "GPU-hours", "USD a day")
TITLE = "Requests of the trace (simulated)"
ALL = "all models"
FOOTNOTE = "Latencies, lost requests and their costs are simulated in virtual time (docs/virtual-time.md)."


@dataclass(frozen=True, slots=True)
class TrafficLine:
    """Figures of a model, or of all."""

    name: str
    cells: tuple[str, ...]


def traffic_lines(review: Review) -> Iterator[TrafficLine]:
    """Yield the figures of all models together, and of each model."""
    traffic = review.traffic
    if traffic is None or not (traffic.before or traffic.after):
        return
    yield TrafficLine(ALL, _cells(traffic.before, traffic.after))
    for model in traffic.models:
        yield TrafficLine(model.name, _cells(model.before, model.after))


def traffic_summary(review: Review) -> str:
    """Summarize the change: ``p99 TTFT 0.9 s → 3.1 s, +$40.00 a day``; empty without figures."""
    traffic = review.traffic
    if traffic is None or traffic.after is None:
        return ""
    before, after = traffic.before, traffic.after
    parts = [f"p99 TTFT {_change(Figure.TTFT_P99, before.ttft_p99 if before else None, after.ttft_p99)}"]
    parts.append(f"p99 ITL {_change(Figure.ITL_P99, before.itl_p99 if before else None, after.itl_p99)}")
    if after.lost or (before is not None and before.lost):
        parts.append(f"lost {_change(Figure.LOST, before.lost_percent if before else None, after.lost_percent)}")
    if after.usd_per_day is not None:
        if before is None or before.usd_per_day is None:
            parts.append(f"${after.usd_per_day:,.2f} a day")
        else:
            difference = after.usd_per_day - before.usd_per_day
            parts.append(f"{'-' if difference < 0 else '+'}${abs(difference):,.2f} a day")
    return ", ".join(parts)


def traffic_notes(review: Review) -> Iterator[str]:
    """Yield why figures are missing, and what is not simulated."""
    traffic = review.traffic
    if traffic is None:
        return
    if traffic.unavailable:
        yield traffic.unavailable
    yield from (f"{name} is not simulated: {reason}" for name, reason in sorted(traffic.refused.items()))
    yield from traffic.notes


def _cells(before: TrafficFigures | None, after: TrafficFigures | None) -> tuple[str, ...]:
    def figure(name: str) -> tuple[float | None, float | None]:
        return getattr(before, name, None), getattr(after, name, None)

    return (
        _pair(*map(_count, figure("requests"))),
        _change(Figure.LOST, *figure("lost_percent")),
        _change(Figure.TTFT_P50, *figure("ttft_p50")),
        _change(Figure.TTFT_P99, *figure("ttft_p99")),
        _change(Figure.ITL_P50, *figure("itl_p50")),
        _change(Figure.ITL_P99, *figure("itl_p99")),
        _pair(*map(_hours, figure("gpu_hours"))),
        _change(Figure.USD_DAY, *figure("usd_per_day")),
    )


def _change(figure: Figure, before: float | None, after: float | None) -> str:
    return _pair(figure_text(figure, before), figure_text(figure, after))


def _pair(before: str, after: str) -> str:
    """Return both values, or one if they are equal or there is no other."""
    return after if before in ("-", after) else f"{before} → {after}"


def _count(number: float | None) -> str:
    return "-" if number is None else f"{number:,.0f}"


def _hours(number: float | None) -> str:
    return "-" if number is None else f"{number:,.1f}"
