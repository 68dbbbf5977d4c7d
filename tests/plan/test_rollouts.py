"""How many replicas restart at a time: worked out by hand from what the controllers' documentation says.

Deployments: "Max Unavailable" and "Max Surge" of kubernetes.io/docs/concepts/workloads/controllers/deployment: shares
of the first round down, of the second up; both are 25 % where nothing is stated. LeaderWorkerSets: "Rollout Strategy"
of lws.sigs.k8s.io: one group may be missing and none is added where nothing is stated.

StatefulSets: "Rolling Updates" of kubernetes.io/docs/concepts/workloads/controllers/statefulset: each pod in its
turn, from the largest ordinal down to the partition; with OnDelete none is replaced until it is deleted.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.plan.rollouts import Rollout, rollout_of
from tests.plan.review.revisions import deployment, groups, stateful_set


def rolling(**bounds: Any) -> dict[str, Any]:
    return deployment(strategy={"type": "RollingUpdate", "rollingUpdate": bounds})


@pytest.mark.parametrize(
    ("body", "replicas", "expected"),
    [
        pytest.param(deployment(), 1, Rollout(1, 0, 1, 1), id="one replica: 0.25 is one more, and none less"),
        pytest.param(deployment(), 4, Rollout(4, 1, 1, 2), id="four: one more and one less, two at a time"),
        pytest.param(deployment(), 10, Rollout(10, 2, 3, 2), id="ten: 2.5 up is 3 and down is 2, five at a time"),
        pytest.param(rolling(maxSurge=0, maxUnavailable=1), 3, Rollout(3, 1, 0, 3), id="one after the other"),
        pytest.param(rolling(maxSurge="100%", maxUnavailable=0), 3, Rollout(3, 0, 3, 1), id="all new ones first"),
        pytest.param(rolling(maxSurge=0, maxUnavailable="1%"), 2, Rollout(2, 1, 0, 2), id="both come to nothing"),
        pytest.param(rolling(maxSurge=5, maxUnavailable=9), 2, Rollout(2, 2, 0, 1), id="no more than there are"),
        pytest.param(deployment(strategy={"type": "Recreate"}), 3, Rollout(3, 3, 0, 1), id="all at once"),
        pytest.param(deployment(), 0, Rollout(0, 0, 0, 0), id="nothing runs"),
        pytest.param(groups(), 3, Rollout(3, 1, 0, 3), id="groups: one after the other"),
        pytest.param(groups(maxUnavailable=0, maxSurge=1), 2, Rollout(2, 0, 1, 3), id="groups: one more first"),
        pytest.param(groups(maxUnavailable=1, maxSurge=1), 4, Rollout(4, 1, 1, 5), id="groups: each one restarts"),
        pytest.param(groups(maxUnavailable=2), 4, Rollout(4, 1, 0, 4), id="groups: never two at a time"),
        pytest.param(groups(maxUnavailable="50%"), 5, Rollout(5, 1, 0, 5), id="groups: nor a share"),
        pytest.param(groups(partition=2), 3, Rollout(1, 1, 0, 1), id="groups: from the partition on"),
        pytest.param(
            groups(maxUnavailable=1, maxSurge=1, partition=2),
            4,
            Rollout(2, 0, 1, 3, left=1),
            id="groups: the partition keeps what was added",
        ),
        pytest.param(groups(partition=3), 3, Rollout(0, 0, 0, 0), id="groups: the partition keeps all"),
    ],
)
def test_rollouts(body: dict[str, Any], replicas: int, expected: Rollout) -> None:
    assert rollout_of(body, replicas) == expected


@pytest.mark.parametrize("body", [deployment(), deployment(strategy={"type": "Recreate"}), groups(), stateful_set()])
def test_any_number_of_replicas_is_planned(body: dict[str, Any]) -> None:
    """An autoscaler's maximum can be a slip of the finger: no step per replica, which took more than half an hour."""
    assert rollout_of(body, 12_000_000).replicas == 12_000_000


@pytest.mark.parametrize(
    ("body", "replicas", "expected"),
    [
        pytest.param(stateful_set(), 3, Rollout(3, 1, 0, 3), id="one after the other, and none is added"),
        pytest.param(stateful_set(), 8, Rollout(8, 1, 0, 8), id="eight: no quarter of them"),
        pytest.param(stateful_set(rolling={"partition": 2}), 3, Rollout(1, 1, 0, 1), id="from the partition on"),
        pytest.param(stateful_set(rolling={"partition": 3}), 3, Rollout(0, 0, 0, 0), id="the partition keeps all"),
        pytest.param(stateful_set("OnDelete"), 3, Rollout(0, 0, 0, 0), id="until each is deleted"),
        pytest.param(
            stateful_set(rolling={"maxUnavailable": 2}), 4, Rollout(4, 1, 0, 4), id="in order: one is one at a time"
        ),
        pytest.param(
            stateful_set(rolling={"maxUnavailable": "30%"}, podManagementPolicy="Parallel"),
            5,
            Rollout(5, 1, 0, 5),
            id="in parallel: maxUnavailable has no effect either",
        ),
    ],
)
def test_rollouts_of_stateful_sets(body: dict[str, Any], replicas: int, expected: Rollout) -> None:
    assert rollout_of(body, replicas) == expected


@pytest.mark.parametrize(
    ("body", "before", "after", "room", "expected"),
    [
        pytest.param(groups(), 3, 5, None, Rollout(3, 0, 0, 4), id="added groups start first, all at once"),
        pytest.param(
            groups(maxUnavailable=1, maxSurge=1),
            4,
            4,
            4,
            Rollout(0, 0, 1, 0, stuck=True, left=1),
            id="no room",
        ),
        pytest.param(groups(maxUnavailable=1), 4, 4, 4, Rollout(4, 1, 0, 4), id="in place"),
        pytest.param(
            rolling(maxUnavailable=0, maxSurge=1),
            2,
            2,
            2,
            Rollout(0, 0, 1, 0, stuck=True, left=1),
            id="waiting",
        ),
        pytest.param(rolling(maxUnavailable=1, maxSurge=1), 4, 4, 4, Rollout(4, 1, 1, 4), id="old ones make room"),
        pytest.param(stateful_set(), 3, 5, None, Rollout(3, 0, 0, 5), id="in order, added ones first"),
    ],
)
def test_replicas_and_room(
    body: dict[str, Any], before: int, after: int, room: int | None, expected: Rollout
) -> None:
    """As ``tests/cluster/rollouts`` shows on the controllers."""
    assert rollout_of(body, after, before, room) == expected


SHARES = st.integers(0, 20) | st.integers(0, 100).map(lambda number: f"{number}%")


@given(SHARES, SHARES, st.integers(1, 50))
def test_an_update_always_moves_and_never_more_than_there_is(surge: Any, unavailable: Any, replicas: int) -> None:
    found = rollout_of(rolling(maxSurge=surge, maxUnavailable=unavailable), replicas)
    assert found.replicas == replicas
    assert 0 <= found.short <= replicas
    assert 0 <= found.extra <= replicas
    assert found.short + found.extra > 0
    assert found.waves * (found.short + found.extra) >= replicas
    assert (found.waves - 1) * (found.short + found.extra) < replicas
