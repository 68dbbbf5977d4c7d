"""Which fields of an edit restart replicas, and how, as the controllers in ``components/fleet/controllers.py`` do it.

``tests/cluster/rollouts`` compares the same with the controllers themselves.
"""

from typing import Any

import pytest

from components.plan.review.edits import Edit
from components.plan.review.review import Interruption
from components.plan.rollouts import Rollout
from tests.plan.review.revisions import changed, deployment, groups, stateful_set
from tests.plan.review.test_blast import ARGS, GRACE, RUNNING, updated

Body = dict[str, Any]
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
NOTHING = Rollout(0, 0, 0, 0)
TOPOLOGY = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/zone"}


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        (deployment(), "spec.strategy", {"type": "Recreate"}),
        (deployment(), "spec.minReadySeconds", 20),
        (deployment(), "spec.progressDeadlineSeconds", 60),
        (deployment(), "spec.revisionHistoryLimit", 1),
        (deployment(), "metadata.annotations", TOPOLOGY),
        (stateful_set(), "spec.updateStrategy", {"type": "OnDelete"}),
        (stateful_set(), "spec.minReadySeconds", 20),
        (stateful_set(), "spec.persistentVolumeClaimRetentionPolicy", {"whenScaled": "Delete"}),
        (groups(), "spec.startupPolicy", "LeaderReady"),
        (groups(), "spec.rolloutStrategy", {"rollingUpdateConfiguration": {"maxSurge": 2}}),
        (groups(), "metadata.annotations", {"example.com/owner": "search"}),
        (groups(), "metadata.labels", {"team": "search"}),
        # The webhook of LeaderWorkerSets writes both.
        (groups(), "spec.leaderWorkerTemplate.restartPolicy", "RecreateGroupOnPodRestart"),
        (groups(), "spec.networkConfig", {"subdomainPolicy": "Shared"}),
    ],
)
def test_what_restarts_nothing(body: Body, path: str, value: object) -> None:
    edit = Edit.of(body, changed(body, path, value))
    assert edit.restarting == ()
    assert edit.rollout(3, 3) == NOTHING


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.leaderWorkerTemplate.size", 3),
        ("spec.leaderWorkerTemplate.restartPolicy", "None"),
        ("spec.leaderWorkerTemplate.restartPolicy", "Default"),
        ("spec.networkConfig", {"subdomainPolicy": "UniquePerReplica"}),
    ],
)
def test_fields_of_a_revision_of_groups(path: str, value: object) -> None:
    body = groups(maxSurge=1, maxUnavailable=0)
    assert Edit.of(body, changed(body, path, value)).rollout(2, 2) == Rollout(2, 0, 1, 3)


@pytest.mark.parametrize(("partition", "expected"), [(0, Rollout(3, 1, 0, 3)), (2, Rollout(1, 1, 0, 1))])
def test_the_topology_of_groups_restarts_them_one_at_a_time(partition: int, expected: Rollout) -> None:
    """It is an annotation of the leaders and in no revision, so that no surge and no wave of the rollout applies."""
    body = groups(maxSurge=2, partition=partition)
    edit = Edit.of(body, changed(body, "metadata.annotations", TOPOLOGY))
    assert [path[-1] for path in edit.restarting] == list(TOPOLOGY)
    assert edit.rollout(3, 3) == expected


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"type": "Recreate"}, Rollout(3, 3, 0, 1)),
        (ROLLING, Rollout(3, 1, 0, 3)),
        ({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 0}}, Rollout(3, 0, 3, 1)),
    ],
)
def test_the_strategy_of_the_same_edit_holds(strategy: Body, expected: Rollout) -> None:
    after = changed(deployment(strategy=strategy), ARGS, ["x"])
    assert Edit.of(deployment(), after).rollout(3, 3) == expected


@pytest.mark.parametrize(
    ("body", "before", "after", "expected"),
    [
        pytest.param(deployment(), 0, 3, Rollout(0, 0, 0, 1), id="all at once"),
        pytest.param(deployment(strategy={"type": "Recreate"}), 0, 3, Rollout(0, 0, 0, 1), id="nothing to end first"),
        pytest.param(stateful_set(), 0, 3, Rollout(0, 0, 0, 3), id="in order"),
        pytest.param(stateful_set(podManagementPolicy="Parallel"), 0, 3, Rollout(0, 0, 0, 1), id="parallel"),
        pytest.param(groups(), 0, 3, Rollout(0, 0, 0, 1), id="groups"),
        pytest.param(deployment(), 3, 0, NOTHING, id="to none"),
        pytest.param(stateful_set(), 3, 0, NOTHING, id="a set to none"),
        pytest.param(groups(), 3, 0, NOTHING, id="groups to none"),
    ],
)
def test_from_none_and_to_none(body: Body, before: int, after: int, expected: Rollout) -> None:
    assert Edit.of(body, changed(body, ARGS, ["x"])).rollout(after, before) == expected


