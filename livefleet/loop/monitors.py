"""What becomes of a PodMonitor and of a pod on their way into Prometheus: a scrape job and targets.

The operator's side is what prometheus-operator documents of ``PodMonitor`` and does in ``generatePodMonitorConfig``
(pkg/prometheus/promcfg.go): pods of the monitor's own namespace unless it selects others, not those that ended, only
with the labels and the port asked for; its labels come first and the monitor's relabelings after them. Prometheus'
side are the meta labels of role ``pod``, one target per declared port, as its configuration page documents them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolkit.errors import UserError

from ..fleet import Object

_META = "__meta_kubernetes_"
_READ = {"port", "portNumber", "path", "interval", "relabelings"}
_CAMEL = re.compile("([A-Z])")
_FOUND = "__tmp_found_at"
_AS_IN_THE_CLUSTER: list[Object] = [
    {"source_labels": ["__address__"], "target_label": _FOUND},
    {"source_labels": [f"{_META}pod_ip"], "target_label": "__address__"},
    {
        "source_labels": [f"{_META}pod_ip", f"{_META}pod_container_port_number"],
        "separator": ":",
        "regex": "(.+:.+)",
        "target_label": "__address__",
    },
]
"""Targets get the address that they would have in a cluster, where a pod answers on its own one."""
_WHERE_IT_IS: list[Object] = [
    {"source_labels": ["__address__"], "target_label": "instance"},
    {"source_labels": [_FOUND], "target_label": "__address__"},
]
"""The address of the cluster stays as the name of the instance, and the scrape goes to where the target was found."""


def scrape_job(monitor: Mapping[str, Any], discovery: Object, last: Sequence[Object] = ()) -> Object:
    """Return the scrape job of a PodMonitor.

    Args:
        monitor: the PodMonitor.
        discovery: where its targets are found, such as ``http_sd_configs``; they are those of :func:`targets_of`.
        last: relabelings after the monitor's own.

    Raises:
        UserError: the monitor has a field that is not translated here.
    """
    metadata, spec = monitor["metadata"], monitor["spec"]
    endpoint = _only_endpoint(monitor)
    own = [_snake(rule) for rule in endpoint.get("relabelings", ())]
    interval = {"scrape_interval": endpoint["interval"]} if "interval" in endpoint else {}
    return {
        "job_name": f"podMonitor/{metadata['namespace']}/{metadata['name']}/0",
        **discovery,
        **interval,
        "metrics_path": endpoint.get("path", "/metrics"),
        "relabel_configs": [
            *_AS_IN_THE_CLUSTER,
            *_chosen(metadata["namespace"], spec["selector"]["matchLabels"], endpoint),
            *_operators(metadata, endpoint),
            *own,
            *_WHERE_IT_IS,
            *last,
        ],
    }


def _only_endpoint(monitor: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata, spec = monitor["metadata"], monitor["spec"]
    endpoints: Sequence[Mapping[str, Any]] = spec.get("podMetricsEndpoints") or []
    selector = spec.get("selector") or {}
    unknown = (spec.keys() - {"selector", "podMetricsEndpoints"}) | (selector.keys() - {"matchLabels"})
    unknown |= {key for endpoint in endpoints for key in endpoint.keys() - _READ}
    if unknown or len(endpoints) != 1 or "matchLabels" not in selector:
        why = ", ".join(sorted(unknown)) if unknown else "one endpoint and matchLabels are needed"
        raise UserError(f"PodMonitor {metadata['namespace']}/{metadata['name']} cannot be played here: {why}")
    return endpoints[0]


def targets_of(pod: Mapping[str, Any], at: str | None = None) -> list[Object]:
    """Return what service discovery of role ``pod`` finds of a pod: one target per declared port.

    Args:
        pod: a pod that has an address.
        at: host and port where its metrics really are, such as an address of loopback; elsewhere those of the pod.
            The job goes there, while ``instance`` and the monitor's relabelings see the pod's own address.
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
    containers = [(each, "false") for each in spec["containers"]]
    containers += [(each, "true") for each in spec.get("initContainers") or ()]
    found = []
    for container, init in containers:
        named = {f"{_META}pod_container_name": container["name"], f"{_META}pod_container_init": init}
        ports: list[Object] = container.get("ports") or [{}]
        for port in ports:
            declared = {
                f"{_META}pod_container_port_{key}": str(value)
                for key, value in (("name", port.get("name", "")), ("number", port.get("containerPort", "")))
                if port
            }
            own = f"{address}:{port['containerPort']}" if port else address
            found.append({"targets": [at or own], "labels": {**shared, **named, **declared}})
    return found


def _chosen(namespace: str, labels: Mapping[str, str], endpoint: Mapping[str, Any]) -> list[Object]:
    """Which of all targets are the monitor's."""
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


def _operators(metadata: Mapping[str, Any], endpoint: Mapping[str, Any]) -> list[Object]:
    """The labels that the operator gives to every target."""
    named = {"namespace": "namespace", "pod_container_name": "container", "pod_name": "pod"}
    job = f"{metadata['namespace']}/{metadata['name']}"
    port = endpoint.get("port", endpoint.get("portNumber"))
    fixed = {"job": job, **({"endpoint": str(port)} if port is not None else {})}
    return [
        *({"source_labels": [_META + source], "target_label": label} for source, label in named.items()),
        *({"target_label": label, "replacement": value} for label, value in fixed.items()),
    ]


def _keep(source: str, regex: str) -> Object:
    return {"action": "keep", "source_labels": [_META + source], "regex": regex}


def _label(key: str) -> str:
    return re.sub("[^a-zA-Z0-9_]", "_", key)


def _snake(rule: Mapping[str, Any]) -> Object:
    return {_CAMEL.sub(lambda match: f"_{match[1].lower()}", key): value for key, value in rule.items()}
