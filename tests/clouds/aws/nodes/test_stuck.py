"""Updates that never finish, because the nodes have no room for the replica that starts first."""

from dataclasses import replace
from typing import Any

import pytest

from components.clouds.aws.nodes.plan import NodeEnvironment
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.fleet.nodes.policy import Capacity, Reservation, TypePolicy
from components.fleet.rendered import Fleet
from tests.clouds.aws.environments import environment, flavor, one, problems, small
from tests.fleets import errors, fleet_of, open_model, runner, service

NEW_FIRST = {"maxSurge": 1, "maxUnavailable": 0}


def served(replicas: int, bounds: dict[str, Any] | None = None, size: int = 1) -> Fleet:
    """A model on nodes of one GPU, with the bounds of its updates."""
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
    template = {"size": size, "workerTemplate": {"spec": {"containers": [runner(resources=resources)]}}}
    fleet = fleet_of(
        open_model(flavors=[flavor("g5.xlarge")]),
        service(
            replicas=replicas,
            workloadTemplate=template,
            rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": bounds or {}},
        ),
    )
    assert not errors(fleet), errors(fleet)
    return fleet


def limited(nodes: int, **rule: Any) -> NodeEnvironment:
    return environment(types={"g5.xlarge": TypePolicy(max_nodes=nodes, **rule)})


def stuck(fleet: Fleet, where: NodeEnvironment) -> list[Problem]:
    return [each for each in problems(fleet, where, "warning") if each.rule is RuleId.ROLLOUT_STUCK]


@pytest.mark.parametrize(
    ("bounds", "nodes", "found"),
    [
        (NEW_FIRST, 2, True),
        (NEW_FIRST, 3, False),  # one node more
        ({"maxSurge": 1, "maxUnavailable": 1}, 2, False),  # an old one may stop first
        ({"maxSurge": 0, "maxUnavailable": 1}, 2, False),
        ({"maxSurge": "50%", "maxUnavailable": "25%"}, 2, True),  # 25 % of two rounds down to none
        ({"maxSurge": "50%", "maxUnavailable": "50%"}, 2, False),
        ({"maxSurge": 2, "maxUnavailable": 0}, 3, False),  # one of the two finds a node, and the update goes on
        (None, 2, False),  # the default replaces an old replica
    ],
)
def test_bounds_of_an_update(bounds: dict[str, Any] | None, nodes: int, *, found: bool) -> None:
    reported = stuck(served(2, bounds), limited(nodes))
    assert [(each.kind, each.name) for each in reported] == [("Service", "s")] * found


def test_the_message_names_both_ways_out() -> None:
    (problem,) = stuck(served(2, NEW_FIRST), limited(2))
    assert "maxSurge 1, maxUnavailable 0 of 2 replicas" in problem.reason
    assert "needs 1 nvidia.com/gpu: g5-xlarge has at most 2 nodes" in problem.reason
    assert "set maxUnavailable to 1" in problem.reason
    assert "raise maxNodes under gpuNodes.types in Pulumi.dev.yaml" in problem.reason


def test_it_takes_the_place_of_the_warning_about_pending_pods() -> None:
    assert [each.rule for each in problems(served(2, NEW_FIRST), limited(2), "warning")] == [RuleId.ROLLOUT_STUCK]


def test_groups_of_pods() -> None:
    fleet = served(1, NEW_FIRST, size=2)
    assert len(stuck(fleet, limited(3))) == 1
    assert stuck(fleet, limited(4)) == []


def test_groups_that_may_surge_wait_whatever_may_be_unavailable() -> None:
    """The way out that the message names is one."""
    both = {"maxSurge": 1, "maxUnavailable": 1}
    (problem,) = stuck(served(2, both, size=2), limited(4))
    assert "set maxSurge to 0 and maxUnavailable to 1" in problem.reason
    assert stuck(served(2, {"maxSurge": 0, "maxUnavailable": 1}, size=2), limited(4)) == []
    assert stuck(served(2, both, size=2), limited(6)) == []


def test_replicas_that_have_no_nodes_anyway_are_reported_as_such() -> None:
    where = limited(1)
    fleet = served(2, NEW_FIRST)
    assert stuck(fleet, where) == []
    assert [each.rule for each in problems(fleet, where)] == [RuleId.NODES_PENDING]


def test_reserved_instances_are_a_bound() -> None:
    def reserved(count: int) -> NodeEnvironment:
        held = Reservation("cr-0a1b", "us-east-1b", count)
        return environment(types={"g5.xlarge": TypePolicy(capacity=Capacity.ODCR, reservation=held)})

    (problem,) = stuck(served(2, NEW_FIRST), reserved(2))
    assert "reserve as many instances" in problem.reason
    assert stuck(served(2, NEW_FIRST), reserved(3)) == []


def test_nodes_that_another_model_fills() -> None:
    both = fleet_of(
        open_model("a", flavors=[flavor("g5.xlarge")]),
        open_model("b", flavors=[flavor("g5.xlarge")]),
        small("idle", "b"),
        service(model="a", replicas=1, rolloutStrategy={"rollingUpdateConfiguration": NEW_FIRST}),
    )
    assert not errors(both)
    assert [each.name for each in stuck(both, limited(2))] == ["s"]
    assert stuck(both, limited(3)) == []


def test_nodes_without_a_bound_grow() -> None:
    assert stuck(served(2, NEW_FIRST), environment()) == []


def test_the_maximum_of_an_autoscaler() -> None:
    fleet = served(1, NEW_FIRST)
    (item,) = [item for item in fleet.rendered if item.workloads]
    (workload,) = item.workloads
    pods = tuple(replace(demand, max_pods=3) for demand in workload.pods)
    grown = replace(item, workloads=(replace(workload, most=3, pods=pods),))
    fleet = replace(fleet, rendered=tuple(grown if each is item else each for each in fleet.rendered))
    (problem,) = stuck(fleet, limited(3))
    assert problem.reason.startswith("with 3 replicas, the maximum of its autoscaler, a rollout of Deployment s")
    assert stuck(fleet, limited(4)) == []


def test_a_playground_replaces_its_old_replica() -> None:
    assert stuck(one(flavor("g5.xlarge"), replicas=2), limited(2)) == []
