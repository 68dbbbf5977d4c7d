"""Checks of ScaledObjects that are written by hand: their queries, addresses and targets.

Sources: kedacore/keda at 8b4f083, pkg/scalers/prometheus_scaler.go and apis/keda/v1alpha1/scaledobject_webhook.go.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple
from urllib.parse import urlsplit

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity, did_you_mean
from ...engines.metrics import Metric, engine_metrics, known_series
from ...engines.versions import engine_title
from ...fleet.autoscalers import Autoscaler, body_field, is_well_formed
from .monitors import MODEL_LABEL, WORKLOAD_LABEL
from .promql import Selected, outer_aggregation, selectors
from .uses import Scaler, ScrapeTarget

_BARE = re.compile(r"\s*[a-zA-Z_:][\w:]*\s*(\{[^}]*\})?\s*")
"""A query that is a single vector selector."""
_SUM = re.compile(rf"\s*sum\s*\({_BARE.pattern}\)\s*")
"""A query that is the sum over a single vector selector."""
_KNOWN_LABELS = frozenset({"namespace", MODEL_LABEL, WORKLOAD_LABEL})
"""Labels whose values are known here (``monitors``)."""
_OWN_RESOURCES = ("cpu", "memory")


class TriggerQuery(NamedTuple):
    """The query of a trigger.

    Attributes:
        path: The field of the trigger below ``spec``.
        divides: Whether KEDA's autoscaler divides the result by the replicas.
    """

    path: str
    query: str
    address: str
    threshold: Decimal | None
    divides: bool

    @property
    def selected(self) -> tuple[Selected, ...]:
        return selectors(self.query)


def trigger_queries(autoscaler: Autoscaler) -> tuple[TriggerQuery, ...]:
    """Return the Prometheus queries of a ScaledObject that is written by hand."""
    if not autoscaler.uses_keda:
        return ()
    queries = []
    for position, trigger in enumerate(autoscaler.body["spec"].get("triggers") or ()):
        metadata = trigger["metadata"]
        if trigger["type"] == "prometheus":
            queries.append(
                TriggerQuery(
                    f"triggers[{position}]",
                    metadata.get("query", ""),
                    metadata.get("serverAddress", ""),
                    _number(metadata.get("threshold", "")),
                    divides=trigger.get("metricType", "AverageValue") == "AverageValue",
                )
            )
    return tuple(queries)


def reads_own_series(scaler: Scaler) -> bool:
    """Return whether a query reads a series that the engine of the scaled pods exports."""
    return any(
        _own_metric(selected, scaler.target)
        for query in trigger_queries(scaler.autoscaler)
        for selected in query.selected
    )


def reads_engines(autoscaler: Autoscaler) -> bool:
    """Return whether an autoscaler reads a metric that an engine exports, whatever it scales."""
    names = {selected.name for query in trigger_queries(autoscaler) for selected in query.selected}
    for metric in autoscaler.hpa["spec"].get("metrics") or ():
        body = metric.get(body_field(metric["type"])) if is_well_formed(metric) else None
        if body and "metric" in body:
            names.add(str(body["metric"]["name"]))

    exported: set[str] = set()
    for facts in engine_metrics().values():
        for known in facts.metrics:
            exported.update((known.name, known.neutral, *known.series))
    return not names.isdisjoint(exported)


def summed_metrics(scaler: Scaler, targets: Sequence[ScrapeTarget]) -> dict[str, Metric]:
    """Return the metric of each query that is the sum over the scaled pods alone."""
    summed: dict[str, Metric] = {}
    for query in trigger_queries(scaler.autoscaler):
        match = _SUM.fullmatch(query.query)
        if match is None or len(query.selected) != 1:
            continue
        (selected,) = query.selected
        metric = _own_metric(selected, scaler.target)
        is_known = not selected.others and not set(selected.labels) - _KNOWN_LABELS
        chosen = [target for target in targets if _own_metric(selected, target) and _matches(selected, target)]
        if metric is not None and is_known and chosen == [scaler.target]:
            summed[query.query] = metric
    return summed


def check_queries(scaler: Scaler, targets: Sequence[ScrapeTarget]) -> Iterator[Problem]:
    """Report queries that have no result, one of other workloads, or one that does not scale as it is meant.

    Args:
        scaler: The autoscaler.
        targets: All models.
    """
    for query in trigger_queries(scaler.autoscaler):
        field = f"{query.path}.metadata.query"
        yield from _check_address(scaler, query)
        metrics = []
        for selected in query.selected:
            metric = _own_metric(selected, scaler.target)
            problem = _missing(scaler, selected, field, targets) if metric is None else None
            if problem is not None:
                yield problem
            elif metric is not None:
                metrics.append(metric)
                yield from _check_version(scaler, metric, field)
                yield from _check_selection(scaler, selected, field, targets)
        if metrics and _BARE.fullmatch(query.query):
            reason = (
                "has one result per pod, and KEDA accepts a single one; aggregate it, such as "
                f"sum({query.query.strip()})"
            )
            yield scaler.problem(field, reason, rule=RuleId.METRICS_TARGET)
        elif len(metrics) == 1 and outer_aggregation(query.query) == "avg" and query.divides:
            remedy = "set metricType: Value" if metrics[0].ratio else "use sum"
            reason = (
                "divides an average over pods by the number of replicas again, so that the target is reached with "
                f"far more load than intended; {remedy}"
            )
            yield scaler.problem(field, reason, Severity.WARNING, RuleId.METRICS_TARGET)


def wakes_from_zero(scaler: Scaler) -> bool:
    """Return whether a trigger can start a workload without pods: it reads what exists without them."""
    triggers = scaler.autoscaler.body["spec"].get("triggers") or ()
    if any(trigger["type"] not in ("prometheus", *_OWN_RESOURCES) for trigger in triggers):
        return True
    return any(
        not query.selected or any(_own_metric(selected, scaler.target) is None for selected in query.selected)
        for query in trigger_queries(scaler.autoscaler)
    )


def _own_metric(selected: Selected, target: ScrapeTarget) -> Metric | None:
    facts = target.exporter.facts
    if facts is None:
        return None
    return next((metric for metric in facts.metrics if selected.name in metric.series), None)


def _missing(scaler: Scaler, selected: Selected, field: str, targets: Sequence[ScrapeTarget]) -> Problem | None:
    """Return the problem of a series that the scaled pods do not export; None if something else does."""
    name, exporter = selected.name, scaler.target.exporter
    engines = engine_metrics().values()
    if not name or (name in known_series() and not any(_has(facts.metrics, name) for facts in engines)):
        return None  # of a gateway, or of an exporter
    spelled = [metric for facts in engines for metric in facts.metrics if name == metric.neutral != metric.name]
    if spelled:
        reason = f"no series is named {name!r}: PromQL has the name with colons; write {spelled[0].name}"
        return scaler.problem(field, reason, rule=RuleId.METRICS_NOT_EXPORTED)
    others = [target for target in targets if target.exporter.facts and _own_metric(selected, target)]
    if others:
        names = ", ".join(sorted(target.name for target in others))
        reason = f"{name!r} is exported by {names}, not by the scaled workload; use a metric of its own engine"
        return scaler.problem(field, reason, Severity.WARNING, RuleId.METRICS_AMBIGUOUS)
    if exporter.facts is not None and any(_has(facts.metrics, name) for facts in engines):
        scalable = [metric.name for metric in exporter.metrics if metric.type == "gauge" and not metric.lifetime]
        reason = (
            f"{engine_title(exporter.facts.engine, exporter.tag)} does not export {name!r} (metrics to scale on: "
            f"{', '.join(scalable) or 'none'}); use one of them"
        )
        return scaler.problem(field, reason, rule=RuleId.METRICS_NOT_EXPORTED)
    hint = did_you_mean(name, sorted(known_series()))
    reason = f"nothing here exports {name!r}{hint}; make sure that Prometheus has a series with this name"
    return scaler.problem(field, reason, Severity.WARNING, RuleId.METRICS_UNCHECKED)


def _has(metrics: Sequence[Metric], name: str) -> bool:
    return any(name in metric.series for metric in metrics)


def _check_version(scaler: Scaler, metric: Metric, field: str) -> Iterator[Problem]:
    exporter = scaler.target.exporter
    if exporter.facts is not None and exporter.metrics and metric not in exporter.metrics:
        reason = (
            f"{engine_title(exporter.facts.engine, exporter.tag)} does not export {metric.name!r}, other versions "
            "do; use " + (metric.instead or next((m.name for m in exporter.metrics if m.kind == "queue"), "another"))
        )
        yield scaler.problem(field, reason, rule=RuleId.METRICS_NOT_EXPORTED)


def _check_selection(
    scaler: Scaler, selected: Selected, field: str, targets: Sequence[ScrapeTarget]
) -> Iterator[Problem]:
    """Warn about a selection of several workloads, or of others than the scaled one."""
    exporting = [target for target in targets if _own_metric(selected, target)]
    chosen = [target for target in exporting if _matches(selected, target)]
    own = scaler.target
    if selected.others or set(selected.labels) - _KNOWN_LABELS:
        return  # by labels whose values are not known here
    matchers = f'{{namespace="{own.namespace}",{WORKLOAD_LABEL}="{own.name}"}}'
    if own not in chosen:
        reason = f"{selected.name} is not selected of {own.name!r}; select it with {matchers}"
        yield scaler.problem(field, reason, Severity.WARNING, RuleId.METRICS_AMBIGUOUS)
    elif len(chosen) > 1:
        names = ", ".join(sorted(target.name for target in chosen))
        reason = f"reads {selected.name} of {names}; select the scaled one with {matchers}"
        yield scaler.problem(field, reason, Severity.WARNING, RuleId.METRICS_AMBIGUOUS)


def _matches(selected: Selected, target: ScrapeTarget) -> bool:
    values = {"namespace": target.namespace, MODEL_LABEL: target.workload.model, WORKLOAD_LABEL: target.name}
    return all(values.get(label, value) == value for label, value in selected.labels.items())


def _check_address(scaler: Scaler, query: TriggerQuery) -> Iterator[Problem]:
    host = urlsplit(query.address).hostname or ""
    if host and "." not in host and ":" not in host and host != "localhost":
        reason = (
            f"{host!r} is looked up in the namespace of KEDA, whose operator sends the query; write the name with "
            f"its namespace, such as {host}.monitoring.svc"
        )
        yield scaler.problem(
            f"{query.path}.metadata.serverAddress", reason, Severity.WARNING, RuleId.METRICS_UNCHECKED
        )


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
