"""What is on the ``/metrics`` page of an engine's version: the names are those of ``components/engines``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.api.tables import table
from components.engines.metrics import EngineMetrics, engine_metrics

Bounds = tuple[float, ...]
_ASSUMED_CONTEXT = 8192
"""Tokens, where it is not known: for the buckets alone."""


@dataclass(frozen=True, slots=True)
class PageMetric:
    """A metric on a page.

    Attributes:
        value: What it is the value of; for a histogram, what is observed (``values.py``, ``meter.py``).
        type: As the page spells it.
        bounds: Of a histogram.
    """

    name: str
    value: str
    type: str
    help: str
    bounds: Bounds = ()


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """The page of a version of an engine; without metrics, the engine has no such page.

    Attributes:
        path: Where it is served.
        model: Label with the model's name; empty if there is none.
        labels: Further labels of every series.
        idle: Whether counters and histograms are there before the first request.
    """

    path: str = ""
    model: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    idle: bool = True
    metrics: tuple[PageMetric, ...] = ()

    @property
    def bounds(self) -> Mapping[str, Bounds]:
        """Bounds of its histograms, by what is observed."""
        return {metric.value: metric.bounds for metric in self.metrics if metric.type == "histogram"}


@functools.lru_cache(maxsize=256)
def page_of(engine: str, version: str, context: int | None) -> MetricsPage:
    """Return the page of an engine.

    Args:
        engine: Its name; one without metrics, or unknown, has an empty page.
        version: As its image says it; the newest if empty.
        context: Tokens of a request with its answer: the buckets of some histograms reach that far.
    """
    rows, facts = _pages().get(engine), engine_metrics().get(engine)
    if rows is None or facts is None:
        return MetricsPage()
    bounds = {name: _bounds(row, context or _ASSUMED_CONTEXT) for name, row in rows.get("bounds", {}).items()}
    return MetricsPage(
        path=facts.path,
        model=rows.get("model", ""),
        labels=tuple(rows["labels"].items()),
        idle=rows["idle"],
        metrics=tuple(_page_metric(row, bounds) for row in _rows(rows, facts, version)),
    )


def _rows(rows: Mapping[str, Any], facts: EngineMetrics, version: str) -> list[Mapping[str, Any]]:
    named = [
        {"name": metric.name, "type": metric.type, **rows["metrics"][metric.name]}
        for metric in facts.of_version(version)
    ]
    return [*named, *rows["more"]]


def _page_metric(row: Mapping[str, Any], bounds: Mapping[str, Bounds]) -> PageMetric:
    found = bounds[row["bounds"]] if "bounds" in row else ()
    return PageMetric(row["name"], row["value"], row["type"], row["help"], found)


def _bounds(row: Any, context: int) -> Bounds:  # noqa: ANN401  a list, or how to make one
    match row:
        case {"steps": steps}:
            powers = (step * 10**power for power in range(len(str(context))) for step in steps)
            return tuple(float(value) for value in powers if value <= context)
        case {"even": parts}:
            return tuple(context / parts * (part + 1) for part in range(parts))
        case {"first": first, "factor": factor, "times": times}:
            return tuple(first * factor**power for power in range(times))
        case _:
            return tuple(float(value) for value in row)


@functools.cache
def _pages() -> dict[str, Any]:
    rows: dict[str, Any] = table(__package__, "pages.yaml")
    return rows
