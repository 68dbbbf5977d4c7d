"""Which replicas an edit of a ModelServing restarts under Kthena's controllers.

The expected values were seen with the controllers of 97b99f41 and v1.0.0 on a real API server (docs/kthena.md,
"Edits of a ModelServing under the controllers"): three serving groups of two roles, ``p`` with two instances of one
pod and ``d`` with one instance of an entry pod and a worker.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from components.families import parse
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.costs.bill import Bill
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.review.compare import review
from components.plan.review.planned import snapshot_of
from components.plan.review.review import Interruption
from components.plan.review.rolling_updates import OUTAGE
from components.plan.review.snapshot import Snapshot
from components.plan.review.wire import read, written
from tests.families.kthena.in_release import as_one
from tests.families.kthena.serving.support import Object, engine, model_serving, pods, role

CONTRACT, V03, V04, V1 = "97b99f41", "v0.3.0", "v0.4.0", "v1.0.0"
BOTH = (CONTRACT, V1)
GAP, SCALE = Interruption.GAP, Interruption.SCALE
P, D, E = "Pod ns/ms-p", "Pod ns/ms-d", "Pod ns/ms-e"
ROLES: Object = {"rolloutStrategy": {"type": "RoleRollingUpdate"}}
Effect = tuple[Interruption, int, int, int]
"""Disruption, replicas that restart, replicas missing at once, and waves."""
Edit = Callable[[Object], object]


def serving(replicas: int = 3, **spec: Any) -> Object:
    return model_serving("ms", role("p", replicas=2), role("d", 1), replicas=replicas, **spec)


def roles_of(document: Object) -> list[Object]:
    found: list[Object] = document["spec"]["template"]["roles"]
    return found


def new_template(index: int) -> Edit:
    return lambda document: roles_of(document)[index].update(entryTemplate=pods(engine("--seed", "7")))


def new_templates(document: Object) -> None:
    new_template(0)(document)
    new_template(1)(document)


def in_role(index: int, **fields: Any) -> Edit:
    return lambda document: roles_of(document)[index].update(fields)


def in_spec(**fields: Any) -> Edit:
    return lambda document: document["spec"].update(fields)


def new_role(document: Object) -> None:
    roles_of(document).append(role("e"))


def without_role(document: Object) -> None:
    del roles_of(document)[1]


def snapshot(release: str, *documents: Object) -> Snapshot:
    releases = {"kthena": release}
    manifests = parse(yaml.safe_dump_all(documents), "models.yaml", releases)
    options = Options(realization=Realization.OPERATOR, releases=releases, tolerates_devices=True)
    planned = plan(manifests, Environment(options=options))
    assert not [problem for problem in planned.problems if problem.is_error], list(map(str, planned.problems))
    # Other versions of this code read it as JSON.
    return read(written(snapshot_of(planned, "dev", Bill("", ""))))


def effects(release: str, before: Object, edit: Edit) -> dict[str, Effect]:
    """Return the effect on each workload that is not undisturbed."""
    after = copy.deepcopy(before)
    edit(after)
    found = review(snapshot(release, after), snapshot(release, before))
    return {
        blast.title: (blast.disruption, blast.replicas, blast.short, blast.waves)
        for blast in found.blasts
        if blast.disruption is not Interruption.NONE
    }


GROUP_AFTER_GROUP = {P: (GAP, 6, 2, 3), D: (GAP, 3, 1, 3)}
ADDED = (Interruption.NEW, 3, 0, 1)
REMOVED = (Interruption.REMOVED, 3, 0, 0)


@pytest.mark.parametrize("release", BOTH)
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(new_template(0), GROUP_AFTER_GROUP, id="1 template of one role"),
        pytest.param(new_templates, GROUP_AFTER_GROUP, id="2 template of all roles"),
        pytest.param(
            in_spec(rolloutStrategy={"rollingUpdateConfiguration": {"partition": 2}}), {}, id="3b partition alone"
        ),
        pytest.param(new_role, {**GROUP_AFTER_GROUP, E: ADDED}, id="4 role added"),
        pytest.param(without_role, {P: (GAP, 6, 2, 3), D: REMOVED}, id="5 role removed"),
        pytest.param(in_role(0, replicas=3), {P: (SCALE, 3, 0, 1)}, id="6 replicas of a role"),
        pytest.param(in_role(0, replicas=1), {P: (SCALE, 3, 0, 0)}, id="6b fewer replicas of a role"),
        pytest.param(in_spec(replicas=4), {P: (SCALE, 2, 0, 1), D: (SCALE, 1, 0, 1)}, id="7 replicas"),
        pytest.param(in_spec(replicas=2), {P: (SCALE, 2, 0, 0), D: (SCALE, 1, 0, 0)}, id="7b fewer replicas"),
        pytest.param(in_role(1, workerReplicas=2), GROUP_AFTER_GROUP, id="9 workers of a role"),
    ],
)
def test_each_edit(release: str, edit: Edit, expected: dict[str, Effect]) -> None:
    assert effects(release, serving(), edit) == expected


def test_another_scheduler_restarts_nothing() -> None:
    # Releases until v0.1.0 only accept volcano.
    assert effects(V1, serving(), in_spec(schedulerName="default-scheduler")) == {}


@pytest.mark.parametrize("release", BOTH)
def test_groups_below_the_partition_stay(release: str) -> None:
    kept: Object = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 2}}}
    assert effects(release, serving(**kept), new_template(0)) == {P: (GAP, 2, 2, 1), D: (GAP, 1, 1, 1)}


@pytest.mark.parametrize(("share", "groups", "kept"), [("34%", 4, 2), ("10%", 4, 1), ("50%", 3, 2), ("100%", 3, 3)])
def test_partition_as_a_percentage(share: str, groups: int, kept: int) -> None:
    partition: Object = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": share}}}
    moved = groups - kept
    expected = {P: (GAP, 2 * moved, 2, moved), D: (GAP, moved, 1, moved)} if moved else {}
    assert effects(V1, serving(groups, **partition), new_template(0)) == expected


@pytest.mark.parametrize("release", BOTH)
@pytest.mark.parametrize(("edit", "left"), [(new_template(0), (P, D)), (without_role, (P,))])
def test_one_group_is_an_outage(release: str, edit: Edit, left: tuple[str, ...]) -> None:
    after = serving(1)
    edit(after)
    found = review(snapshot(release, after), snapshot(release, serving(1)))
    outages = {blast.title for blast in found.blasts if blast.warning == OUTAGE}
    assert outages == {*left}
    assert all(blast.short == blast.replicas for blast in found.blasts if blast.title in left)


def test_groups_that_are_added_in_the_same_edit_do_not_restart() -> None:
    """From three to five groups and a new template: nine pods restart, in three waves."""

    def both(document: Object) -> None:
        new_template(0)(document)
        in_spec(replicas=5)(document)

    assert effects(V1, serving(), both) == GROUP_AFTER_GROUP


def test_what_replaces_the_pods_of_another_role_is_named() -> None:
    after = serving()
    without_role(after)
    (blast,) = [each for each in review(snapshot(V1, after), snapshot(V1, serving())).blasts if each.title == P]
    assert blast.because == (f"{D} is removed",)


@pytest.mark.parametrize(("release", "short", "waves"), [(CONTRACT, 2, 4), (V03, 4, 2), (V1, 4, 2)])
def test_groups_that_may_be_missing_at_once(release: str, short: int, waves: int) -> None:
    # 97b99f41 ignores maxUnavailable (D-21).
    two: Object = {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": 2}}}
    assert effects(release, serving(4, **two), new_template(0))[P] == (GAP, 8, short, waves)


@pytest.mark.parametrize("release", [V04, V1])
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (new_template(0), {P: (GAP, 6, 6, 1)}),
        (new_templates, {P: (GAP, 6, 6, 1), D: (GAP, 3, 3, 1)}),
        (new_role, {E: ADDED}),
        (without_role, {D: REMOVED}),
        (in_role(0, replicas=3), {P: (SCALE, 3, 0, 1)}),
        (in_spec(schedulerName="default-scheduler"), {}),
    ],
)
def test_roles_that_are_updated_by_themselves(release: str, edit: Edit, expected: dict[str, Effect]) -> None:
    assert effects(release, serving(**ROLES), edit) == expected


def test_instances_of_a_role_that_may_be_missing() -> None:
    one = serving(**ROLES)
    in_role(0, maxUnavailable=1)(one)
    assert effects(V1, one, new_template(0)) == {P: (GAP, 6, 3, 2)}
    # The bound itself is no part of the pods.
    assert effects(V1, serving(**ROLES), in_role(0, maxUnavailable=1)) == {}


def test_v040_updates_roles_by_themselves_without_a_strategy() -> None:
    # volcano-sh/kthena at v0.4.0, deleteOutdatedResourcesForRollingUpdate: groups only if the strategy is set.
    assert effects(V04, serving(), new_template(0)) == {P: (GAP, 6, 6, 1)}
    whole: Object = {"rolloutStrategy": {"type": "ServingGroupRollingUpdate"}}
    assert effects(V04, serving(**whole), new_template(0)) == GROUP_AFTER_GROUP


BOOSTER: Object = {
    "apiVersion": "workload.serving.volcano.sh/v1alpha1",
    "kind": "ModelBooster",
    "metadata": {"name": "m", "namespace": "ns"},
    "spec": {
        "backends": [
            {
                "name": "b",
                "type": "vLLM",
                "modelURI": "hf://Qwen/Qwen3-8B",
                "cacheURI": "hostpath:///tmp/cache",
                "minReplicas": 2,
                "maxReplicas": 2,
                "workers": [
                    {
                        "type": "server",
                        "image": "vllm/vllm-openai:v0.11.0",
                        "replicas": 1,
                        "pods": 1,
                        "config": {"served-model-name": "qwen"},
                        "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    }
                ],
            }
        ]
    },
}


def test_what_a_booster_becomes_is_replaced_group_by_group() -> None:
    def edit(document: Object) -> None:
        document["spec"]["backend"]["workers"][0]["config"]["max-model-len"] = 4096

    (found,) = effects("v0.3.0", as_one(BOOSTER), edit).values()
    assert found == (GAP, 2, 1, 2)
