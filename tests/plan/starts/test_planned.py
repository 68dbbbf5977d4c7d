"""What a start is too long for, and the cheapest setting that shortens it."""

import copy
from dataclasses import replace
from typing import Any

import pytest
import yaml

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.families import parse
from components.fleet.levels import LatencyTargets, ServiceClass, ServiceLevels
from components.fleet.options import ModelCache, Options
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.starts.budget import IN_CONTAINER
from components.plan.starts.planned import check_starts
from tests.fleets import open_model, playground, runner, service

Object = dict[str, Any]
QWEN = "Qwen/Qwen2.5-7B-Instruct"
L4 = {"name": "l4", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g6.2xlarge"}}
MODEL = open_model("qwen", QWEN, [L4])
START = {"libraries": 88, "download": 28, "loading": 11, "engine": 85}
"""Qwen2.5-7B-Instruct with 14.19 GiB and 28 layers, on one device."""
RULES = (RuleId.START_PROBES, RuleId.START_WINDOW, RuleId.START_PROMISE)


def chat(**spec: Any) -> Object:
    return playground("chat", "qwen", **spec)


def probed(probes: Object) -> Object:
    """A Service whose engine downloads and loads the weights itself."""
    args = ["--model", QWEN, "--served-model-name", "qwen"]
    container = runner(image="vllm/vllm-openai:v0.20.0", args=args, command=["vllm", "serve"], **probes)
    return service("chat", "qwen", workloadTemplate={"workerTemplate": {"spec": {"containers": [container]}}})


def scaled(window: int | None = None) -> Object:
    """A Playground with an autoscaler, which waits some seconds before it removes replicas."""
    metric = {"name": "vllm:num_requests_waiting"}
    pods = {"metric": metric, "target": {"type": "AverageValue", "averageValue": "5"}}
    hpa: Object = {"metrics": [{"type": "Pods", "pods": pods}]}
    if window is not None:
        hpa["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": window}}
    return chat(elasticConfig={"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": hpa}})


def planned(*documents: Object, model: Object = MODEL, **environment: Any) -> Plan:
    text = yaml.safe_dump_all([model, *documents])
    return plan(parse(text), Environment(simulated=True, **environment))


def found(made: Plan) -> list[Problem]:
    return [problem for problem in made.problems if problem.rule in RULES]


def test_the_steps_of_a_model() -> None:
    (budget,) = planned(chat()).starts.values()
    assert {step.name: step.seconds for step in budget.steps if step.name in IN_CONTAINER} == START
    assert budget.total.seconds == sum(step.seconds or 0 for step in budget.steps)
    assert budget.total.low < budget.total.seconds < (budget.total.high or 0)
    assert all(step.source for step in budget.steps)


@pytest.mark.parametrize(
    ("failures", "period", "killed"),
    [
        (30, 5, True),  # 150 s
        (18, 10, True),  # 180 s
        (23, 10, False),  # 230 s
        (360, 10, False),
    ],
)
def test_probes_that_kill_a_container(failures: int, period: int, *, killed: bool) -> None:
    made = planned(probed({"startupProbe": {"failureThreshold": failures, "periodSeconds": period}}))
    reported = [problem for problem in found(made) if problem.rule is RuleId.START_PROBES]
    assert [problem.severity for problem in reported] == [Severity.WARNING] * killed
    assert all(f"waits {failures * period} s" in problem.reason for problem in reported)


def test_a_liveness_probe_counts_only_without_a_startup_probe() -> None:
    short = {"livenessProbe": {"initialDelaySeconds": 60, "periodSeconds": 10}}
    (problem,) = found(planned(probed(short)))
    assert "its livenessProbe waits 90 s" in problem.reason
    assert found(planned(probed({**short, "startupProbe": {"failureThreshold": 360}}))) == []


def test_an_autoscaler_that_removes_a_replica_before_it_serves() -> None:
    (problem,) = found(planned(scaled()))
    assert (problem.rule, problem.severity) == (RuleId.START_WINDOW, Severity.NOTE)
    assert "later than the 300 s" in problem.reason
    assert found(planned(scaled(window=1800))) == []
    assert found(planned(chat())) == []


@pytest.mark.parametrize(("least", "promised", "broken"), [(0, 2000, True), (1, 2000, False), (0, 0, False)])
def test_a_promise_is_broken_from_zero(least: int, promised: int, *, broken: bool) -> None:
    levels = ServiceLevels(classes=(ServiceClass("Standard", 1, {"qwen": LatencyTargets(0, promised)}),))
    made = planned(scaled(window=1800), options=Options(levels=levels))
    fleet = replace(made.fleet, rendered=tuple(_from(least, item) for item in made.fleet.rendered))
    reported = list(check_starts(fleet, dict(made.starts), made.environment))
    assert [problem.rule for problem in reported] == [RuleId.START_PROMISE] * broken
    assert all("after 2000 ms" in problem.reason for problem in reported)


@pytest.mark.parametrize(("promised", "broken"), [("gpt-support", True), ("another", False)])
def test_a_promise_is_by_any_name_that_clients_request(promised: str, *, broken: bool) -> None:
    levels = ServiceLevels(classes=(ServiceClass("Standard", 1, {promised: LatencyTargets(0, 2000)}),))
    made = planned(scaled(window=1800), options=Options(levels=levels))
    renamed = [
        replace(item, endpoints=tuple(replace(each, model="gpt-support") for each in item.endpoints))
        for item in made.fleet.rendered
    ]
    fleet = replace(made.fleet, rendered=tuple(_from(0, item) for item in renamed))
    reported = list(check_starts(fleet, dict(made.starts), made.environment))
    assert [problem.rule for problem in reported] == [RuleId.START_PROMISE] * broken


def _from(least: int, item: Any) -> Any:
    """Return what is rendered with autoscalers of another minimum; the kinds of this model start at one."""
    scalers = []
    for scaler in item.autoscalers:
        hpa = copy.deepcopy(scaler.hpa)
        hpa["spec"]["minReplicas"] = least
        scalers.append(replace(scaler, hpa=hpa))
    return replace(item, autoscalers=tuple(scalers))


def test_other_engines_are_not_estimated() -> None:
    (budget,) = planned(chat(backendRuntimeConfig={"backendName": "sglang"})).starts.values()
    assert budget.total.seconds is None
    assert budget.total.low > 0
    assert {step.name for step in budget.steps if step.seconds is None} == {"image", "libraries", "engine"}


def test_weights_in_a_claim_are_not_downloaded() -> None:
    four = {"name": "l4", "limits": {"nvidia.com/gpu": 4}, "params": {"INSTANCE-TYPE": "g6.12xlarge", "TP": "4"}}
    large = open_model("qwen", "Qwen/Qwen2.5-32B-Instruct", [four])
    (before,) = planned(chat(), model=large).starts.values()
    (after,) = planned(chat(), model=large, options=Options(cache=ModelCache(claim="weights"))).starts.values()
    (download,) = [step.seconds for step in before.steps if step.name == "download"]
    assert before.saving is not None
    assert (before.saving.step, before.saving.seconds) == ("download", download)
    assert "download" not in {step.name for step in after.steps}
    assert after.saving is None
