"""Metrics by engine and version, spelled as Prometheus stores them.

The columns of ``metrics.yaml`` in an engine's folder:

    exports: prometheus; none (the engine has no such endpoint); unknown (metrics cannot be checked).
    path: path of the metrics on the serving port.
    env: a variable that turns them on, as the setting ``metrics`` does. Without such a setting they are always on.
    labels: labels of the series, without those that Prometheus adds: namespace, pod and container.
    metrics, each with
      kind: the quantity, with the same name in every engine.
      type: gauge, counter or histogram. A histogram's series end in _bucket, _sum and _count.
      ratio: whether it is between 0 and 1. lifetime: whether it is a mean since the start of the process, which
        hardly changes after a while.
      from, until: first version with it, first version without it. never: no supported version has it.
      instead: its successor.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, NamedTuple

from ..contract.tables import load_table, read_table
from .registry import Engine, engines, folders
from .settings import Setting
from .versions import ALWAYS, COLUMNS, Version, VersionSpan

TYPES = ("gauge", "counter", "histogram")
PROMETHEUS, NONE, UNKNOWN = "prometheus", "none", "unknown"
_PARTS = ("_bucket", "_sum", "_count")


class Metric(NamedTuple):
    """A metric as Prometheus stores it.

    Attributes:
        kind: The quantity, with the same name in every engine.
        ratio: Whether it is between 0 and 1.
        lifetime: Whether it is a mean since the start of the process.
        span: The versions that have it.
        instead: Its successor.
        namespace: Label with the namespace of the scaled workload, if another program exports the metric.
        target: The only HPA target type that works with it.
    """

    name: str
    kind: str
    type: str
    ratio: bool = False
    lifetime: bool = False
    span: VersionSpan = ALWAYS
    instead: str | None = None
    namespace: str | None = None
    target: str | None = None

    @property
    def neutral(self) -> str:
        """Its name with underscores for colons, as some users write it in an autoscaler."""
        return self.name.replace(":", "_")

    @property
    def series(self) -> tuple[str, ...]:
        """Names of its series."""
        return tuple(self.name + part for part in _PARTS) if self.type == "histogram" else (self.name,)


@dataclass(frozen=True, slots=True, eq=False)
class EngineMetrics:
    """The metrics of an engine.

    Attributes:
        exports: ``prometheus``, ``none`` or ``unknown``.
        flag: Argument that turns the metrics on; None if they always are.
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
        """Return the version in an image tag; None for the newest."""
        return self.owner.version(tag)

    def find(self, name: str) -> Metric | None:
        """Return the metric with a name, with colons or underscores."""
        return next((metric for metric in self.metrics if name in (metric.name, metric.neutral)), None)

    def of_version(self, tag: str) -> tuple[Metric, ...]:
        """Return the metrics of a version; those of all versions if it is unknown."""
        return _of_version(self, self.version(tag))

    def of_kind(self, kind: str) -> tuple[Metric, ...]:
        """Return the metrics of a kind in all versions, the newest name first."""
        metrics = (metric for metric in self.metrics if metric.kind == kind and not metric.span.never)
        return tuple(sorted(metrics, key=lambda metric: bool(metric.span.until)))


def engine_metrics() -> Mapping[str, EngineMetrics]:
    """Return the metrics of every engine that has a table of them, by its name."""
    return _engine_metrics(folders())


@functools.cache
def gateway_metrics() -> tuple[Metric, ...]:
    """Return the metrics of routers, gateways and controllers in front of the engines."""
    return tuple(_metric(row) for row in _exporters()["gateways"])


def find_anywhere(name: str) -> Metric | None:
    """Return the metric with a name from any engine or gateway."""
    engines = (engine.find(name) for engine in engine_metrics().values())
    gateways = (metric for metric in gateway_metrics() if name in (metric.name, metric.neutral))
    return next((metric for metric in (*engines, *gateways) if metric), None)


@functools.cache
def known_series() -> frozenset[str]:
    """Return the names of all series in the tables."""
    engines = {
        series for engine in engine_metrics().values() for metric in engine.metrics for series in metric.series
    }
    gateways = {series for metric in gateway_metrics() for series in metric.series}
    exporters = {name for names in _exporters()["exporters"].values() for name in names}
    return frozenset(engines | gateways | exporters)


@functools.cache
def _engine_metrics(_folders: tuple[Traversable, ...]) -> Mapping[str, EngineMetrics]:
    metrics: dict[str, EngineMetrics] = {}
    for engine in engines().values():
        file = engine.folder.joinpath("metrics.yaml")
        if not file.is_file():
            continue
        facts = read_table(file)
        metrics[engine.name] = EngineMetrics(
            owner=engine,
            exports=facts["exports"],
            path=facts.get("path", "/metrics"),
            flag=engine.flag(Setting.METRICS),
            env=facts.get("env"),
            off=engine.flag(Setting.NO_METRICS),
            labels=tuple(facts.get("labels", ())),
            metrics=tuple(map(_metric, facts.get("metrics", ()))),
        )
    return MappingProxyType(metrics)


def _metric(row: dict[str, Any]) -> Metric:
    return Metric(**{key: value for key, value in row.items() if key not in COLUMNS}, span=VersionSpan.from_row(row))


@functools.lru_cache(maxsize=1024)
def _of_version(facts: EngineMetrics, version: Version | None) -> tuple[Metric, ...]:
    return tuple(metric for metric in facts.metrics if metric.span.includes(version))


@functools.cache
def _exporters() -> dict[str, Any]:
    """Return the table of programs other than engines that export metrics."""
    rows: dict[str, Any] = load_table(__package__, "gateways.yaml")
    return rows
