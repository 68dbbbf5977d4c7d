"""Contents of the ``/metrics`` page of an engine's version, with the names of ``components/engines``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.contract.tables import load_table
from components.engines.metrics import engine_metrics
from components.engines.registry import engines
from components.engines.versions import VersionSpan

Bounds = tuple[float, ...]
Labels = tuple[tuple[str, str], ...]
_ASSUMED_CONTEXT = 8192
"""Tokens, if the model's context is unknown; only buckets depend on it."""


@dataclass(frozen=True, slots=True)
class PageMetric:
    """A metric on a page.

    Attributes:
        parts: Labels and value name of each series; for a histogram, the observed value (``metrics.py``,
            ``meter.py``).
        type: Type as on the page.
        bounds: Bucket bounds of a histogram.
        alone: Whether its series lack the labels that all others have.
    """

    name: str
    parts: tuple[tuple[Labels, str], ...]
    type: str
    help: str
    bounds: Bounds = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """The page of an engine's version; empty if the engine has no such page.

    Attributes:
        path: HTTP path.
        model: Label with the name of the model; empty without one.
        labels: Further labels of every series.
        idle: Whether counters and histograms exist before the first request.
        kept: Metrics that the engine exports even if metrics are disabled.
    """

    path: str = ""
    model: str = ""
    labels: Labels = ()
    idle: bool = True
    kept: tuple[str, ...] = ()
    metrics: tuple[PageMetric, ...] = ()

    @property
    def bounds(self) -> Mapping[str, Bounds]:
        """Bounds of its histograms by the value that they observe; empty for a summary."""
        observed = [metric for metric in self.metrics if metric.type in ("histogram", "summary")]
        return {value: metric.bounds for metric in observed for _, value in metric.parts}


@functools.lru_cache(maxsize=256)
def page_of(engine: str, version: str, context: int | None) -> MetricsPage:
    """Return the page of an engine.

    Args:
        engine: Its name. The page of an unknown engine, or of one without metrics, is empty.
        version: Version from its image; empty for the newest.
        context: Tokens of a request with its answer, which are the largest bucket of some histograms.
    """
    rows, facts = _pages().get(engine), engine_metrics().get(engine)
    if rows is None:
        return MetricsPage()
    exported = facts.of_version(version) if facts else ()
    metrics = [{"name": metric.name, "type": metric.type, **rows["metrics"][metric.name]} for metric in exported]
    parsed_version = engines()[engine].version(version) if engine in engines() else None
    metrics += [row for row in rows["more"] if VersionSpan.from_row(row).includes(parsed_version)]
    bounds = {name: _bounds(row, context or _ASSUMED_CONTEXT) for name, row in rows.get("bounds", {}).items()}
    return MetricsPage(
        path=facts.path if facts else rows["path"],
        model=rows.get("model", ""),
        labels=tuple(rows["labels"].items()),
        idle=rows["idle"],
        kept=tuple(rows.get("kept", ())),
        metrics=tuple(_page_metric(row, bounds) for row in metrics),
    )


def _page_metric(row: Mapping[str, Any], bounds: Mapping[str, Bounds]) -> PageMetric:
    parts: tuple[tuple[Labels, str], ...]
    if "by" in row:
        ((label, values),) = row["by"].items()
        parts = tuple((((label, str(name)),), value) for name, value in values.items())
    else:
        parts = (((), row["value"]),)
    own_bounds = bounds[row["bounds"]] if "bounds" in row else ()
    return PageMetric(
        name=row["name"],
        parts=parts,
        type=row["type"],
        help=row["help"],
        bounds=own_bounds,
        alone=row.get("alone", False),
    )


def _bounds(row: Any, context: int) -> Bounds:  # noqa: ANN401  a list, or a rule (``pages.yaml``)
    match row:
        case {"steps": steps}:
            powers = (step * 10**power for power in range(len(str(context))) for step in steps)
            return tuple(float(value) for value in powers if value <= context)
        case {"even": parts}:
            return tuple(context / parts * (part + 1) for part in range(parts))
        case {"ones": number}:
            return tuple(float(value + 1) for value in range(number))
        case {"doubled": times, **rest}:
            return tuple(float(2**power) for power in range(times) if "within" not in rest or 2**power <= context)
        case {"first": first, "factor": factor, "times": times}:
            return tuple(first * factor**power for power in range(times))
        case _:
            return tuple(float(value) for value in row)


@functools.cache
def _pages() -> dict[str, Any]:
    rows: dict[str, Any] = load_table(__package__, "pages.yaml")
    return rows
