"""Every surface says the same of a model: replicas, accelerators, US dollars an hour, and requests at once.

For all models of the four stacks, each surface by its own code: the plan, its report, the outputs, the table of
``up``, ``size``, and what is played by ``watch`` and ``load``.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from components.fleet.demand import accelerated_nodes
from components.fleet.instances import accelerator_resources, instance
from components.fleet.levels import LatencyTargets, Load
from components.fleet.rendered import Rendered
from components.fleet.workloads import Workload
from components.performance.sizing.assessments import Question
from components.plan.plan import Plan
from components.plan.sections.costs import bill_of
from components.resources.serving.fleet.cost_output import cost_of
from components.resources.serving.fleet.outputs import models_of, nodes_of, output_name
from livefleet.pods.control.states import ClusterView, model_states
from livefleet.pods.runtime import PodRuntime
from livefleet.reading.fleet import fleet_of
from livefleet.reading.paces import speeds_of
from tests.commands.sizing.runs import rows
from tests.group_pods import KIND, pods_of
from tests.hostile.runs import ROOT, run
from tests.livefleet.pods.test_states import Cluster, Pods
from toolkit.screen import Screen
from workbench.deploying.tables import StackReport, output_usd, stack_lines
from workbench.sizing.inputs import parse_profiles
from workbench.sizing.question import Comparison, candidates_of
from workbench.sizing.targets import bare_model
from workbench.subject import Subject, planned

STACKS = ("local", "dev", "staging", "prod")
QUESTION = Question(LatencyTargets(), Load(Decimal(1), Decimal(1)))
LARGEST = 65_536
"""A batch that no engine takes, so that what ``size`` answers is the engine's own number."""
AS_SHOWN = Decimal("0.01")
"""Outputs are rounded to cents."""


@cache
def plan_of(stack: str) -> Plan:
    return planned(Subject(stack, ROOT), None)[1]


@cache
def report_of(stack: str) -> dict[str, Any]:
    done = run("plan", "--stack", stack, "--cwd", str(ROOT), "--output", "json")
    assert done.code == 0, done.stderr
    head: dict[str, Any] = json.loads(done.stdout)["review"]["head"]
    return head


def serving(stack: str) -> Iterator[Rendered]:
    return (item for item in plan_of(stack).fleet.rendered if item.workloads)


def accelerators_in(item: Rendered) -> int:
    """By the pods: what each requests, times how many there are."""
    return sum(
        int(amount) * demand.pods
        for workload in item.workloads
        for demand in workload.pods
        for resource, amount in demand.requests.items()
        if resource in accelerator_resources()
    )


@pytest.mark.parametrize("stack", STACKS)
def test_replicas_accelerators_and_costs(stack: str) -> None:
    found, head = plan_of(stack), report_of(stack)
    bill = bill_of(found)
    outputs, costs = models_of(found), cost_of(found, bill)["models"]
    reported = {(each["title"], each["namespace"]): each for each in head["models"]}
    billed = {(each["title"], each["namespace"]): each for each in head["bill"]["models"]}
    planned_costs = {(each.title, each.namespace): each for each in bill.models}
    different = []
    for item in serving(stack):
        key = item.title, item.namespace
        shown = output_name(found, item.namespace, item.name)
        replicas, gpus = sum(each.replicas for each in item.workloads), accelerators_in(item)
        usd = planned_costs[key].usd_per_hour
        cost = costs.get(item.title) or costs[shown]
        said = {
            # Outputs say where models answer: those that nothing routes to are not among them.
            "replicas": (
                replicas,
                reported[key]["replicas"][0],
                outputs[shown]["replicas"] if item.endpoints else replicas,
            ),
            "accelerators": (
                gpus,
                reported[key]["accelerators"][0],
                int(Decimal(billed[key]["accelerators"]["now"])),
                int(cost["accelerators"]["now"]),
            ),
            "USD/h": (
                None if usd is None else usd.now.quantize(AS_SHOWN),
                None
                if billed[key]["usdPerHour"] is None
                else Decimal(billed[key]["usdPerHour"]["now"]).quantize(AS_SHOWN),
                None if usd is None else Decimal(str(cost["usdPerHour"]["now"])).quantize(AS_SHOWN),
            ),
        }
        different += [f"{item.title}: {what} {values}" for what, values in said.items() if len({*values}) > 1]
    assert not different
    assert {*outputs} == {
        output_name(found, each.namespace, each.name) for each in found.fleet.rendered if each.endpoints
    }


@pytest.mark.parametrize("stack", STACKS)
def test_the_table_of_up(stack: str) -> None:
    """It shows each model of the outputs with its workload, each group with its nodes, and the sum of the costs."""
    found = plan_of(stack)
    bill = bill_of(found)
    outputs = {"models": models_of(found), "nodes": nodes_of(found), "cost": cost_of(found, bill)}
    lines = stack_lines(StackReport("dev", outputs), Screen(300), details=True)
    for name, model in outputs["models"].items():
        first = (model.get("parts") or [model["workload"]])[0]
        assert any(line.split()[:1] == [name] and f"/{first}" in line for line in lines), name
    for name, group in outputs["nodes"].items():
        assert any(line.split()[:3] == [name, group["instanceType"], str(group["nodes"])] for line in lines), name
    cost = outputs["cost"]
    month = cost["usdPerMonth"] if cost["region"] else cost["modelsUsdPerMonth"]
    assert any(f" {output_usd(month['now'])} a month" in line for line in lines)
    models = sum((each.usd_per_hour.now for each in bill.models if each.usd_per_hour), Decimal(0))
    assert cost["modelsUsdPerMonth"]["now"] == pytest.approx(float(models * 730), abs=0.01)


