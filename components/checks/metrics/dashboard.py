"""The Grafana dashboard of all models: latency, tokens, load, replicas, GPUs and their hourly cost."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ...contract.tables import load_table
from ...engines.metrics import engine_metrics
from ...fleet.demand import INSTANCE_TYPE_LABEL
from ...fleet.objects import Object
from .queries import expand

SELECTOR = 'namespace=~"$namespace",model=~"$model"'
LABEL = "grafana_dashboard"
"""Grafana's sidecar reads ConfigMaps with this label."""
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_STARTS_ROW = "Replicas"
_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 24
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_NOT_IN_LABEL = re.compile(r"[^a-zA-Z0-9_]")


class BudgetedStart(NamedTuple):
    """The start of a replica, as planned.

    Attributes:
        workload: Name of the workload.
        namespace: Its namespace.
        prefix: What the names of its pods begin with, before a hyphen.
        seconds: Seconds of a start on a new node; None if a step is unknown.
    """

    workload: str
    namespace: str
    prefix: str
    seconds: int | None


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """Settings of the dashboard.

    Attributes:
        engines: Engines of the environment; None for all known ones.
        costs: US dollars per hour of one node, by the value of ``cost_label``.
        cost_label: Node label that identifies the groups. kube-state-metrics must be configured to export it, see
            :func:`exported_node_labels`.
        gateway: Whether the models are behind a gateway.
        starts: The starts of the workloads with accelerators.
    """

    title: str = "Models"
    uid: str = "inference-platform-models"
    engines: Collection[str] | None = None
    costs: Mapping[str, Decimal | float] = field(default_factory=dict)
    cost_label: str = INSTANCE_TYPE_LABEL
    gateway: bool = False
    starts: tuple[BudgetedStart, ...] = ()


DEFAULTS = DashboardSettings()


def dashboard(settings: DashboardSettings = DEFAULTS) -> Object:
    """Return the dashboard in Grafana's import format."""
    datasource = {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
    }
    return {
        "uid": settings.uid,
        "title": settings.title,
        "tags": ["inference"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [datasource, *_variables()]},
        "panels": _placed(settings),
    }


def dashboard_config_map(name: str, namespace: str, settings: DashboardSettings = DEFAULTS) -> Object:
    """Return the dashboard as a ConfigMap for Grafana's sidecar."""
    text = json.dumps(dashboard(settings), indent=1, sort_keys=True)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: "1"}},
        "data": {f"{settings.uid}.json": text},
    }


def exported_node_labels(settings: DashboardSettings = DEFAULTS) -> list[str]:
    """Return ``metricLabelsAllowlist`` for the chart kube-state-metrics; without it, the cost panels stay empty."""
    return [f"nodes=[{settings.cost_label}]"]


def _placed(settings: DashboardSettings) -> list[Object]:
    """Lay the panels out in rows, three side by side."""
    placed: list[Object] = []
    top = 0
    for title, panels in _rows(settings):
        placed.append(
            _numbered({"type": "row", "title": title, "panels": []}, placed, x=0, y=top, width=_COLUMNS, height=1)
        )
        top += 1
        for position, panel in enumerate(panels):
            left = position * _WIDTH % _COLUMNS
            below = top + position * _WIDTH // _COLUMNS * _HEIGHT
            placed.append(_numbered(panel, placed, x=left, y=below, width=_WIDTH, height=_HEIGHT))
        top += -(-len(panels) * _WIDTH // _COLUMNS) * _HEIGHT
    return placed


def _numbered(panel: Object, before: list[Object], x: int, y: int, width: int, height: int) -> Object:
    return {"id": len(before) + 1, **panel, "gridPos": {"h": height, "w": width, "x": x, "y": y}}


def _rows(settings: DashboardSettings) -> Iterator[tuple[str, list[Object]]]:
    engines = tuple(engine_metrics()) if settings.engines is None else settings.engines
    for row in load_table(__package__, "dashboard.yaml"):
        if row.get("gateway", False) and not settings.gateway:
            continue
        panels = []
        for panel in row["panels"]:
            queries = [(expand(query["expr"], engines, SELECTOR, {}), query["legend"]) for query in panel["queries"]]
            available = [(query, legend) for query, legend in queries if query]
            if available:
                panels.append(_graph(panel["title"], panel["unit"], available))
        if row["row"] == _STARTS_ROW and settings.starts:
            panels.append(_graph("Start of a replica", "s", list(_start_queries(settings.starts))))
        if panels:
            yield row["row"], panels
    yield "Cost", _cost_panels(settings)


def _graph(title: str, unit: str, queries: list[tuple[str, str]], kind: str = "timeseries") -> Object:
    targets = [
        {"refId": f"Q{number}", "expr": query, "legendFormat": legend, "datasource": _SOURCE}
        for number, (query, legend) in enumerate(queries, 1)
    ]
    defaults: Object = {"unit": unit, "min": 0}
    return {
        "type": kind,
        "title": title,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": targets,
    }


def _start_queries(starts: tuple[BudgetedStart, ...]) -> Iterator[tuple[str, str]]:
    """Yield the measured seconds of the slowest present replica of each workload, and the budgeted ones.

    Ready times are of the last time that a pod became ready: after a failed readiness probe they are too long.
    """
    for start in starts:
        # Names of pods have no other sign of a regular expression than the dot.
        prefix = start.prefix.replace(".", "[.]")
        pods = f'namespace=~"$namespace",namespace={json.dumps(start.namespace)},pod=~"{prefix}-.*"'
        created = f"kube_pod_created{{{pods}}}"
        yield (
            f"max(kube_pod_status_ready_time{{{pods}}} - on (namespace, pod) {created})",
            f"{start.workload} measured",
        )
        if start.seconds is not None:
            yield f"max({created}) * 0 + {start.seconds}", f"{start.workload} budgeted"


def _cost_panels(settings: DashboardSettings) -> list[Object]:
    if not settings.costs:
        text = "No prices are known for this environment."
        return [{"type": "text", "title": "Cost per hour", "options": {"mode": "markdown", "content": text}}]
    label = series_label(settings.cost_label)
    queries = {
        group: f"count(kube_node_labels{{{label}={json.dumps(group)}}}) * {Decimal(str(cost)):f}"
        for group, cost in sorted(settings.costs.items())
    }
    # A group without nodes has no series, which would make the whole sum empty.
    total = " + ".join(f"({query} or vector(0))" for query in queries.values())
    return [
        _graph("Cost per hour", "currencyUSD", [(total, "all")], "stat"),
        _graph("Cost per hour by instance type", "currencyUSD", [(query, group) for group, query in queries.items()]),
    ]


def series_label(label: str) -> str:
    """Return the series label under which kube-state-metrics exports an object's label."""
    return "label_" + _CAMEL.sub(r"\1_\2", _NOT_IN_LABEL.sub("_", label)).lower()


def _variables() -> Iterator[Object]:
    for name, others in (("namespace", ""), ("model", ',namespace=~"$namespace"')):
        query = f'label_values(up{{model!=""{others}}}, {name})'
        yield {
            "name": name,
            "label": name.capitalize(),
            "type": "query",
            "datasource": _SOURCE,
            "definition": query,
            "query": {"query": query, "refId": f"variable-{name}"},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]},
        }
