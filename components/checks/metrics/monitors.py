"""PodMonitors for the models (lws-hpa spec 1.9, 2.3)."""

from collections.abc import Mapping

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.paths import path_prefix
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.objects import Object
from .uses import Scaler, ScrapeTarget

MODEL_LABEL, WORKLOAD_LABEL = "model", "workload"
"""Labels added to every series; dashboards and queries rely on them."""
_META = "__meta_kubernetes_"
_KEPT = {"namespace": "namespace", "pod": "pod_name", "container": "pod_container_name"}


def pod_monitor(target: ScrapeTarget, interval: str, labels: Mapping[str, str]) -> Object | None:
    """Return the PodMonitor of a workload's serving pods; None if their port is unknown."""
    port = _port(target)
    facts = target.exporter.facts
    engine = engines().get(target.workload.server.line.engine)
    number = _listening(target) or (engine.port if engine else None)
    if port is None and number is None:
        return None
    kept_labels = [
        {"action": "replace", "sourceLabels": [f"{_META}{source}"], "targetLabel": label}
        for label, source in _KEPT.items()
    ]
    added_labels = [
        {"action": "replace", "replacement": value, "targetLabel": label}
        for label, value in ((MODEL_LABEL, target.workload.model), (WORKLOAD_LABEL, target.name))
    ]
    address = [] if port else _address_by_number(target, str(number))
    endpoint = {
        **(port or {}),
        "path": path_prefix(target.workload.server.line) + (facts.path if facts else "/metrics"),
        "interval": interval,
        "relabelings": address + kept_labels + added_labels,
    }
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {
            "name": target.name,
            "namespace": target.namespace,
            **({"labels": dict(sorted(labels.items()))} if labels else {}),
        },
        "spec": {"selector": {"matchLabels": target.workload.selector}, "podMetricsEndpoints": [endpoint]},
    }


def unscrapable(target: ScrapeTarget) -> Problem:
    """Return the problem of pods whose serving port is unknown."""
    name = target.workload.container["name"]
    reason = (
        f"container {name!r} does not declare the port of its metrics, so it cannot be scraped; add {{name: http, "
        "containerPort: <serving port>}"
    )
    return target.workload.server.ports.problem(reason, Severity.WARNING, rule=RuleId.METRICS_UNSCRAPED)


def unscraped_target(scaler: Scaler) -> Problem:
    """Return the note on an autoscaler of pods that are created unchanged, and so are not scraped from here."""
    target = scaler.target
    return scaler.problem(
        "scaleTargetRef",
        f"{target.workload.kind} {target.name!r} is created unchanged, so that no PodMonitor is created for it; make "
        "sure that Prometheus scrapes its pods: if nothing selects them, add a PodMonitor to the manifests",
        Severity.NOTE,
        rule=RuleId.METRICS_LEFT_OUT,
    )


def unmonitored(target: ScrapeTarget) -> Problem:
    """Return the note on pods that are not scraped because their engine exports no known metrics."""
    container, exporter = target.workload.container, target.exporter
    missing = exporter.missing_reason("metrics")
    if exporter.facts is None:
        cause = f"the metrics of image {container.get('image', '')!r} are unknown"
        remedy = "if it exports any, add a PodMonitor to the manifests, with otherKinds: apply"
    elif missing:
        cause, _, remedy = missing.rpartition("; ")
    else:
        cause = f"{exporter.facts.engine} has no known metrics in the format of Prometheus"
        remedy = "monitor its requests at the gateway (frontDoor.expose: gateway), or use another engine"
    subject = f"container {container['name']!r} of {target.workload.kind} {target.workload.name!r}"
    return target.workload.server.args.problem(
        f"{subject} is not monitored: {'it ' if missing else ''}{cause}; {remedy}",
        Severity.NOTE,
        rule=RuleId.METRICS_LEFT_OUT,
    )


def _port(target: ScrapeTarget) -> Object | None:
    """Return the serving port by name, or by number, which needs prometheus-operator 0.82 or later."""
    declared: list[Object] = target.workload.container.get("ports") or []
    listening = _listening(target)
    chosen = next((p for p in declared if p.get("name") == "http"), None)
    chosen = chosen or next((p for p in declared if listening and str(p["containerPort"]) == listening), None)
    chosen = chosen or (declared[0] if declared and not listening else None)
    if chosen is None:
        return None
    return {"port": chosen["name"]} if chosen.get("name") else {"portNumber": int(chosen["containerPort"])}


def _address_by_number(target: ScrapeTarget, number: str) -> list[Object]:
    """Select a container by name and set its port, for containers that declare none.

    Without a port in the PodMonitor, every container is a target, with the bare pod address if it declares no port
    (prometheus-operator, pkg/prometheus/promcfg.go; Prometheus, kubernetes_sd_config, role ``pod``).
    """
    named = {"action": "keep", "sourceLabels": [f"{_META}pod_container_name"]}
    address = {"action": "replace", "sourceLabels": [f"{_META}pod_ip"], "targetLabel": "__address__"}
    return [
        {**named, "regex": target.workload.container["name"]},
        {**address, "regex": "([0-9.]+)", "replacement": f"$1:{number}"},
        {**address, "regex": "(.*:.*)", "replacement": f"[$1]:{number}"},
    ]


def _listening(target: ScrapeTarget) -> str | None:
    return target.workload.server.line.value_of(Setting.PORT)
