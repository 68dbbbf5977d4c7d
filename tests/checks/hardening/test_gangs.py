"""Pods that find room together or not at all, under what an environment asks of every pod."""

from dataclasses import replace

import pytest

from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity, Priority
from components.checks.hardening.workloads import harden
from components.fleet.objects import Object, new_object
from tests.fleet.sets import parts


def hardened(spec: Object, options: Hardening) -> tuple[Object, list[Object]]:
    """The PodGroup of three sets, and their pods."""
    (item,) = parts(3).rendered
    gang = new_object("scheduling.volcano.sh/v1beta1", "PodGroup", "p-0", item.namespace, spec)
    for workload in item.workloads:
        for template in workload.templates:
            template["spec"]["schedulerName"] = "volcano"
    found = harden(replace(item, others=(gang,)), options)
    (made,) = [body for body in found.objects if body["kind"] == "PodGroup"]
    return made, [template["spec"] for workload in found.workloads for template in workload.templates]


@pytest.mark.parametrize(
    ("spec", "options", "expected"),
    [
        ({"minMember": 3}, Hardening(), {"minMember": 3}),
        ({"minMember": 3}, Hardening(PodSecurity.RESTRICTED, disruption_budgets=True), {"minMember": 3}),
        (
            {"minMember": 3},
            Hardening(priority=Priority.STANDARD),
            {"minMember": 3, "priorityClassName": "inference-standard"},
        ),
        ({"priorityClassName": "own"}, Hardening(priority=Priority.STANDARD), {"priorityClassName": "own"}),
    ],
)
def test_a_gang_has_the_priority_of_its_pods(spec: Object, options: Hardening, expected: Object) -> None:
    gang, pods = hardened(dict(spec), options)
    assert gang["spec"] == expected
    assert {pod["schedulerName"] for pod in pods} == {"volcano"}
    if options.priority:
        assert {pod["priorityClassName"] for pod in pods} == {"inference-standard"}
