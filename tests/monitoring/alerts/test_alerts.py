"""Every alert of a fleet with all engines fires when it must, after its time, and not below its threshold."""

import re
from typing import Any

import pytest

from components.checks.metrics.alerts import alert_names, alerts, prometheus_rule
from components.fleet.rendered import Fleet
from tests.fleets import fleet_of, playground
from tests.monitoring.alerts.cases import ROWS, Case
from tests.monitoring.alerts.series import NAMESPACE
from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.simulated.fleets import MODEL, in_namespace

Json = dict[str, Any]
ENGINES = ("vllm", "sglang", "tgi", "llamacpp")
_MINUTES = {"m": 1, "h": 60}
CASES = [(alert, way, case) for alert, ways in ROWS.items() for way, case in ways.items()]


def fleet() -> Fleet:
    documents = [playground(name, "qwen", backendRuntimeConfig={"backendName": name}) for name in ENGINES]
    return fleet_of(MODEL, *(in_namespace(document, NAMESPACE) for document in documents))


def rule_of(alert: str) -> Json:
    (found,) = (rule for rule in alerts(fleet()) if rule["alert"] == alert)
    return dict(found)


def minutes(duration: str) -> int:
    match = re.fullmatch("([0-9]+)([mh])", duration)
    assert match, duration
    return int(match[1]) * _MINUTES[match[2]]


def run(promtool: Promtool, rule: Json, series: Any, expected: dict[int, list[Json]]) -> str:
    """Let promtool evaluate one alert every minute; ``expected`` are the firing alerts by minute."""
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [
            {"eval_time": f"{minute}m", "alertname": rule["alert"], "exp_alerts": firing}
            for minute, firing in expected.items()
        ],
    }
    groups = {"groups": [{"name": "models", "rules": [rule]}]}
    return promtool.test_rules(groups, {"evaluation_interval": "1m", "tests": [test]})


def test_every_alert_has_a_row_and_every_row_an_alert() -> None:
    assert set(ROWS) == set(alert_names()) == {rule["alert"] for rule in alerts(fleet())}
    assert all(ways for ways in ROWS.values())


@pytest.mark.parametrize(("alert", "case"), [(alert, case) for alert, _, case in CASES],
                         ids=[f"{alert}-{way}" for alert, way, _ in CASES])  # fmt: skip
def test_it_fires_after_its_time(promtool: Promtool, alert: str, case: Case) -> None:
    """At the first evaluation after ``for``, and not at the one before."""
    rule = rule_of(alert)
    firing = {
        "exp_labels": {**case.labels, **rule["labels"]},
        "exp_annotations": {"summary": case.summary, "description": rule["annotations"]["description"]},
    }
    due = case.since + minutes(rule["for"])
    before: dict[int, list[Json]] = {due - 1: []} if due else {}
    assert "SUCCESS" in run(promtool, rule, case.over, {**before, due: [firing]})


@pytest.mark.parametrize(("alert", "case"), [(alert, case) for alert, _, case in CASES],
                         ids=[f"{alert}-{way}" for alert, way, _ in CASES])  # fmt: skip
def test_it_does_not_fire_below(promtool: Promtool, alert: str, case: Case) -> None:
    rule = rule_of(alert)
    due = case.since + minutes(rule["for"])
    assert "SUCCESS" in run(promtool, rule, case.under, {due: [], due + 1: [], due + 60: [], 3 * due + 90: []})


def test_prometheus_accepts_the_whole_rule(promtool: Promtool) -> None:
    body = prometheus_rule("models", "monitoring", fleet())
    assert body is not None
    assert f"{len(alert_names())} rules found" in promtool.check_rules(body["spec"])
