"""Addresses of the pods: targets for Prometheus' service discovery, and backends for Envoy.

The meta labels are those that Prometheus documents of role ``pod`` (prometheus.io/docs, "Configuration",
``kubernetes_sd_config``), and pods are selected as prometheus-operator does for a PodMonitor: by labels, in its own
namespace unless it selects others. Ports without a simulated server are omitted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..kubelet import is_ready
from ..label_selectors import selects
from ..serving import ServingPod

Json = dict[str, Any]
_META = "__meta_kubernetes_"
_NOT_IN_NAME = re.compile("[^a-zA-Z0-9_]")


def backends(serving: Iterable[ServingPod]) -> dict[str, str]:
    """Return the loopback address of each pod by its ``ip:port`` and its ``namespace/name:port`` in the cluster.

    Two pods may have the same IP, because kwok forgets the IPs that it assigned when it restarts.
    """
    addresses: dict[str, str] = {}
    for pod in serving:
        if not pod.ended:
            live = pod.live
            addresses[f"{live.ip}:{live.workload.port}"] = pod.port.address
            addresses[f"{live.workload.namespace}/{live.name}:{live.workload.port}"] = pod.port.address
    return addresses


def targets_of_monitor(
    monitor: Mapping[str, Any], pods: Iterable[tuple[Mapping[str, Any], ServingPod]]
) -> list[Json]:
    """Return the targets of a PodMonitor, for Prometheus' HTTP service discovery.

    Args:
        monitor: The PodMonitor.
        pods: The listening pods.
    """
    return [target for pod, serving in pods if _selects(monitor, pod) for target in _targets(pod, serving)]


def _selects(monitor: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    spec, meta = monitor["spec"], pod["metadata"]
    namespaces = spec.get("namespaceSelector") or {}
    names = namespaces.get("matchNames") or [monitor["metadata"]["namespace"]]
    in_namespaces = bool(namespaces.get("any")) or meta["namespace"] in names
    return in_namespaces and selects(spec.get("selector") or {}, meta.get("labels") or {})


def _targets(pod: Mapping[str, Any], serving: ServingPod) -> Iterator[Json]:
    pod_labels = _pod_labels(pod)
    for init, containers in (("false", "containers"), ("true", "initContainers")):
        for container in pod["spec"].get(containers) or ():
            for port in container.get("ports") or ():
                if port["containerPort"] == serving.live.workload.port:
                    labels = {
                        **pod_labels,
                        "pod_container_name": container["name"],
                        "pod_container_image": container.get("image", ""),
                        "pod_container_init": init,
                        "pod_container_port_name": port.get("name", ""),
                        "pod_container_port_number": str(port["containerPort"]),
                        "pod_container_port_protocol": port.get("protocol", "TCP"),
                    }
                    yield {
                        "targets": [serving.port.address],
                        "labels": {_META + name: value for name, value in labels.items()},
                    }


def _pod_labels(pod: Mapping[str, Any]) -> dict[str, str]:
    """Return the meta labels of a pod, without the prefix."""
    meta, status = pod["metadata"], pod["status"]
    labels = {
        "namespace": meta["namespace"],
        "pod_name": meta["name"],
        "pod_uid": meta["uid"],
        "pod_ip": status.get("podIP", ""),
        "pod_host_ip": status.get("hostIP", ""),
        "pod_node_name": pod["spec"].get("nodeName", ""),
        "pod_phase": status.get("phase", ""),
        "pod_ready": str(is_ready(pod)).lower(),
    }
    controller = next((owner for owner in meta.get("ownerReferences") or () if owner.get("controller")), None)
    if controller:
        labels |= {"pod_controller_kind": controller["kind"], "pod_controller_name": controller["name"]}
    for kind, entries in (("label", meta.get("labels")), ("annotation", meta.get("annotations"))):
        for key, value in (entries or {}).items():
            name = _NOT_IN_NAME.sub("_", key)
            labels |= {f"pod_{kind}_{name}": value, f"pod_{kind}present_{name}": "true"}
    return labels
