"""PodMonitors: what Prometheus scrapes (lws-hpa spec 1.9, 2.3)."""

from collections.abc import Mapping

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.paths import path_prefix
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.objects import Object
from .uses import Scraped

MODEL_LABEL, WORKLOAD_LABEL = "model", "workload"
"""Labels that every series gets, whatever its engine calls them: dashboards and queries rely on them."""
_META = "__meta_kubernetes_"
_KEPT = {"namespace": "namespace", "pod": "pod_name", "container": "pod_container_name"}


def pod_monitor(target: Scraped, interval: str, labels: Mapping[str, str]) -> Object | None:
    """Return what scrapes the pods of a workload that take requests; None where no port is known."""
    port = _port(target)
    facts = target.exporter.facts
    number = _listening(target) or _usual(target)
    if port is None and number is None:
        return None
    kept = [
        {"action": "replace", "sourceLabels": [f"{_META}{source}"], "targetLabel": label}
        for label, source in _KEPT.items()
    ]
    added = [
        {"action": "replace", "replacement": value, "targetLabel": label}
        for label, value in ((MODEL_LABEL, target.workload.model), (WORKLOAD_LABEL, target.name))
    ]
    found = [] if port else _addressed(target, str(number))
    endpoint = {
        **(port or {}),
        "path": path_prefix(target.workload.server.line) + (facts.path if facts else "/metrics"),
        "interval": interval,
        "relabelings": found + kept + added,
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


def unscrapable(target: Scraped) -> Problem:
    """Return the problem of pods of which nothing tells the serving port: Prometheus would not find it."""
    name = target.workload.container["name"]
    reason = (
        f"container {name!r} does not declare the port of its metrics, so it cannot be scraped; add {{name: http, "
        "containerPort: <serving port>}"
    )
    return target.workload.server.ports.problem(reason, Severity.WARNING, rule=RuleId.METRICS_UNSCRAPED)


def left_out(target: Scraped) -> Problem:
    """Return the note on pods whose engine exports no metrics that are known, so that nothing scrapes them."""
    container, exporter = target.workload.container, target.exporter
    silence = exporter.missing_reason("metrics")
    if exporter.facts is None:
        cause = f"nothing is known of the metrics of image {container.get('image', '')!r}"
        remedy = "if it exports any, add a PodMonitor to the manifests, with otherKinds: apply"
    elif silence:
        cause, _, remedy = silence.rpartition("; ")
    else:
        cause = f"no metrics of {exporter.facts.engine} are known that Prometheus could read"
        remedy = "watch its requests at the gateway (frontDoor.expose: gateway), or use another engine"
    whose = f"container {container['name']!r} of {target.workload.kind} {target.workload.name!r}"
    return target.workload.server.args.problem(
        f"{whose} is not monitored: {'it ' if silence else ''}{cause}; {remedy}",
        Severity.NOTE,
        rule=RuleId.METRICS_LEFT_OUT,
    )


def _port(target: Scraped) -> Object | None:
    """Name the serving port: by its name, else by its number, which needs prometheus-operator 0.82 or later."""
    declared: list[Object] = target.workload.container.get("ports") or []
    listening = _listening(target)
    chosen = next((p for p in declared if p.get("name") == "http"), None)
    chosen = chosen or next((p for p in declared if listening and str(p["containerPort"]) == listening), None)
    chosen = chosen or (declared[0] if declared and not listening else None)
    if chosen is None:
        return None
    return {"port": chosen["name"]} if chosen.get("name") else {"portNumber": int(chosen["containerPort"])}


def _addressed(target: Scraped, number: str) -> list[Object]:
    """Find a container by its name, and its port by number, where it declares none.

    Without a port in the PodMonitor every container is a target, with the pod's address alone if it declares no port
    (prometheus-operator, pkg/prometheus/promcfg.go; Prometheus, kubernetes_sd_config, role ``pod``).
    """
    named = {"action": "keep", "sourceLabels": [f"{_META}pod_container_name"]}
    address = {"action": "replace", "sourceLabels": [f"{_META}pod_ip"], "targetLabel": "__address__"}
    return [
        {**named, "regex": target.workload.container["name"]},
        {**address, "regex": "([0-9.]+)", "replacement": f"$1:{number}"},
        {**address, "regex": "(.*:.*)", "replacement": f"[$1]:{number}"},
    ]


def _usual(target: Scraped) -> int | None:
    """Return the port of an engine that is not told any."""
    engine = engines().get(target.workload.server.line.engine)
    return engine.port if engine else None


def _listening(target: Scraped) -> str | None:
    return target.workload.server.line.value_of(Setting.PORT)
