"""Metrics by engine and version, spelled as Prometheus stores them.

The columns of ``metrics.yaml`` in an engine's folder:

    exports: prometheus; none (the engine has no such endpoint); unknown (not looked into: metrics cannot be checked).
    path: where they are served, on the serving port.
    env: a variable that turns them on, as the setting ``metrics`` does. Without such a setting they are always on.
    labels: labels of the series. Prometheus adds namespace, pod and container.
    metrics, each with
      kind: what is measured; the same word for the same thing in every engine.
      type: gauge, counter or histogram. A histogram's series end in _bucket, _sum and _count.
      ratio: from 0 to 1. lifetime: a mean since the start of the process, which hardly moves after a while.
      from, until: first version with it, first version without it. never: no supported version has it.
      instead: its successor.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from ..contract.tables import load_table, read_table
from .registry import Engine, engines, folders
from .settings import Setting
from .versions import ALWAYS, COLUMNS, Span, Version

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
        span: The versions that have it.
        instead: What took its place.
        namespace: Label with the namespace of the scaled workload, where the metric comes from elsewhere.
        target: The only target type that works with it.
    """

    name: str
    kind: str
    type: str
    ratio: bool = False
    lifetime: bool = False
    span: Span = ALWAYS
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


@dataclass(frozen=True, slots=True, eq=False)
class EngineMetrics:
    """What an engine exports.

    Attributes:
        exports: ``prometheus``, ``none`` or ``unknown``.
        flag: Argument that turns the metrics on; None where they always are.
        env: Variable that does the same.
        off: Argument that turns them off.
        labels: Labels of the series.
    """

    owner: Engine
    exports: str
    path: str = "/metrics"
    flag: str | None = None
    env: str | None = None
    off: str | None = None
    labels: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = ()

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self.owner.name

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag; None, the newest, without."""
        return self.owner.version(tag)

    def find(self, name: str) -> Metric | None:
        """Return the metric of a name, with the colon or without."""
        return next((metric for metric in self.metrics if name in (metric.name, metric.neutral)), None)

    def of_version(self, tag: str) -> tuple[Metric, ...]:
        """Return what a version has; what any has, where it is not known."""
        return _of_version(self, self.version(tag))

    def of_kind(self, kind: str) -> tuple[Metric, ...]:
        """Return what any version has of a kind, the newest spelling first."""
        found = (metric for metric in self.metrics if metric.kind == kind and not metric.span.never)
        return tuple(sorted(found, key=lambda metric: bool(metric.span.until)))


def engine_metrics() -> Mapping[str, EngineMetrics]:
    """Return what every engine exports of which that is known, by its name."""
    return _engine_metrics(folders())


@functools.cache
def gateway_metrics() -> tuple[Metric, ...]:
    """Return what is exported by routers, gateways and controllers in front of the engines."""
    return tuple(_metric(facts) for facts in _others()["gateways"])


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
    exporters = {name for names in _others()["exporters"].values() for name in names}
    return frozenset(engines | gateways | exporters)


@functools.cache
def _engine_metrics(_folders: tuple[Traversable, ...]) -> Mapping[str, EngineMetrics]:
    tables = ((engine, engine.folder.joinpath("metrics.yaml")) for engine in engines().values())
    return MappingProxyType(
        {engine.name: _engine(engine, read_table(file)) for engine, file in tables if file.is_file()}
    )


def _engine(engine: Engine, facts: dict[str, Any]) -> EngineMetrics:
    return EngineMetrics(
        owner=engine,
        exports=facts["exports"],
        path=facts.get("path", "/metrics"),
        flag=engine.flag(Setting.METRICS),
        env=facts.get("env"),
        off=engine.flag(Setting.NO_METRICS),
        labels=tuple(facts.get("labels", ())),
        metrics=tuple(_metric(metric) for metric in facts.get("metrics", ())),
    )


def _metric(row: dict[str, Any]) -> Metric:
    return Metric(**{key: value for key, value in row.items() if key not in COLUMNS}, span=Span.from_row(row))


@functools.lru_cache(maxsize=1024)
def _of_version(facts: EngineMetrics, version: Version | None) -> tuple[Metric, ...]:
    return tuple(metric for metric in facts.metrics if metric.span.includes(version))


@functools.cache
def _others() -> dict[str, Any]:
    """Return what is exported beside the engines."""
    rows: dict[str, Any] = load_table(__package__, "gateways.yaml")
    return rows