@pytest.mark.parametrize("stack", STACKS)
def test_requests_at_once(stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``size`` caps a batch by is what a simulated engine computes at once on the same nodes."""
    found = plan_of(stack)
    monkeypatch.setattr("workbench.sizing.targets.planned", lambda *_: ((), found))
    played, different, compared = speeds_of(found), [], 0
    for item in serving(stack):
        for workload in item.workloads:
            nodes = accelerated_nodes(workload.pods)
            target = bare_model(workload.model, Subject(stack, ROOT))
            if workload not in target.workloads:
                different.append(f"{item.title}: size does not find it as {workload.model!r}")
            if len(target.workloads) != 1 or not nodes:
                continue
            (profile,) = parse_profiles([f"{nodes[0].accelerator}=1x10/1@{LARGEST}"], None)
            (candidate,) = candidates_of(target, Comparison((profile,)), QUESTION)
            pace = played[f"{workload.namespace}/{workload.name}"].paces[nodes[0].name]
            if candidate.most is None or pace.source == "profile":
                continue
            compared += 1
            if candidate.profile.batch != pace.batch:
                different.append(f"{item.title}: size {candidate.profile.batch}, played {pace.batch}")
    assert not different
    assert compared or stack == "dev"


VARIANTS = ("llama-8b", "mistral-7b", "granite-13b", "llama-70b")


@pytest.mark.parametrize("name", VARIANTS)
def test_variants(name: str) -> None:
    """At the peak: the upper bound of the autoscaler, its batch, and the price of a replica."""
    found = plan_of("local")
    (scaler,) = [each for _, each in found.fleet.autoscalers if each.sized and each.target[2] == name]
    assert scaler.sized is not None
    ((item, workload),) = [each for each in found.fleet.workloads if each[1].name == name]
    (row,) = rows("--variant", name, "--stack", "local", "--cwd", str(ROOT)).values()
    assert (row["replicas"], row["replicas"]) == (scaler.maximum, scaler.sized.replicas)
    nodes = accelerated_nodes(workload.pods)
    pace = speeds_of(found)[f"{workload.namespace}/{name}"].paces[nodes[0].name]
    assert row["batch"] == scaler.sized.batch == pace.batch
    cost = next(each for each in bill_of(found).models if each.title == item.title)
    assert cost.usd_per_hour is not None
    each = cost.usd_per_hour.now / workload.replicas
    assert row["centsPerHour"] / 100 / row["replicas"] == pytest.approx(float(each), rel=1e-6)


def test_played_nodes() -> None:
    """What ``watch`` and ``load`` count with: the nodes of the plan, each at the price of its type."""
    found = plan_of("local")
    groups = {group.name: group for group in fleet_of("local", found).groups}
    outputs = nodes_of(found)
    assert {*groups} == {*outputs}
    for name, group in groups.items():
        node = instance(outputs[name]["instanceType"])
        assert node is not None
        price = None if node.usd_per_hour is None else float(node.usd_per_hour)
        assert group.instance_type == node.name
        assert group.usd_per_hour == pytest.approx(price)


def pods_at_rest(workload: Workload) -> Iterator[dict[str, Any]]:
    """The pods that the controllers of Kubernetes and of LeaderWorkerSets make."""
    if workload.kind == KIND:
        yield from pods_of({**workload.body, "spec": {**workload.body["spec"], "replicas": workload.replicas}})
        return
    (template,) = workload.templates
    for replica in range(workload.replicas):
        metadata = {
            **template.get("metadata", {}),
            "namespace": workload.namespace,
            "name": f"{workload.name}-{replica}",
        }
        yield {"metadata": metadata, "spec": {**template["spec"]}}


def test_what_watch_and_load_show() -> None:
    """Replicas and US dollars an hour of each model that is played, once all pods are on their nodes."""
    found = plan_of("local")
    fleet = fleet_of("local", found)
    groups = {group.instance_type: group for group in fleet.groups if "spot" not in group.name}
    titles = {f"{each.namespace}/{each.name}": each.title for each in fleet.workloads}
    pods: dict[str, dict[str, Any]] = {}
    nodes: dict[str, dict[str, Any]] = {}
    workloads: dict[str, dict[str, Any]] = {}
    expected = {}
    costs = {(each.title, each.namespace): each.usd_per_hour for each in bill_of(found).models}
    for item in serving("local"):
        (title,) = {titles[f"{each.namespace}/{each.name}"] for each in item.workloads}
        usd = costs[item.title, item.namespace]
        expected[title] = (sum(each.replicas for each in item.workloads), usd and float(usd.now))
        for workload in item.workloads:
            spec = {"spec": {"replicas": workload.replicas}}
            workloads.setdefault(workload.kind, {})[f"{workload.namespace}/{workload.name}"] = spec
            types = [choice.instance_type for demand in workload.pods for choice in demand.choices]
            for pod in pods_at_rest(workload):
                pod["metadata"]["uid"] = pod["metadata"]["name"]
                if types and types[0] in groups:
                    name = pod["spec"]["nodeName"] = f"{groups[types[0]].name}-{len(pods)}"
                    nodes[name] = {"metadata": {"name": name, "labels": {}}}
                pods[f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"] = pod
    stage = PodRuntime(None, None, (None, None), Cluster(Pods(pods)))  # type: ignore[arg-type]
    stage.fleet = fleet
    states = {state.title: state for state in model_states(stage, ClusterView(nodes, workloads, {}))}
    shown = {title: (state.replicas, state.usd_per_hour) for title, state in states.items()}
    assert shown == {title: pytest.approx(each, rel=1e-6) for title, each in expected.items()}
    assert shown["llama-70b"] == pytest.approx((1, 8.96832))
