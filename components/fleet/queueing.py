"""Queues of Kueue: the labels by which its webhooks admit workloads.

Kueue reads them on the workload, and copies them to its pod templates (kubernetes-sigs/kueue at ff69552e,
pkg/controller/jobs/{deployment,statefulset,leaderworkerset}/*_webhook.go, pkg/controller/constants/constants.go). A
resource of a family has them on itself, and natively the workloads that it becomes take its place.
"""

from dataclasses import replace

from .rendered import Rendered
from .workloads import Workload

QUEUE_LABELS = ("kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class")


def queued(item: Rendered) -> Rendered:
    """Return a rendered resource whose workloads are in its queue; those of an operator are left to the operator."""
    written = item.source.resource.metadata.labels
    labels = {label: written[label] for label in QUEUE_LABELS if label in written}
    if not labels or not item.workloads:
        return item
    return replace(item, workloads=tuple(_labelled(workload, labels) for workload in item.workloads))


def _labelled(workload: Workload, labels: dict[str, str]) -> Workload:
    metadata = workload.body["metadata"]
    own = metadata.get("labels") or {}
    if workload.operated or labels.items() <= own.items():
        return workload
    return replace(workload, body={**workload.body, "metadata": {**metadata, "labels": {**own, **labels}}})
