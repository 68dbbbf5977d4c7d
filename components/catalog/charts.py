"""What a cluster can be given: charts with their coordinates, what each provides and what it needs."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import yaml

EXCLUSIVE = (
    "metrics.k8s.io",
    "custom.metrics.k8s.io",
    "external.metrics.k8s.io",
    "nvidia.com/gpu",
    "dcgm",
    "node-autoscaler",
)
"""What only one may provide: two owners of a metrics API, device plugins or node autoscalers undo each other."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart.

    Attributes:
        chart: Its name in ``repo``, or the whole address of an OCI chart.
        version: Version of the chart; ``app`` is the version of what it installs.
        kubernetes: Lowest Kubernetes version; empty where the project names none.
        provides: What others can need.
        needs: What must be provided before.
        stage: Order of installation; 1 is first.
        crds: API groups that it brings.
        values: The values that we set, by path, with their type in the chart.
    """

    name: str
    chart: str
    version: str
    app: str
    namespace: str
    release: str
    stage: int
    repo: str = ""
    kubernetes: str = ""
    provides: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    crds: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def charts() -> Mapping[str, Chart]:
    """Return every known chart by name."""
    rows = yaml.safe_load(files(__package__).joinpath("charts.yaml").read_text(encoding="utf-8"))
    return MappingProxyType({name: _chart(name, row) for name, row in rows.items()})


def _chart(name: str, row: dict[str, Any]) -> Chart:
    return Chart(
        name=name,
        chart=row["chart"],
        version=str(row["version"]),
        app=str(row["app"]),
        namespace=row["namespace"],
        release=row["release"],
        stage=row["stage"],
        repo=row.get("repo", ""),
        kubernetes=row.get("kubernetes", ""),
        provides=tuple(row.get("provides", ())),
        needs=tuple(row.get("needs", ())),
        crds=tuple(row.get("crds", ())),
        values=row.get("values", {}),
    )


def providers_of(thing: str) -> tuple[str, ...]:
    """Return the names of the charts that provide something."""
    return tuple(name for name, chart in charts().items() if thing in chart.provides)
