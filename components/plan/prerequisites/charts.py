"""Installable prerequisites: charts with what they provide and need, and the values set in them.

Prerequisites without a chart are in ``objects.yaml``, with the same columns; their objects are rendered here.
"""

import datetime
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ...contract.releases import Release
from ...contract.tables import load_table

CLUSTER_AUTOSCALER = "cluster-autoscaler"
"""The chart of the autoscaler that sizes managed node groups."""
NODE_AUTOSCALER = "node-autoscaler"
LOAD_BALANCER = "load-balancer"
EXCLUSIVE = (
    "metrics.k8s.io",
    "custom.metrics.k8s.io",
    "external.metrics.k8s.io",
    "nvidia.com/gpu",
    "dcgm",
    NODE_AUTOSCALER,
)
"""Capabilities with a single provider: two owners of a metrics API, device plugin or node autoscaler conflict."""


class ChartValue(NamedTuple):
    """A value that is set in a chart.

    Attributes:
        type: Its type: ``bool``, ``int``, ``str``, ``list`` or ``dict``.
        why: Why it is set.
        default: The chart's default; not meaningful with ``schema``.
        schema: The definition of the path, if the chart's values file has none because it passes the value on.
    """

    type: str
    why: str
    default: Any = None
    schema: str = ""


class ChartValues(NamedTuple):
    """The values that are set in a chart.

    Attributes:
        version: Version of the chart that they were checked against.
        source: Folder and tag in the repository of the chart's project.
        by_path: The values by path, such as ``prometheus.url``.
    """

    version: str
    source: str
    by_path: Mapping[str, ChartValue]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, or objects in place of one.

    Attributes:
        chart: Its name in ``repo``, or the URL of an OCI chart; empty for objects that are rendered here.
        version: Version of the chart; ``app`` is that of the application.
        released: Release date of the version.
        kubernetes: Minimum Kubernetes version; empty if the project states none.
        provides: Capabilities that it provides.
        needs: Capabilities that it needs.
        stage: Order of installation, starting with 1.
        crds: API groups of its CRDs.
        family: The family whose API it installs; empty for all other charts.
        crds_once: Whether its CRDs are in its ``crds`` folder, so that Helm creates but does not update them.
    """

    name: str
    chart: str
    version: str
    app: str
    namespace: str
    release: str
    stage: int
    released: datetime.date
    repo: str = ""
    kubernetes: str = ""
    provides: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    crds: tuple[str, ...] = ()
    family: str = ""
    crds_once: bool = False

    def of(self, release: Release) -> "Chart":
        """Return the chart that installs a release of the family's API."""
        released = datetime.date.fromisoformat(release.date)
        return replace(self, version=release.operator, app=release.name, released=released)

    @property
    def values(self) -> Mapping[str, str]:
        """Types of the values that are set, by path; see :func:`chart_values`."""
        return {path: value.type for path, value in chart_values()[self.name].by_path.items()}


@functools.cache
def charts() -> Mapping[str, Chart]:
    return MappingProxyType({name: _chart(name, row) for name, row in _read("charts.yaml").items()})


@functools.cache
def known() -> Mapping[str, Chart]:
    """Return all prerequisites by name, with and without a chart."""
    return MappingProxyType({**charts(), **{name: _chart(name, row) for name, row in _read("objects.yaml").items()}})


@functools.cache
def chart_values() -> Mapping[str, ChartValues]:
    """Return the values that are set, by name of the chart."""
    values: dict[str, ChartValues] = {}
    for name, row in _read("chart_values.yaml").items():
        by_path = {path: ChartValue(**value) for path, value in row["values"].items()}
        values[name] = ChartValues(str(row["version"]), row["source"], MappingProxyType(by_path))
    return MappingProxyType(values)


def _read(name: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = load_table(__package__, name)
    return rows


def _chart(name: str, row: dict[str, Any]) -> Chart:
    return Chart(
        name=name,
        chart=row.get("chart", ""),
        version=str(row["version"]),
        app=str(row["app"]),
        namespace=row["namespace"],
        release=row["release"],
        stage=row["stage"],
        released=datetime.date.fromisoformat(row["released"]),
        repo=row.get("repo", ""),
        kubernetes=row.get("kubernetes", ""),
        provides=tuple(row.get("provides", ())),
        needs=tuple(row.get("needs", ())),
        crds=tuple(row.get("crds", ())),
        family=row.get("family", ""),
        crds_once=row.get("crds_once", False),
    )


def providers_of(capability: str) -> tuple[str, ...]:
    return tuple(name for name, chart in known().items() if capability in chart.provides)
