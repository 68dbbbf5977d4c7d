"""Translate PodMonitors to scrape jobs of Prometheus, and pods to their targets.

Scrape jobs follow prometheus-operator: its documentation of ``PodMonitor``, and ``generatePodMonitorConfig``
(pkg/prometheus/promcfg.go). A job keeps the pods of the monitor's own namespace (unless it selects others) that have
not ended and have the selected labels and port; the operator's labels come before the monitor's relabelings. Targets
have the meta labels of role ``pod``, one target per declared port, as Prometheus' configuration page documents them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolkit.errors import UserError

from ..fleet import Object

_META = "__meta_kubernetes_"
_SUPPORTED_KEYS = {"port", "portNumber", "path", "interval", "relabelings"}
_CAMEL = re.compile("([A-Z])")
_LOOPBACK_ADDRESS = "__tmp_found_at"
_CLUSTER_ADDRESS_RULES: list[Object] = [
    {"source_labels": ["__address__"], "target_label": _LOOPBACK_ADDRESS},
    {"source_labels": [f"{_META}pod_ip"], "target_label": "__address__"},
    {
        "source_labels": [f"{_META}pod_ip", f"{_META}pod_container_port_number"],
        "separator": ":",
        "regex": "(.+:.+)",
        "target_label": "__address__",
    },
]
"""Rules before the monitor's relabelings, which see the address that a target has in a cluster: that of its pod."""
_LOOPBACK_ADDRESS_RULES: list[Object] = [
    {"source_labels": ["__address__"], "target_label": "instance"},
    {"source_labels": [_LOOPBACK_ADDRESS], "target_label": "__address__"},
]
"""``instance`` keeps the address in the cluster, while Prometheus scrapes the one that service discovery returned."""


def scrape_job(monitor: Mapping[str, Any], discovery: Object, last: Sequence[Object] = ()) -> Object:
    """Return the scrape job of a PodMonitor.

    Args:
        monitor: The PodMonitor.
        discovery: Service discovery that returns :func:`targets_of`, such as ``http_sd_configs``.
        last: Relabelings after the monitor's own.

    Raises:
        UserError: the monitor has an unsupported field.
    """
    metadata, spec = monitor["metadata"], monitor["spec"]
    endpoints: Sequence[Mapping[str, Any]] = spec.get("podMetricsEndpoints") or []
    selector = spec.get("selector") or {}
    unsupported = (spec.keys() - {"selector", "podMetricsEndpoints"}) | (selector.keys() - {"matchLabels"})
    unsupported |= {key for endpoint in endpoints for key in endpoint.keys() - _SUPPORTED_KEYS}
    if unsupported or len(endpoints) != 1 or "matchLabels" not in selector:
        name = f"{metadata['namespace']}/{metadata['name']}"
        if unsupported:
            raise UserError(f"PodMonitor {name} has fields that are not simulated: {', '.join(sorted(unsupported))}")
        raise UserError(f"PodMonitor {name} is not simulated: it needs matchLabels and exactly one endpoint")
    (endpoint,) = endpoints
    # Prometheus' configuration has the fields of PodMonitors in snake case.
    relabelings = [
        {_CAMEL.sub(lambda match: f"_{match[1].lower()}", key): value for key, value in rule.items()}
        for rule in endpoint.get("relabelings", ())
    ]
    interval = {"scrape_interval": endpoint["interval"]} if "interval" in endpoint else {}
    return {
        "job_name": f"podMonitor/{metadata['namespace']}/{metadata['name']}/0",
        **discovery,
        **interval,
        "metrics_path": endpoint.get("path", "/metrics"),
        "relabel_configs": [
            *_CLUSTER_ADDRESS_RULES,
            *_selection_rules(metadata["namespace"], selector["matchLabels"], endpoint),
            *_operator_label_rules(metadata, endpoint),
            *relabelings,
            *_LOOPBACK_ADDRESS_RULES,
            *last,
        ],
    }


def targets_of(pod: Mapping[str, Any], at: str | None = None) -> list[Object]:
    """Return the targets of a pod in service discovery of role ``pod``: one per declared port.

    Args:
        pod: A pod that has an address.
        at: Host and port to scrape instead of the pod's own, such as a loopback address. ``instance`` and the
            monitor's relabelings see the pod's own address in any case.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    address = pod["status"]["podIP"]
    shared = {
        f"{_META}namespace": metadata["namespace"],
        f"{_META}pod_name": metadata["name"],
        f"{_META}pod_ip": address,
        f"{_META}pod_phase": pod["status"]["phase"],
    }
    for key, value in (metadata.get("labels") or {}).items():
        shared[f"{_META}pod_label_{_label(key)}"] = value
        shared[f"{_META}pod_labelpresent_{_label(key)}"] = "true"
    containers = [(container, "false") for container in spec["containers"]]
    containers += [(container, "true") for container in spec.get("initContainers") or ()]
    targets = []
    for container, init in containers:
        container_labels = {f"{_META}pod_container_name": container["name"], f"{_META}pod_container_init": init}
        # A container without ports has one target, without a port.
        ports: list[Object] = container.get("ports") or [{}]
        for port in ports:
            port_labels = {
                f"{_META}pod_container_port_{key}": str(value)
                for key, value in (("name", port.get("name", "")), ("number", port.get("containerPort", "")))
                if port
            }
            own = f"{address}:{port['containerPort']}" if port else address
            targets.append({"targets": [at or own], "labels": {**shared, **container_labels, **port_labels}})
    return targets


def _selection_rules(namespace: str, labels: Mapping[str, str], endpoint: Mapping[str, Any]) -> list[Object]:
    """Return the rules that keep the targets that a monitor selects."""
    rules = [_keep("namespace", namespace)]
    rules.append({**_keep("pod_phase", "(Failed|Succeeded)"), "action": "drop"})
    for key, value in sorted(labels.items()):
        sources = [f"{_META}pod_label_{_label(key)}", f"{_META}pod_labelpresent_{_label(key)}"]
        rules.append({"action": "keep", "source_labels": sources, "regex": f"({value});true"})
    if "port" in endpoint:
        return [*rules, _keep("pod_container_port_name", endpoint["port"])]
    if "portNumber" in endpoint:
        return [*rules, _keep("pod_container_port_number", str(endpoint["portNumber"]))]
    return rules


def _operator_label_rules(metadata: Mapping[str, Any], endpoint: Mapping[str, Any]) -> list[Object]:
    """Return the rules that set the labels of prometheus-operator."""
    copied = {"namespace": "namespace", "pod_container_name": "container", "pod_name": "pod"}
    job = f"{metadata['namespace']}/{metadata['name']}"
    port = endpoint.get("port", endpoint.get("portNumber"))
    fixed = {"job": job, **({"endpoint": str(port)} if port is not None else {})}
    return [
        *({"source_labels": [_META + source], "target_label": label} for source, label in copied.items()),
        *({"target_label": label, "replacement": value} for label, value in fixed.items()),
    ]


def _keep(source: str, regex: str) -> Object:
    return {"action": "keep", "source_labels": [_META + source], "regex": regex}


def _label(key: str) -> str:
    return re.sub("[^a-zA-Z0-9_]", "_", key)
