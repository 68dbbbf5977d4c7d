"""A resource whose workloads are of several kinds: all are counted, and named with their kinds."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from components.checks.hardening.network_policies import Allowed, network_policies
from components.checks.metrics.chain import metric_chain
from components.families import objects
from components.fleet.objects import Object
from components.fleet.shapes import DEPLOYMENT
from components.fleet.workloads import Workload
from components.plan.plan import Plan, plan
from components.plan.view import view
from components.resources.serving.fleet.outputs import models_of
from tests.families.program import registered
from tests.fleet.shelf import FAMILY, shelf
from toolkit.screen import Screen
from workbench.deploying.tables import StackReport, stack_lines


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registered(FAMILY):
        yield


def beside(workload: Workload, name: str, replicas: int) -> Workload:
    """A Deployment of the same pods under labels of its own."""
    body = copy.deepcopy(workload.body)
    labels = {"shelf.example/name": name}
    body |= {"kind": DEPLOYMENT.kind, "metadata": {**body["metadata"], "name": name}}
    body["spec"] = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {**body["spec"]["template"], "metadata": {"labels": labels}},
    }
    pods = tuple(replace(each, pods=replicas) for each in workload.pods)
    return replace(workload, body=body, replicas=replicas, pods=pods, role="help")


@pytest.fixture
def mixed() -> Plan:
    made = plan(objects([shelf(replicas=2)], "manifests"))
    (item,) = made.fleet.rendered
    (workload,) = item.workloads
    both = replace(item, workloads=(workload, beside(workload, "index", 3)))
    return replace(made, fleet=replace(made.fleet, rendered=(both,)))


def model_of(made: Plan) -> dict[str, Any]:
    (found,) = models_of(made).values()
    return found


def test_the_outputs_count_all_sets_of_pods(mixed: Plan) -> None:
    found = model_of(mixed)
    assert found["replicas"] == 2 + 3
    assert found["workloads"] == ["books", "index"]
    assert found["parts"] == ["StatefulSet/books", "Deployment/index"]


def test_the_table_names_the_first_and_counts_the_others(mixed: Plan) -> None:
    report = StackReport("dev", {"models": {"books": model_of(mixed)}})
    assert "StatefulSet/books and 1 more" in "\n".join(stack_lines(report, Screen(200), details=True))


def test_each_has_a_policy_and_a_monitor_of_its_own(mixed: Plan) -> None:
    def selected(bodies: Any, field: str) -> list[Object]:
        return [body["spec"][field]["matchLabels"] for body in bodies]

    expected = [{"shelf.example/name": "books"}, {"shelf.example/name": "index"}]
    assert selected(network_policies(mixed.fleet, Allowed()), "podSelector") == expected
    assert selected(metric_chain(mixed.fleet).monitors, "selector") == expected


def test_each_is_explained_by_its_kind(mixed: Plan) -> None:
    values = view(mixed.fleet)
    assert values["nodes for books: pods"] == "2"
    assert values["nodes for index: pods"] == "3"
    assert "StatefulSet/books: pod containers[server].image" in values
    assert "Deployment/index: pod containers[server].image" in values
