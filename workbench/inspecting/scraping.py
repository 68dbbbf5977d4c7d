"""Whether the Prometheus of a cluster scrapes the pods of models."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.checks.metrics.scaled_objects import reads_own_series
from components.checks.metrics.uses import Scaler, scalers_of, scrape_targets
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.fleet.rendered import Fleet

from .snapshot import ClusterSnapshot

_GROUP = "monitoring.coreos.com"
_NAME = "kubernetes.io/metadata.name"
"""Label of each namespace with its name; other labels of namespaces are not read, and count as selected."""
_MORE_JOBS = ("additionalScrapeConfigs", "scrapeConfigSelector")
"""Fields of a Prometheus that add scrape jobs besides those of monitors."""


def check_monitors(snapshot: ClusterSnapshot, pods: Mapping[str, list[Mapping[str, str]]]) -> Iterator[Problem]:
    """Report PodMonitors of models that no Prometheus turns into a scrape job.

    Args:
        snapshot: What was read.
        pods: Labels of the pods of models, by namespace.
    """
    servers = snapshot.of_kind(_GROUP, "Prometheus")
    if not servers:
        return  # another program scrapes, or its kind could not be read
    for monitor in snapshot.of_kind(_GROUP, "PodMonitor"):
        metadata = monitor["metadata"]
        namespace, labels = str(metadata.get("namespace") or ""), metadata.get("labels") or {}
        if not any(_monitors(monitor, space, own) for space, all_own in pods.items() for own in all_own):
            continue
        selecting = [server for server in servers if selects(_spec(server).get("podMonitorSelector"), labels)]
        if any(_reads_namespace(server, namespace) for server in selecting):
            continue
        if selecting:
            field, selectors = (
                "metadata.namespace",
                [_text(server, "podMonitorNamespaceSelector") for server in selecting],
            )
            reason = f"is not read by a Prometheus that selects its labels ({'; '.join(selectors)})"
            remedy = f"let the podMonitorNamespaceSelector of one of them select namespace {namespace!r}"
        else:
            field, selectors = "metadata.labels", [_text(server, "podMonitorSelector") for server in servers]
            reason = f"is selected by no Prometheus ({'; '.join(selectors)})"
            remedy = "add the labels that one of them selects by"
        yield Problem(
            file=snapshot.source,
            kind="PodMonitor",
            name=str(metadata["name"]),
            path=field,
            reason=f"{reason}, so that the metrics of its pods are not scraped; {remedy}",
            severity=Severity.WARNING,
            rule=RuleId.METRICS_UNSCRAPED,
            namespace=namespace,
        )


def check_scraped(snapshot: ClusterSnapshot, fleet: Fleet) -> Iterator[Problem]:
    """Report autoscalers that read metrics of pods which no monitor scrapes.

    Args:
        snapshot: What was read.
        fleet: The models and their autoscalers.
    """
    servers = snapshot.of_kind(_GROUP, "Prometheus")
    lists_monitors = not any(entry.group == _GROUP for entry in snapshot.missing)
    if not servers or not lists_monitors or any(field in _spec(server) for server in servers for field in _MORE_JOBS):
        return
    pod_monitors, service_monitors = (snapshot.of_kind(_GROUP, kind) for kind in ("PodMonitor", "ServiceMonitor"))
    for scaler in scalers_of(fleet, scrape_targets(fleet)):
        namespace, workload = scaler.target.namespace, scaler.target.workload
        own = (workload.front.get("metadata") or {}).get("labels") or {}
        labels = {**own, **workload.selector}
        if not _reads_engine(scaler) or any(_monitors(monitor, namespace, labels) for monitor in pod_monitors):
            continue
        # Which Services a ServiceMonitor selects is not followed: any of the namespace may be that of the pods.
        if any(_targets_namespace(monitor, namespace) for monitor in service_monitors):
            continue
        yield scaler.problem(
            "metrics",
            f"reads metrics of the pods of {workload.name!r}, which no PodMonitor or ServiceMonitor scrapes; add a "
            "PodMonitor that selects them, with the labels by which Prometheus selects PodMonitors",
            Severity.WARNING,
            RuleId.METRICS_UNSCRAPED,
        )


def _reads_engine(scaler: Scaler) -> bool:
    return any(use.kind == "Pods" for use in scaler.uses) or reads_own_series(scaler)


def _spec(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body.get("spec") or {}


def _monitors(monitor: Mapping[str, Any], namespace: str, labels: Mapping[str, str]) -> bool:
    """Return whether a PodMonitor is about the pods of a namespace with these labels."""
    return _targets_namespace(monitor, namespace) and selects(_spec(monitor).get("selector") or {}, labels)


def _targets_namespace(monitor: Mapping[str, Any], namespace: str) -> bool:
    chosen = _spec(monitor).get("namespaceSelector") or {}
    names = chosen.get("matchNames") or (str(monitor["metadata"].get("namespace") or ""),)
    return bool(chosen.get("any")) or namespace in names


def _reads_namespace(server: Mapping[str, Any], namespace: str) -> bool:
    """Return whether a Prometheus reads the PodMonitors of a namespace: without a selector, only of its own."""
    selector = _spec(server).get("podMonitorNamespaceSelector")
    if selector is None:
        return namespace == (server["metadata"].get("namespace") or "")
    keys = {*(selector.get("matchLabels") or {}), *(str(each.get("key")) for each in _expressions(selector))}
    return bool(keys - {_NAME}) or selects(selector, {_NAME: namespace})


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector selects labels: an empty one selects all, a missing one none."""
    if selector is None:
        return False
    matches = (selector.get("matchLabels") or {}).items() <= labels.items()
    return matches and all(_holds(expression, labels) for expression in _expressions(selector))


def _expressions(selector: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(selector.get("matchExpressions") or ())


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(str(expression.get("key"))), expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return True  # the API server has no other operator


def _text(server: Mapping[str, Any], field: str) -> str:
    title, selector = f"Prometheus/{server['metadata']['name']}", _spec(server).get(field)
    if selector is None:
        return f"{title} has no {field}"
    labels = [f"{key}: {value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for each in _expressions(selector):
        values = f" [{', '.join(map(str, each['values']))}]" if each.get("values") else ""
        labels.append(f"{each.get('key')} {each.get('operator')}{values}")
    return f"{title} selects {{{', '.join(labels)}}}"
