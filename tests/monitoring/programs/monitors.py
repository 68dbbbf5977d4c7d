"""What becomes of a PodMonitor and of a pod on their way into Prometheus: a scrape job and targets.

The operator's side is what prometheus-operator documents of ``PodMonitor`` and does in ``generatePodMonitorConfig``
(pkg/prometheus/promcfg.go): pods of the monitor's own namespace unless it selects others, not those that ended, only
with the labels and the port asked for; its labels come first and the monitor's relabelings after them. Prometheus'
side are the meta labels of role ``pod``, one target per declared port, as its configuration page documents them.
"""

import re
from collections.abc import Mapping
from typing import Any

from tests.monitoring.programs.prometheus import SCRAPE_INTERVAL

Json = dict[str, Any]
_META = "__meta_kubernetes_"
_READ = {"port", "portNumber", "path", "interval", "relabelings"}
_CAMEL = re.compile("([A-Z])")


def scrape_job(monitor: Mapping[str, Any], file: str, exporter: str) -> Json:
    """Return the scrape job of a PodMonitor with one endpoint, for targets from a file.

    The interval is that of the tests. At the end, after the monitor's own relabelings, every target is moved to the
    stand-in for all pods; where Prometheus would have gone is left in ``instance`` and in the path.

    Args:
        monitor: the PodMonitor.
        file: with targets as :func:`targets_of` makes them.
        exporter: address of the stand-in.

    Raises:
        ValueError: the monitor has a field that is not translated here.
    """
    metadata, spec = monitor["metadata"], monitor["spec"]
    (endpoint,) = spec["podMetricsEndpoints"]
    unknown = (spec.keys() - {"selector", "podMetricsEndpoints"}) | (endpoint.keys() - _READ)
    unknown |= spec["selector"].keys() - {"matchLabels"}
    if unknown:
        raise ValueError(f"not translated: {', '.join(sorted(unknown))}")
    own = [_snake(rule) for rule in endpoint["relabelings"]]
    return {
        "job_name": f"podMonitor/{metadata['namespace']}/{metadata['name']}/0",
        "file_sd_configs": [{"files": [file]}],
        "scrape_interval": SCRAPE_INTERVAL,
        "metrics_path": endpoint["path"],
        "relabel_configs": [*_chosen(monitor, endpoint), *_operators(metadata, endpoint), *own, *_moved(exporter)],
    }


def targets_of(pod: Mapping[str, Any]) -> list[Json]:
    """Return what service discovery of role ``pod`` finds of a pod: one target per declared port."""
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
        ports: list[Json] = container.get("ports") or [{}]
        for port in ports:
            told = {
                f"{_META}pod_container_port_{key}": str(value)
                for key, value in (("name", port.get("name", "")), ("number", port.get("containerPort", "")))
                if port
            }
            where = f"{address}:{port['containerPort']}" if port else address
            found.append({"targets": [where], "labels": {**shared, **named, **told}})
    return found


def _chosen(monitor: Mapping[str, Any], endpoint: Mapping[str, Any]) -> list[Json]:
    """Which of all targets are the monitor's."""
    rules = [_keep("namespace", monitor["metadata"]["namespace"])]
    rules.append({**_keep("pod_phase", "(Failed|Succeeded)"), "action": "drop"})
    for key, value in sorted(monitor["spec"]["selector"]["matchLabels"].items()):
        labels = [f"{_META}pod_label_{_label(key)}", f"{_META}pod_labelpresent_{_label(key)}"]
        rules.append({"action": "keep", "source_labels": labels, "regex": f"({value});true"})
    if "port" in endpoint:
        return [*rules, _keep("pod_container_port_name", endpoint["port"])]
    if "portNumber" in endpoint:
        return [*rules, _keep("pod_container_port_number", str(endpoint["portNumber"]))]
    return rules


def _operators(metadata: Mapping[str, Any], endpoint: Mapping[str, Any]) -> list[Json]:
    """The labels that the operator gives to every target."""
    named = {"namespace": "namespace", "pod_container_name": "container", "pod_name": "pod"}
    job = f"{metadata['namespace']}/{metadata['name']}"
    port = endpoint.get("port", endpoint.get("portNumber"))
    fixed = {"job": job, **({"endpoint": str(port)} if port is not None else {})}
    return [
        *({"source_labels": [_META + source], "target_label": label} for source, label in named.items()),
        *({"target_label": label, "replacement": value} for label, value in fixed.items()),
    ]


def _moved(exporter: str) -> list[Json]:
    whole = [f"{_META}namespace", f"{_META}pod_name", "__metrics_path__"]
    return [
        {"source_labels": ["__address__"], "target_label": "instance"},
        {
            "source_labels": whole,
            "separator": ";",
            "regex": "(.+);(.+);(.+)",
            "replacement": "/$1/$2$3",
            "target_label": "__metrics_path__",
        },
        {"target_label": "__address__", "replacement": exporter},
    ]


def _keep(source: str, regex: str) -> Json:
    return {"action": "keep", "source_labels": [_META + source], "regex": regex}


def _label(key: str) -> str:
    return re.sub("[^a-zA-Z0-9_]", "_", key)


def _snake(rule: Mapping[str, Any]) -> Json:
    return {_CAMEL.sub(lambda match: f"_{match[1].lower()}", key): value for key, value in rule.items()}
