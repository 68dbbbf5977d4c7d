"""Metrics by engine and version."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..api.tables import table
from .registry import version_of

TYPES = ("gauge", "counter", "histogram")
PROMETHEUS, NONE, UNKNOWN = "prometheus", "none", "unknown"
_PARTS = ("_bucket", "_sum", "_count")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as Prometheus stores it.

    Attributes:
        kind: What is measured, in the same word for every engine.
        ratio: Whether it goes from 0 to 1.
        lifetime: Whether it is a mean since the start of the process.
        since, until: First version with it, first version without it; None where there is none.
        gone: No supported version has it.
        instead: What took its place.
        namespace: Label with the namespace of the scaled workload, where the metric comes from elsewhere.
        target: The only target type that works with it.
    """

    name: str
    kind: str
    type: str
    ratio: bool = False
    lifetime: bool = False
    since: tuple[int, ...] | None = None
    until: tuple[int, ...] | None = None
    gone: bool = False
    instead: str | None = None
    namespace: str | None = None
    target: str | None = None

    @property
    def neutral(self) -> str:
        """Its name without a colon, which some prefer in an autoscaler."""
        return self.name.replace(":", "_")

    @property
    def series(self) -> tuple[str, ...]:
        """Names of its series."""
        return tuple(self.name + part for part in _PARTS) if self.type == "histogram" else (self.name,)

    def is_in(self, tag: str) -> bool:
        """Tell whether an image tag's version has it; a tag without numbers, such as ``nightly``, is new."""
        return not self.gone and not self.is_early(tag) and not self.is_over(tag)

    def is_early(self, tag: str) -> bool:
        """Tell whether a tag's version is older than the metric."""
        version = version_of(tag)
        return self.since is not None and version is not None and version < self.since

    def is_over(self, tag: str) -> bool:
        """Tell whether a tag's version has dropped it."""
        return self.gone or (self.until is not None and (version_of(tag) or self.until) >= self.until)


@dataclass(frozen=True, slots=True)
class Slots:
    """Places for requests in flight, where an engine has a fixed number of them.

    Attributes:
        flags: How the number is set.
        default: The number without a flag.
        metric: The metric that cannot exceed it.
    """

    flags: tuple[str, ...]
    default: int
    metric: str


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """What an engine exports.

    Attributes:
        exports: ``prometheus``, ``none`` or ``unknown``.
        flag: Argument that turns the metrics on; None where they always are.
        env: Variable that does the same.
        off: Argument that turns them off.
        labels: Labels of the series.
    """

    engine: str
    exports: str
    path: str = "/metrics"
    flag: str | None = None
    env: str | None = None
    off: str | None = None
    slots: Slots | None = None
    labels: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = ()

    def find(self, name: str) -> Metric | None:
        """Return the metric of a name, with the colon or without."""
        return next((metric for metric in self.metrics if name in (metric.name, metric.neutral)), None)

    def of_version(self, tag: str) -> tuple[Metric, ...]:
        """Return what a version has."""
        return tuple(metric for metric in self.metrics if metric.is_in(tag))

    def of_kind(self, kind: str) -> tuple[Metric, ...]:
        """Return what any version has of a kind, the newest spelling first."""
        return tuple(sorted((m for m in self.metrics if m.kind == kind and not m.gone), key=lambda m: bool(m.until)))


@functools.cache
def engine_metrics() -> Mapping[str, EngineMetrics]:
    """Return what every known engine exports, by its name."""
    return MappingProxyType({name: _engine(name, facts) for name, facts in _data()["engines"].items()})


@functools.cache
def gateway_metrics() -> tuple[Metric, ...]:
    """Return what is exported by routers, gateways and controllers in front of the engines."""
    return tuple(_metric(facts) for facts in _data()["gateways"])


def find_anywhere(name: str) -> Metric | None:
    """Return the metric of a name from any engine or gateway."""
    engines = (engine.find(name) for engine in engine_metrics().values())
    gateways = (metric for metric in gateway_metrics() if name in (metric.name, metric.neutral))
    return next((metric for metric in (*engines, *gateways) if metric), None)


@functools.cache
def known_series() -> frozenset[str]:
    """Return the names of all series in the table."""
    engines = {
        series for engine in engine_metrics().values() for metric in engine.metrics for series in metric.series
    }
    gateways = {series for metric in gateway_metrics() for series in metric.series}
    exporters = {name for names in _data()["exporters"].values() for name in names}
    return frozenset(engines | gateways | exporters)


def _engine(name: str, facts: dict[str, Any]) -> EngineMetrics:
    slots = facts.get("slots")
    return EngineMetrics(
        engine=name,
        exports=facts["exports"],
        path=facts.get("path", "/metrics"),
        flag=facts.get("flag"),
        env=facts.get("env"),
        off=facts.get("disabledBy"),
        slots=Slots(tuple(slots["flags"]), slots["default"], slots["metric"]) if slots else None,
        labels=tuple(facts.get("labels", ())),
        metrics=tuple(_metric(metric) for metric in facts.get("metrics", ())),
    )


def _metric(facts: dict[str, Any]) -> Metric:
    fields: dict[str, Any] = {"since" if key == "from" else key: value for key, value in facts.items()}
    versions: dict[str, Any] = {key: tuple(fields[key]) for key in ("since", "until") if key in fields}
    return Metric(**{**fields, **versions})


@functools.cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = table(__package__, "engine_metrics.yaml")
    return data
