"""How many nodes of a group an update may make unavailable at once, and how long it takes at most."""

from typing import Any

import pytest

from components.checks.hardening.settings import Hardening
from components.checks.hardening.workloads import harden
from components.clouds.aws.facts.waits import longest_update, node_group_timeouts
from components.clouds.aws.nodes.plan import NodeGroupPlan
from components.fleet.rendered import Fleet
from components.fleet.timeouts import Timeouts
from tests.clouds.aws.environments import environment, flavor, one, planned
from tests.fleets import fleet_of, open_model, service

MINUTE = 60
HOUR = 3600
ONE_GPU, FOUR_GPUS = "g6.2xlarge", "g6.12xlarge"


def group(fleet: Fleet) -> NodeGroupPlan:
    (found,) = planned(fleet, environment())
    return found


def served(instance_type: str, replicas: int, unavailable: int | str) -> Fleet:
    """A model with one GPU per replica, of which an update may miss some."""
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": unavailable}}
    model = open_model(flavors=[flavor(instance_type)])
    return fleet_of(model, service("s", "m", replicas=replicas, rolloutStrategy=rollout))


@pytest.mark.parametrize(
    ("instance_type", "replicas", "unavailable", "at_once"),
    [
        (ONE_GPU, 1, 1, 1),
        (ONE_GPU, 8, "25%", 2),
        (ONE_GPU, 8, 1, 1),
        (ONE_GPU, 40, "25%", 10),
        (FOUR_GPUS, 8, "25%", 1),  # a node holds four replicas, of which only two may be missing
        (FOUR_GPUS, 40, "25%", 2),
        (ONE_GPU, 8, "100%", 8),  # no more than there are nodes
    ],
)
def test_no_more_than_the_models_allow(
    instance_type: str, replicas: int, unavailable: int | str, at_once: int
) -> None:
    assert group(served(instance_type, replicas, unavailable)).max_unavailable == at_once


def test_plans_of_changes_count_with_it() -> None:
    assert group(served(ONE_GPU, 8, "25%")).replacement.at_once == 2


def test_several_models_need_the_least_of_them() -> None:
    model = open_model(flavors=[flavor(ONE_GPU)])
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": "50%"}}
    many = service("many", "m", replicas=8, rolloutStrategy=rollout)
    assert group(fleet_of(model, many)).max_unavailable == 4
    assert group(fleet_of(model, many, service("few", "m", replicas=8))).max_unavailable == 1


def test_a_disruption_budget_allows_one() -> None:
    fleet = served(ONE_GPU, 40, "25%")
    hardened = Fleet(tuple(harden(item, Hardening(disruption_budgets=True)) for item in fleet.rendered), ())
    assert group(hardened).max_unavailable == 1


def test_an_update_takes_a_wave_for_each_node() -> None:
    """Of a node: 10 minutes to launch, 15 to drain, 1 to settle; and the first new node before that."""
    assert [longest_update(4, 1), longest_update(4, 2), longest_update(5, 2)] == [
        10 * MINUTE + waves * 26 * MINUTE for waves in (4, 2, 3)
    ]


@pytest.mark.parametrize(("nodes", "update"), [(1, HOUR), (4, 2 * HOUR + 25 * MINUTE)])
def test_timeouts_are_never_below_those_of_the_provider(nodes: int, update: int) -> None:
    """The AWS provider waits 60 minutes for each operation on a node group."""
    assert node_group_timeouts(nodes) == Timeouts(HOUR, update, HOUR)


def test_karpenter_replaces_nodes_outside_of_updates() -> None:
    from components.clouds.aws.words import Provisioner

    where: Any = environment(provisioner=Provisioner.KARPENTER)
    (found,) = planned(one(flavor(ONE_GPU), where=where), where)
    assert found.longest_update == 0