@pytest.mark.parametrize(
    ("body", "before", "after", "room", "expected"),
    [
        pytest.param(deployment(), 2, 5, None, Rollout(0, 0, 0, 1), id="at once"),
        pytest.param(deployment(), 2, 5, 4, Rollout(0, 0, 0, 1, stuck=True), id="one finds no room"),
        pytest.param(deployment(), 2, 5, 2, Rollout(0, 0, 0, 0, stuck=True), id="none finds room"),
        pytest.param(stateful_set(), 2, 5, None, Rollout(0, 0, 0, 3), id="in order"),
        pytest.param(deployment(), 5, 2, 5, NOTHING, id="fewer"),
        pytest.param(groups(maxSurge=4), 0, 4, None, Rollout(0, 0, 0, 1), id="groups without a partition"),
        pytest.param(groups(maxSurge=4, partition=4), 0, 4, None, Rollout(0, 0, 3, 1), id="groups with a partition"),
        pytest.param(groups(maxSurge=4, partition=4), 4, 2, None, NOTHING, id="fewer groups with a partition"),
    ],
)
def test_replicas_alone(body: Body, before: int, after: int, room: int | None, expected: Rollout) -> None:
    assert Edit.of(body, body).rollout(after, before, room) == expected


def test_a_partition_that_is_removed_adds_groups_of_the_surge() -> None:
    """The update is complete once the partition of the leaders has reached 0, while further groups start."""
    before = groups(maxSurge=2, maxUnavailable=0, partition=4)
    edit = Edit.of(before, groups(maxSurge=2, maxUnavailable=0))
    assert edit.rollout(6, 4) == Rollout(0, 0, 2, 1)


def test_a_paused_rollout_restarts_nothing() -> None:
    found = updated(deployment(paused=True), replicas=(3, 3, 3))
    assert (found.disruption, found.replicas) == (Interruption.NONE, 0)
    assert found.because[-1] == (
        "the rollout is paused, pods keep running unchanged until it is resumed (spec.paused)"
    )
    more = changed(deployment(paused=True), ARGS, ["x"])
    assert Edit.of(deployment(), more).rollout(5, 3) == Rollout(0, 0, 0, 1)


@pytest.mark.parametrize(
    ("body", "path", "value", "reason"),
    [
        (deployment(paused=True), "spec.paused", False, "the rollout is resumed"),
        (
            stateful_set("OnDelete"),
            "spec.updateStrategy",
            {"type": "RollingUpdate"},
            "the strategy is no longer OnDelete",
        ),
        (
            stateful_set(rolling={"partition": 2}),
            "spec.updateStrategy",
            {"type": "RollingUpdate"},
            "the partition falls from 2 to 0",
        ),
        (
            groups(partition=2),
            "spec.rolloutStrategy.rollingUpdateConfiguration.partition",
            1,
            "the partition falls from 2 to 1",
        ),
        (groups(partition=1), "spec.rolloutStrategy.rollingUpdateConfiguration.partition", 2, ""),
        (deployment(), "spec.paused", True, ""),
        (stateful_set("OnDelete"), "spec.minReadySeconds", 5, ""),
    ],
)
def test_pods_that_a_strategy_no_longer_keeps(body: Body, path: str, value: object, reason: str) -> None:
    found = updated(body, path, value)
    assert found.disruption is Interruption.NONE
    assert found.warning == (f"{reason}: pods that still have an earlier template restart" if reason else "")


def test_an_update_waits_until_pods_have_been_ready_for_a_while() -> None:
    found = updated(deployment(strategy=ROLLING, minReadySeconds=60), replicas=(3, 3, 3), group="")
    assert found.seconds == 3 * (RUNNING + GRACE) + 2 * 60
    assert "3 times in succession, 1 min apart (minReadySeconds)" in found.estimate
