"""What an existing Prometheus and an existing prometheus-adapter must have is said, set, and put out."""

from typing import Any

import pytest
import yaml

from components.contract.problems import Problem
from components.families import objects
from components.plan.monitoring import check_existing
from components.plan.plan import Plan, plan
from components.plan.settings import FleetSettings
from tests.fleets import GPU, open_model, playground

QUEUE = "vllm:num_requests_waiting"
POD_METRIC = {"metric": {"name": QUEUE}, "target": {"type": "AverageValue", "averageValue": "5"}}
TRIGGER = {"hpa": {"metrics": [{"type": "Pods", "pods": POD_METRIC}]}}
SCALED = playground("p", elasticConfig={"maxReplicas": 4, "scaleTrigger": TRIGGER})
BOTH = ["prometheus", "prometheus-adapter"]
LABELS = {"release": "kps"}
CONFIG_MAP = "observability/models"


def planned(document: dict[str, Any] = SCALED, **prerequisites: Any) -> Plan:
    settings = FleetSettings.model_validate({"prerequisites": prerequisites})
    return plan(objects([open_model(flavors=[GPU]), document]), settings.environment())


def about(found: Plan) -> list[Problem]:
    fields = ("prerequisites.monitorLabels", "prerequisites.present", "prerequisites.adapterConfigMap")
    return [problem for problem in found.problems if problem.path in fields]


def test_both_are_said_of_an_existing_installation() -> None:
    labels, rules = sorted(about(planned(present=BOTH)), key=lambda problem: problem.path)
    assert (labels.rule, labels.severity) == ("metrics-unscraped", "warning")
    # kube-prometheus-stack: templates/prometheus/prometheus.yaml, podMonitorSelectorNilUsesHelmValues.
    assert "release" in labels.reason
    assert "podMonitorSelectorNilUsesHelmValues" in labels.reason
    assert (rules.rule, rules.severity) == ("metrics-adapter-missing", "warning")
    assert QUEUE in rules.reason
    assert "adapterRules" in rules.reason


@pytest.mark.parametrize(
    "prerequisites",
    [
        {"install": True},
        {"present": BOTH, "monitorLabels": LABELS, "adapter": "keda"},
        {"present": ["prometheus"], "monitorLabels": LABELS, "install": True},
        {"present": ["prometheus-adapter"], "adapter": "keda", "install": True},
    ],
)
def test_nothing_is_said_where_charts_or_settings_do_it(prerequisites: dict[str, Any]) -> None:
    assert about(planned(**prerequisites)) == []


@pytest.mark.parametrize(
    ("created", "named"),
    [
        (["ConfigMap"], ""),
        (["ConfigMap", "PodMonitor"], "selects PodMonitors by the label"),
        (["PodMonitor", "PrometheusRule"], "selects PodMonitors and PrometheusRules by the label"),
    ],
)
def test_only_what_prometheus_selects_needs_labels(created: list[str], named: str) -> None:
    found = planned(present=["prometheus"])
    bodies = [{"kind": kind} for kind in created]
    labels = [p for p in check_existing(found.chain, bodies, found.environment) if p.path.endswith("monitorLabels")]
    assert [named in each.reason for each in labels] == [True] * bool(named)


def test_without_autoscalers_and_monitoring_nothing_is_needed() -> None:
    assert about(planned(playground("p"), present=BOTH)) == []


def test_labels_are_on_everything_that_prometheus_selects() -> None:
    found = planned(present=BOTH, monitorLabels=LABELS, monitoring=True)
    kinds = {body["kind"]: body["metadata"].get("labels") for body in found.monitoring}
    assert kinds["PodMonitor"] == LABELS
    assert kinds["PrometheusRule"] == LABELS
    assert "labels" not in planned(present=BOTH, monitoring=True).monitoring[0]["metadata"]


def test_the_rules_are_a_config_map_on_request() -> None:
    found = planned(present=BOTH, monitorLabels=LABELS, adapterConfigMap=CONFIG_MAP)
    (body,) = [body for body in found.monitoring if body["kind"] == "ConfigMap"]
    assert body["metadata"] == {"name": "models", "namespace": "observability"}
    # The chart's own ConfigMap: charts/prometheus-adapter/templates/configmap.yaml.
    config = yaml.safe_load(body["data"]["config.yaml"])
    assert config == {"rules": found.chain.adapter_rules["custom"]}
    (note,) = about(found)
    assert (note.severity, "rules.existing: models" in note.reason) == ("note", True)
    # Nothing reads it where the chart is installed from here.
    installed = planned(install=True, adapterConfigMap=CONFIG_MAP)
    assert not [body for body in installed.monitoring if body["kind"] == "ConfigMap"]
    assert [(each.rule, each.severity) for each in about(installed)] == [("field-no-effect", "note")]


@pytest.mark.parametrize("value", ["models", "a/b/c", "A/b", "a/", "/b"])
def test_a_config_map_has_a_namespace_and_a_name(value: str) -> None:
    with pytest.raises(ValueError, match="adapterConfigMap"):
        FleetSettings.model_validate({"prerequisites": {"adapterConfigMap": value}})
