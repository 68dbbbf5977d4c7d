"""Why workloads of a stack are not ready after a failed update of the Pulumi CLI."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.fleet.shapes import shape_of
from toolkit.kube import Kube, KubeError, MalformedObjectError

from ..errors import WorkbenchError
from .apply.ready import pod_reasons

PAGE = "docs/tasks/wait-for-models.md"
_SHOWN = 5


def unready(exported: Mapping[str, Any], kubeconfig: Path, context: str = "") -> list[str]:
    """Return lines about the workloads of a stack that are not ready, with their pods; empty without access.

    The provider reports only that a wait has timed out, in the same words for each reason.

    Args:
        exported: The output of ``pulumi stack export``.
        kubeconfig: Kubeconfig of the cluster.
        context: Its context; empty for the current one.
    """
    workloads = list(_workloads(exported))
    if not workloads:
        return []
    try:
        with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
            found = [lines for workload in workloads if (lines := _lines(kube, workload))]
    except (KubeError, WorkbenchError):
        return []
    shown = [line for lines in found[:_SHOWN] for line in lines]
    return [*shown, f"and {len(found) - _SHOWN} more workloads"] if len(found) > _SHOWN else shown


def _workloads(exported: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in (exported.get("deployment") or {}).get("resources") or ():
        inputs = resource.get("inputs") or {}
        if str(resource.get("type")).startswith("kubernetes:") and "metadata" in inputs and shape_of(inputs):
            yield inputs


def _lines(kube: Kube, workload: Mapping[str, Any]) -> list[str]:
    """Return the state of a workload and the reasons of its pods; empty if it is ready."""
    shape, metadata = shape_of(workload), workload["metadata"]
    namespace = metadata.get("namespace") or "default"
    title = f"{workload['kind']} {namespace}/{metadata['name']}"
    try:
        live = kube.get(workload["apiVersion"], workload["kind"], metadata["name"], namespace)
    except MalformedObjectError as error:
        return [f"{title} cannot be read: {error.malformed}"]
    except KubeError as error:
        if error.unreachable:
            raise
        return [f"{title} does not exist"]
    if shape is None or shape.rollout_status is None:
        return []
    state = shape.rollout_status(live)
    return [f"{title}: {state}", *pod_reasons(kube, live, namespace)] if state else []
