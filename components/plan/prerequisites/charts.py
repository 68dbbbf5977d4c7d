"""What a cluster can be given: charts, what each provides and needs, and the values that we set in it.

What no chart installs is in ``objects.yaml``, with the same columns: its objects are rendered here.
"""

import datetime
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

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
"""What only one may provide: two owners of a metrics API, device plugins or node autoscalers undo each other."""


@dataclass(frozen=True, slots=True)
class ChartValue:
    """One value that we set in a chart.

    Attributes:
        type: What the chart takes there: ``bool``, ``int``, ``str``, ``list`` or ``dict``.
        why: What we set it for.
        default: The chart's own; means nothing where ``schema`` is there.
        schema: What defines the path where the chart's values file does not, for the chart hands it on unread.
    """

    type: str
    why: str
    default: Any = None
    schema: str = ""


@dataclass(frozen=True, slots=True)
class ChartValues:
    """The values that we set in a chart.

    Attributes:
        version: Version of the chart in which they were read.
        source: Where: folder and tag in the repository of the chart's project.
        by_path: The values by path, such as ``prometheus.url``.
    """

    version: str
    source: str
    by_path: Mapping[str, ChartValue]


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart, or objects that stand for one.

    Attributes:
        chart: Its name in ``repo``, or the whole address of an OCI chart; empty for objects that are rendered here.
        version: Version of the chart; ``app`` is the version of what it installs.
        released: When that version was released.
        kubernetes: Lowest Kubernetes version; empty where the project names none.
        provides: What others can need.
        needs: What must be provided before.
        stage: Order of installation; 1 is first.
        crds: API groups of the kinds that it brings.
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

    @property
    def values(self) -> Mapping[str, str]:
        """The types of the values that we set, by path; see :func:`chart_values` for what is known of them."""
        return {path: value.type for path, value in chart_values()[self.name].by_path.items()}


@functools.cache
def charts() -> Mapping[str, Chart]:
    """Return every known chart by name."""
    return MappingProxyType({name: _chart(name, row) for name, row in _read("charts.yaml").items()})


@functools.cache
def known() -> Mapping[str, Chart]:
    """Return everything that a cluster can be given, by name: charts, and what no chart installs."""
    return MappingProxyType({**charts(), **{name: _chart(name, row) for name, row in _read("objects.yaml").items()}})


@functools.cache
def chart_values() -> Mapping[str, ChartValues]:
    """Return what is known of the values that we set, by name of the chart."""
    return MappingProxyType({name: _values(row) for name, row in _read("chart_values.yaml").items()})


def _read(name: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = load_table(__package__, name)
    return rows


def _values(row: dict[str, Any]) -> ChartValues:
    by_path = {path: ChartValue(**value) for path, value in row["values"].items()}
    return ChartValues(str(row["version"]), row["source"], MappingProxyType(by_path))


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
    )


def providers_of(thing: str) -> tuple[str, ...]:
    """Return the names of what provides something."""
    return tuple(name for name, chart in known().items() if thing in chart.provides)
