"""What a change does to the pods of a StatefulSet. The seconds are worked out by hand, as in ``test_blast.py``."""

from typing import Any

import pytest

from components.plan.review.compare import review
from components.plan.review.review import ChangeKind, Interruption
from tests.plan.review.revisions import changed, revision, stateful_set, workload
from tests.plan.review.test_blast import GRACE, RUNNING, SIZE, updated
from workbench.planning.wording.resources import short_causes

CLAIMS = [{"metadata": {"name": "weights"}, "spec": {"resources": {"requests": {"storage": "50Gi"}}}}]


def test_a_new_template_replaces_one_pod_after_the_other() -> None:
    found = updated(stateful_set(), replicas=(3, 3, 3), group="")
    assert (found.disruption, found.replicas, found.short, found.waves) == (Interruption.GAP, 3, 1, 3)
    assert found.seconds == 3 * (RUNNING + GRACE)
    assert found.extra_accelerators == 0
    assert found.because == ("spec.template.spec.containers[main].args[1]",)
    assert short_causes(found.because) == ("containers[main].args",)


@pytest.mark.parametrize(
    ("body", "held"),
    [
        (
            stateful_set("OnDelete"),
            "with updateStrategy OnDelete, pods keep running unchanged until they are deleted",
        ),
        (stateful_set(rolling={"partition": 2}), "the partition excludes all pods from the update"),
    ],
)
def test_what_its_strategy_keeps(body: dict[str, Any], held: str) -> None:
    found = updated(body)
    assert (found.disruption, found.replicas) == (Interruption.NONE, 0)
    assert found.because[-1] == held


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.serviceName", "other"),
        ("spec.podManagementPolicy", "Parallel"),
        ("spec.volumeClaimTemplates", []),
        ("spec.selector.matchLabels", {"app": "other"}),
    ],
)
def test_what_only_a_new_one_can_have(path: str, value: object) -> None:
    """The old one goes first, as its pods have the names of the new ones, which start in their order."""
    body = stateful_set(volumeClaimTemplates=CLAIMS)
    before = revision(workload(body, replicas=(3, 3, 3), group=""), weights=SIZE)
    after = revision(workload(changed(body, path, value), replicas=(3, 3, 3), group=""), weights=SIZE)
    found = review(after, before)
    (change,) = found.changes
    assert change.kind is ChangeKind.REPLACED
    (blast,) = found.blasts
    waves = 1 if path == "spec.podManagementPolicy" else 3
    assert (blast.disruption, blast.short, blast.waves) == (Interruption.GAP, 3, waves)
    assert blast.seconds == RUNNING * waves + GRACE


@pytest.mark.parametrize("path", ["spec.minReadySeconds", "spec.persistentVolumeClaimRetentionPolicy"])
def test_what_an_update_changes_in_place(path: str) -> None:
    body = stateful_set()
    before, after = revision(workload(body)), revision(workload(changed(body, path, 1)))
    found = review(after, before)
    assert [change.kind for change in found.changes] == [ChangeKind.UPDATED]
    assert [blast.disruption for blast in found.blasts] == [Interruption.NONE]


@pytest.mark.parametrize(("further", "waves"), [({}, 3), ({"podManagementPolicy": "Parallel"}, 1)])
def test_further_replicas_start_in_their_order(further: dict[str, Any], waves: int) -> None:
    body = stateful_set(**further)
    before = revision(workload(body, replicas=(1, 1, 1), group=""), weights=SIZE)
    after = revision(workload(body, replicas=(4, 4, 4), group=""), weights=SIZE)
    (found,) = review(after, before).blasts
    assert (found.disruption, found.replicas, found.waves) == (Interruption.SCALE, 3, waves)
    assert ("3 times in succession" in found.estimate) is (waves > 1)
