"""Autoscaling with an existing Prometheus and an existing prometheus-adapter, as their charts install them.

The charts are not installed: their selector and their configuration file are taken as their templates write them
(prometheus-community/helm-charts at cf408a29: kube-prometheus-stack/templates/prometheus/prometheus.yaml,
prometheus-adapter/templates/configmap.yaml). Prometheus, the adapter and the controllers are real.
"""

from collections.abc import Callable
from typing import Any

import yaml

from components.families import objects
from components.plan.plan import Plan, plan
from components.plan.settings import FleetSettings
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.prometheus import Prometheus
from tests.monitoring.simulated.chain import Chain, SharedLoad
from tests.monitoring.simulated.engines import VLLM
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.fleets import MODEL, scaled
from tests.monitoring.simulated.workload import pods_metric, without_waiting
from toolkit.kube import Kube

Json = dict[str, Any]
RELEASE = "kps"
SELECTOR = {"release": RELEASE}
"""``podMonitorSelector.matchLabels`` of the chart's Prometheus with its default values."""


def planned(namespace: str, **prerequisites: Any) -> Plan:
    settings = {"prerequisites": {"present": ["prometheus", "prometheus-adapter"], **prerequisites}}
    document = scaled("chat", namespace, [pods_metric("vllm:num_requests_waiting", "5")], maximum=3)
    return plan(objects([MODEL, document]), FleetSettings.model_validate(settings).environment())


def selected(found: Plan) -> list[Json]:
    """Return the PodMonitors that the operator of the existing Prometheus turns into scrape jobs."""
    monitors = [body for body in found.monitoring if body["kind"] == "PodMonitor"]
    return [body for body in monitors if SELECTOR.items() <= (body["metadata"].get("labels") or {}).items()]


def existing_rules(found: Plan) -> Json:
    """Return the rules of an adapter whose chart value ``rules.existing`` names the ConfigMap."""
    (body,) = [body for body in found.monitoring if body["kind"] == "ConfigMap"]
    config = yaml.safe_load(body["data"]["config.yaml"])
    return {"default": False, "custom": config.get("rules", []), "external": config.get("externalRules", [])}


def test_without_the_settings_nothing_is_scraped_or_served(metrics_namespace: str) -> None:
    found = planned(metrics_namespace)
    assert selected(found) == []
    assert [body["kind"] for body in found.monitoring] == ["PodMonitor"]


def test_with_its_labels_and_rules_the_autoscaler_moves(
    metrics_kube: Kube,
    metrics_namespace: str,
    prometheus: Prometheus,
    exporter: Exporter,
    adapter: Callable[[Json], Adapter],
) -> None:
    found = planned(metrics_namespace, monitorLabels=SELECTOR, adapterConfigMap="monitoring/models")
    (monitor,) = selected(found)
    bodies = {body["kind"]: body for item in found.fleet.rendered for body in item.objects}
    hpa = without_waiting(bodies["HorizontalPodAutoscaler"])
    chain = Chain(metrics_kube, prometheus, exporter, adapter(existing_rules(found)), monitor)
    load = SharedLoad(VLLM, VLLM.queue)
    assert chain.scale(bodies["Deployment"], hpa, load, [0, 15, 3]) == [1, 3, 1]
