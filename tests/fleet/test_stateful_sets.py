"""A StatefulSet as a workload: its template, its pods and how an update replaces them."""

import copy
from dataclasses import replace

import pytest

from components.fleet.shapes import DEPLOYMENT, STATEFUL_SET
from components.fleet.workloads import Workload
from tests.fleets import GPU, fleet_of, open_model, playground


@pytest.fixture
def workload() -> Workload:
    """The workload of a Playground, as if its family made a StatefulSet of it."""
    ((_, deployment),) = fleet_of(open_model(flavors=[GPU]), playground()).workloads
    body = copy.deepcopy(deployment.body)
    body["kind"] = "StatefulSet"
    body["spec"].pop("strategy", None)
    body["spec"]["serviceName"] = deployment.name
    return replace(deployment, body=body)


def test_its_template_is_that_of_the_pods_that_take_requests(workload: Workload) -> None:
    assert workload.shape is STATEFUL_SET
    assert workload.kind == "StatefulSet"
    assert workload.front == workload.body["spec"]["template"]
    assert workload.container in workload.body["spec"]["template"]["spec"]["containers"]
    assert workload.size == 1


def test_its_pods_are_those_of_its_selector(workload: Workload) -> None:
    assert workload.selector == workload.body["spec"]["selector"]["matchLabels"]
    assert workload.group is None


def test_an_update_replaces_pods_in_place(workload: Workload) -> None:
    """The controller deletes a pod before it creates the next one (Kubernetes documentation, StatefulSet basics)."""
    assert workload.surge(8) == 0
    assert replace(workload, body={**workload.body, "kind": DEPLOYMENT.kind}).surge(8) == 2


def test_a_body_without_a_shape_is_named() -> None:
    ((_, deployment),) = fleet_of(open_model(flavors=[GPU]), playground()).workloads
    stray = replace(deployment, body={**deployment.body, "apiVersion": "example.com/v1"})
    with pytest.raises(ValueError, match=r"Deployment default/\S+ \(example.com/v1\) has no shape"):
        _ = stray.shape
