"""Whether the Prometheus of a cluster selects the PodMonitors of models."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity

from .snapshot import ClusterSnapshot

_GROUP = "monitoring.coreos.com"
_UNSEEN = frozenset({"matchExpressions"})
"""Parts of a selector that are not compared, and count as selecting."""


def check_monitors(snapshot: ClusterSnapshot, pods: Mapping[str, list[Mapping[str, str]]]) -> Iterator[Problem]:
    """Report PodMonitors of models that no Prometheus turns into a scrape job.

    Args:
        snapshot: What was read.
        pods: Labels of the pods of models, by namespace.
    """
    servers = snapshot.of_kind(_GROUP, "Prometheus")
    if not servers:
        return  # another program scrapes, or its kind could not be read
    selectors = [((server.get("spec") or {}).get("podMonitorSelector"), server) for server in servers]
    for monitor in snapshot.of_kind(_GROUP, "PodMonitor"):
        metadata, spec = monitor["metadata"], monitor.get("spec") or {}
        namespace = str(metadata.get("namespace") or "")
        chosen = spec.get("selector") or {}
        is_of_models = any(_selects(chosen, labels) for labels in pods.get(namespace, ()))
        if not is_of_models or any(_selects(selector, metadata.get("labels") or {}) for selector, _ in selectors):
            continue
        wanted = "; ".join(
            f"Prometheus/{server['metadata']['name']} {_text(selector)}" for selector, server in selectors
        )
        yield Problem(
            snapshot.source,
            0,
            "PodMonitor",
            str(metadata["name"]),
            "metadata.labels",
            f"is selected by no Prometheus ({wanted}), so that the metrics of its pods are not scraped; add the "
            "labels that one of them selects by",
            Severity.WARNING,
            RuleId.METRICS_UNSCRAPED,
            namespace,
        )


def _selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector selects labels: an empty one selects all, a missing one none."""
    if selector is None:
        return False
    return bool(_UNSEEN & selector.keys()) or (selector.get("matchLabels") or {}).items() <= labels.items()


def _text(selector: Mapping[str, Any] | None) -> str:
    if selector is None:
        return "has no podMonitorSelector"
    labels = ", ".join(f"{key}: {value}" for key, value in sorted((selector.get("matchLabels") or {}).items()))
    return f"selects {{{labels}}}"
