"""What changes of nodes do to replicas. The seconds are worked out by hand from the figures that are named."""

from dataclasses import replace
from typing import Any

import pytest

from components.fleet.nodes.replacement import NodeReplacement
from components.plan.review.compare import review
from components.plan.review.review import Blast, Interruption
from components.plan.review.snapshot import NodeGroupState, RegisteredResource, Snapshot, WorkloadState
from tests.plan.review.revisions import (
    GIB,
    changed,
    cloud,
    deployment,
    groups,
    node_group,
    resource,
    revision,
    stateful_set,
    workload,
)

NODE_GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
POOL, CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
RUNNING = 88 + 101 + 39 + 106
"""Seconds from the start of a container until the server answers, with 51.75 GiB of weights on one device and a model
of unknown layers: libraries, download, loading, engine (docs/cold-starts.md)."""
IMAGE, NODE, GRACE = 160, 417, 30
ON_NODE, ON_NEW_NODE = IMAGE + RUNNING + GRACE, NODE + IMAGE + RUNNING + GRACE
"""Seconds that a replica is missing if it moves to a node that is ready, and to one that is not there yet."""
SIZE = round(51.75 * GIB)
IMMEDIATE = NodeReplacement("update", at_once=1, surge=2, pause=60, patience=900)
"""Nodes are drained a minute after the last pods have ended, and two new ones exist before the first drain."""
DRIFT = NodeReplacement("drift", at_once=1, surge=1, launches_each=True, deletion_waits=True, version="1.35")
"""The replacement of each node is launched before its drain, and only then."""
LABELS = {"node.kubernetes.io/instance-type": "g6.2xlarge", "pool": "a"}
ONE_BY_ONE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
NEW_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def group(how: NodeReplacement | None = IMMEDIATE, name: str = "g6", **further: Any) -> NodeGroupState:
    return replace(node_group(name), replacement=how, labels=LABELS, **further)


def nodes(
    inputs: dict[str, Any], type_token: str = NODE_GROUP, *, of: str = "g6", number: int = 4, name: str = "nodes-x"
) -> RegisteredResource:
    """Return a resource that nodes come from. Its name does not tell of which group."""
    return cloud(type_token, name, inputs, nodes_of={of: number})


def snapshot(
    chat: WorkloadState, *resources: RegisteredResource, of: NodeGroupState | None = None, **further: Any
) -> Snapshot:
    return revision(
        chat,
        resources=(resource(chat.body), *resources),
        groups=(of or group(),),
        weights=SIZE,
        **further,
    )


def effect(before: Snapshot, after: Snapshot) -> Blast | None:
    found = review(after, before).blasts
    assert len(found) <= 1
    return found[0] if found else None


def rolled(chat: WorkloadState, how: NodeReplacement = IMMEDIATE) -> Blast:
    """Return the effect of another image on the nodes of a workload."""
    before, after = (snapshot(chat, nodes({"releaseVersion": value}), of=group(how)) for value in "ab")
    found = effect(before, after)
    assert found
    return found


def three(**facts: Any) -> WorkloadState:
    return replace(workload(deployment(), replicas=(3, 3, 3)), **facts)


@pytest.mark.parametrize(
    ("type_token", "field", "number", "short"),
    [
        pytest.param(NODE_GROUP, "nodeGroupName", 4, 3, id="another group: all at once"),
        pytest.param(TEMPLATE, "userData", 0, 3, id="another launch template: one node after the other"),
        pytest.param(TEMPLATE, "tags", 0, None, id="tags of the template"),
        pytest.param(NODE_GROUP, "labels", 4, None, id="labels of the group"),
    ],
)
def test_nodes_that_change_take_pods_with_them(type_token: str, field: str, number: int, short: int | None) -> None:
    before, after = (snapshot(three(), nodes({field: value}, type_token, number=number)) for value in "ab")
    found = effect(before, after)
    assert (found.short if found else None) == short
    if found:
        assert (found.disruption, found.replicas) == (Interruption.GAP, 3)
        assert "nodes-x" in found.because[0]
        assert field in found.because[0]


def test_the_nodes_of_others_take_nothing_with_them() -> None:
    before, after = (snapshot(three(), nodes({"nodeGroupName": value}, of="g5", name="nodes-g6")) for value in "ab")
    assert effect(before, after) is None


def test_pods_wait_for_other_nodes_when_theirs_are_deleted() -> None:
    """Their template stays the same, so that nothing moves them before: from managed nodes to Karpenter, say."""
    before = snapshot(three(), nodes({}))
    after = snapshot(three(), nodes({}, POOL, name="pool"))
    found = effect(before, after)
    assert found
    assert (found.disruption, found.replicas, found.short, found.seconds) == (Interruption.GAP, 3, 3, ON_NEW_NODE)
    assert found.because == ("nodes-x is deleted, and its nodes with it",)


def test_a_template_that_is_deleted_deletes_no_nodes() -> None:
    before = snapshot(three(), nodes({}), nodes({}, TEMPLATE, number=0, name="template"))
    after = snapshot(three(), nodes({}))
    assert effect(before, after) is None


def test_nodes_that_pulumi_keeps_stay() -> None:
    before = snapshot(three(), replace(nodes({}), retained=True))
    assert effect(before, snapshot(three())) is None


def test_only_as_many_replicas_move_as_the_deleted_nodes_hold() -> None:
    """A pool keeps its other nodes when its static part is deleted."""
    static = nodes({}, POOL, number=1, name="static")
    pool = nodes({}, POOL, name="pool")
    found = effect(snapshot(three(), pool, static), snapshot(three(), pool))
    assert found
    assert (found.replicas, found.short) == (1, 1)


def test_a_disruption_budget_delays_the_deletion_of_a_pool_and_not_of_a_node_group() -> None:
    chat = three(evicted_at_once=1)
    found = [
        effect(snapshot(chat, nodes({}), of=group(how)), snapshot(chat, of=group(how))) for how in (DRIFT, IMMEDIATE)
    ]
    assert [each and (each.short, each.waves) for each in found] == [(1, 3), (3, 1)]
    # All nodes are launched together, so that only the first replica waits for one.
    assert found[0]
    assert found[0].seconds == ON_NEW_NODE + 2 * ON_NODE


def test_nothing_waits_for_evicted_replicas_without_a_budget() -> None:
    found = rolled(workload(deployment()))
    assert (found.short, found.waves, found.seconds) == (2, 2, 60 + GRACE + ON_NODE)
    assert (found.extra_nodes, found.extra_accelerators) == (2, 2)
    assert "hardening.disruptionBudgets: true" in found.warning


def test_a_budget_lets_one_replica_go_after_the_other() -> None:
    found = rolled(replace(workload(deployment()), evicted_at_once=1))
    assert (found.short, found.waves, found.seconds, found.warning) == (1, 2, 2 * ON_NODE, "")


def test_other_workloads_may_take_the_new_nodes() -> None:
    chat, crowded = workload(deployment(), (1, 1, 1)), replace(group(), nodes=3)
    before, after = (snapshot(chat, nodes({"releaseVersion": value}), of=crowded) for value in "ab")
    found = effect(before, after)
    assert found
    assert (found.short, found.seconds) == (1, ON_NEW_NODE)


def test_more_replicas_than_new_nodes_wait_for_a_node() -> None:
    found = rolled(three())
    assert (found.short, found.seconds) == (3, 2 * (60 + GRACE) + ON_NEW_NODE)


def test_nodes_that_end_first_are_replaced_by_nodes_that_are_waited_for() -> None:
    found = rolled(replace(three(), evicted_at_once=1), NodeReplacement("update", pause=60))
    assert (found.short, found.seconds, found.extra_nodes) == (1, 3 * ON_NEW_NODE, 0)


def test_replicas_of_one_node_leave_together_or_in_turn() -> None:
    """Four replicas share a node of four accelerators."""
    on_one = replace(group(), accelerators=4)
    chat = workload(deployment(), replicas=(4, 4, 4))
    shorts = []
    for state in (chat, replace(chat, evicted_at_once=1)):
        before, after = (snapshot(state, nodes({"releaseVersion": value}), of=on_one) for value in "ab")
        found = effect(before, after)
        assert found
        shorts.append((found.short, found.waves, "update of the nodes fails" in found.warning))
    # In turn, the last one leaves after four starts, for which a drain does not wait.
    assert shorts == [(4, 1, False), (1, 4, True)]


def test_a_replica_of_several_nodes_ends_with_each_of_them() -> None:
    chat = replace(workload(groups(), accelerators=2), evicted_at_once=1)
    found = rolled(chat, DRIFT)
    assert (found.short, found.waves) == (1, 4)


def test_drift_launches_each_node_first() -> None:
    found = rolled(three(evicted_at_once=1), DRIFT)
    assert (found.short, found.seconds, found.extra_nodes) == (1, 3 * ON_NODE, 1)
    assert "nodes are replaced one after another (drift)" in found.because[0]


@pytest.mark.parametrize(
    ("type_token", "before", "after", "drifts"),
    [
        pytest.param(CLASS, {"spec": {"tags": {}}}, {"spec": {"tags": {"team": "x"}}}, True, id="tags"),
        pytest.param(
            CLASS,
            {"spec": {"subnetSelectorTerms": [{"id": "a"}]}},
            {"spec": {"subnetSelectorTerms": [{"id": "a"}, {"id": "b"}]}},
            False,
            id="a further subnet",
        ),
        pytest.param(
            CLASS,
            {"spec": {"subnetSelectorTerms": [{"id": "a"}, {"id": "b"}]}},
            {"spec": {"subnetSelectorTerms": [{"id": "b"}]}},
            True,
            id="a subnet less",
        ),
        pytest.param(
            CLASS,
            {"spec": {"securityGroupSelectorTerms": [{"id": "a"}]}},
            {"spec": {"securityGroupSelectorTerms": [{"id": "a"}, {"id": "b"}]}},
            True,
            id="a further security group",
        ),
        pytest.param(
            POOL,
            {"spec": {"template": {"spec": {"requirements": [{"key": "k", "operator": "In", "values": ["a"]}]}}}},
            {
                "spec": {
                    "template": {"spec": {"requirements": [{"key": "k", "operator": "In", "values": ["b", "a"]}]}}
                }
            },
            False,
            id="a further value",
        ),
        pytest.param(
            POOL,
            {
                "spec": {
                    "template": {"spec": {"requirements": [{"key": "k", "operator": "In", "values": ["a", "b"]}]}}
                }
            },
            {"spec": {"template": {"spec": {"requirements": [{"key": "k", "operator": "In", "values": ["b"]}]}}}},
            True,
            id="a value less",
        ),
        pytest.param(
            POOL, {"spec": {"limits": {"nodes": "4"}}}, {"spec": {"limits": {"nodes": "2"}}}, False, id="limits"
        ),
        pytest.param(
            POOL,
            {"spec": {"template": {"metadata": {"labels": {}}}}},
            {"spec": {"template": {"metadata": {"labels": {"team": "x"}}}}},
            True,
            id="labels",
        ),
    ],
)
def test_what_karpenter_calls_drift(
    type_token: str, before: dict[str, Any], after: dict[str, Any], *, drifts: bool
) -> None:
    old, new = (snapshot(three(), nodes(inputs, type_token), of=group(DRIFT)) for inputs in (before, after))
    compared = review(new, old)
    assert bool(compared.blasts) is drifts
    assert [change.note for change in compared.changes] == [
        "nodes are replaced one after another (drift)" if drifts else ""
    ]


def test_a_base_that_earlier_code_planned_says_nothing_of_resources() -> None:
    before = snapshot(three())
    after = snapshot(replace(three(), group="g6-b"), nodes({}, of="g6-b"), of=group(name="g6-b"))
    found = effect(before, after)
    assert found
    assert (found.short, found.because) == (3, ("node group g6 is deleted",))


def test_images_follow_the_version_of_the_cluster() -> None:
    """No resource of the group changes."""
    before = snapshot(three(), nodes({}, POOL), of=group(DRIFT))
    after = snapshot(three(), nodes({}, POOL), of=group(replace(DRIFT, version="1.36")))
    found = effect(before, after)
    assert found
    assert (found.replicas, found.disruption) == (3, Interruption.GAP)
    assert "1.35 -> 1.36" in found.because[0]
    fixed = replace(DRIFT, version="")
    assert effect(snapshot(three(), of=group(fixed)), snapshot(three(), of=group(fixed))) is None


def test_nodes_without_room_for_their_successors_stay() -> None:
    how = replace(DRIFT, at_once=0, blocked="the reservation has no free instance")
    before, after = (snapshot(three(), nodes({"spec": {"role": value}}, CLASS), of=group(how)) for value in "ab")
    compared = review(after, before)
    assert [(each.disruption, each.replicas) for each in compared.blasts] == [(Interruption.NONE, 0)]
    assert compared.changes[0].note == "nodes stay as they are: the reservation has no free instance"


SELECTOR = "spec.template.spec.nodeSelector"


def moving(selected: str, old: dict[str, Any], how: NodeReplacement = IMMEDIATE) -> Blast:
    """Return the effect of selecting a label, while the group without it is deleted."""
    before = snapshot(workload(old), nodes({}), of=group(how))
    body = changed(old, SELECTOR, {"pool": selected})
    after = snapshot(
        workload(body, group="g6-b"), nodes({}, of="g6-b", name="nodes-b"), of=group(replace(how, version=""), "g6-b")
    )
    found = effect(before, after)
    assert found
    return found


def test_pods_that_move_first_do_not_notice_the_deletion_of_their_nodes() -> None:
    found = moving("b", deployment(strategy=NEW_FIRST))
    assert (found.disruption, found.short, found.seconds) == (Interruption.SURGE, 0, 0)
    assert (found.extra_nodes, found.extra_accelerators) == (2, 2)


def test_pods_that_may_stay_on_their_nodes_restart_again_when_these_are_deleted() -> None:
    found = moving("a", deployment(strategy=NEW_FIRST))
    assert (found.disruption, found.short) == (Interruption.GAP, 2)


def test_nodes_are_not_deleted_later_for_a_rollout_that_nobody_waits_for() -> None:
    body = deployment(strategy=NEW_FIRST)
    body["metadata"]["annotations"] = {"pulumi.com/skipAwait": "true"}
    assert moving("b", body).short == 2


def test_nodes_that_drift_meanwhile_disturb_a_move() -> None:
    before = snapshot(workload(deployment(strategy=NEW_FIRST)), nodes({}, POOL), of=group(DRIFT))
    body = changed(deployment(strategy=NEW_FIRST), SELECTOR, {"pool": "b"})
    shorts = []
    for version in ("1.35", "1.36"):
        after = snapshot(
            workload(body, group="g6-b"),
            nodes({}, POOL, of="g6-b", name="nodes-b"),
            of=group(replace(DRIFT, version=version), "g6-b"),
        )
        found = effect(before, after)
        assert found
        shorts.append(bool(found.short))
    assert shorts == [False, True]


MOVABLE = replace(IMMEDIATE, move="generation: b")


def advised(chat: WorkloadState, how: NodeReplacement = MOVABLE, **further: Any) -> str:
    """Return the advice for deleting the nodes of a workload, while other nodes exist."""
    before = snapshot(chat, nodes({}), of=group(how))
    found = effect(before, snapshot(chat, nodes({}, name="nodes-y"), of=group(how), **further))
    assert found
    assert found.short
    return found.advice


def test_what_a_move_needs() -> None:
    minutes = -(-3 * (NODE + IMAGE + RUNNING) // 60)
    chat = workload(deployment(strategy=ONE_BY_ONE), replicas=(3, 3, 3))
    assert advised(chat) == (
        "without missing replicas: set generation: b and hardening.newReplicasFirst: true in the same change, so "
        "that the pods move by a rolling update before the old nodes go; it needs 3 more nodes (3 L4 of g6.2xlarge) "
        f"for about {minutes} min"
    )


def test_a_workload_that_starts_new_replicas_first_needs_no_setting_for_it() -> None:
    assert "newReplicasFirst" not in advised(workload(deployment(strategy=NEW_FIRST)))


def test_a_reservation_needs_free_instances_for_a_move() -> None:
    assert advised(three(), replace(MOVABLE, free=2)).endswith("3 free instances of the reservation, which has 2")
    assert "generation: b" in advised(three(), replace(MOVABLE, free=3))


NO_SETTING = "no setting avoids the missing replicas: "


@pytest.mark.parametrize(
    ("chat", "reason"),
    [
        (
            workload(stateful_set(), replicas=(1, 1, 1)),
            "a StatefulSet ends a pod before it starts its successor, and there is no other replica",
        ),
        (
            workload(changed(stateful_set(), "spec.updateStrategy", {"type": "OnDelete"})),
            "its pods stay on their nodes until somebody deletes them (updateStrategy OnDelete)",
        ),
        (
            workload(deployment(strategy={"type": "Recreate"})),
            "all its pods end before new ones start (strategy Recreate)",
        ),
        (replace(workload(deployment()), operated=True), "its operator decides when its pods move"),
    ],
)
def test_where_no_setting_helps_the_reason_is_stated(chat: WorkloadState, reason: str) -> None:
    assert advised(chat) == NO_SETTING + reason


def test_no_setting_moves_pods_of_existing_groups() -> None:
    assert advised(workload(deployment()), replace(MOVABLE, move="")) == (
        f"{NO_SETTING}pods of existing node groups cannot move first"
    )


def test_pods_of_a_stateful_set_move_one_after_the_other() -> None:
    assert advised(workload(stateful_set(), replicas=(2, 2, 2))).startswith(
        "with 1 of 2 replicas missing at a time: set generation: b in the same change"
    )
    found = moving("b", stateful_set())
    assert (found.replicas, found.short) == (2, 1), "as the advice says"


def awaited(body: dict[str, Any]) -> dict[str, Any]:
    return changed(body, "metadata.annotations", {"pulumi.com/waitFor": "condition=Available"})


def test_groups_of_pods_move_as_single_pods_do() -> None:
    advice = advised(workload(awaited(groups()), accelerators=2))
    assert advice.startswith("without missing replicas: set generation: b and hardening.newReplicasFirst: true")
    assert "waitForModels: true" in advised(workload(groups()))


def test_a_rollout_that_pulumi_does_not_wait_for_has_to_be_waited_for_first() -> None:
    body = deployment()
    body["metadata"]["annotations"] = {"pulumi.com/skipAwait": "true"}
    assert "waitForModels: true" in advised(workload(body))


@pytest.mark.parametrize(("mode", "offered"), [("ReadWriteOnce", False), ("ReadWriteMany", True)])
def test_a_claim_for_one_node_cannot_move_first(mode: str, *, offered: bool) -> None:
    volumes = [{"name": "w", "persistentVolumeClaim": {"claimName": "weights"}}]
    chat = workload(changed(deployment(), "spec.template.spec.volumes", volumes))
    claim = resource(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "weights", "namespace": "ml"},
            "spec": {"accessModes": [mode]},
        }
    )
    before = snapshot(chat, nodes({}), claim, of=group(MOVABLE))
    found = effect(before, snapshot(chat, nodes({}, name="nodes-y"), claim, of=group(MOVABLE)))
    assert found
    assert found.advice.startswith("without missing replicas") is offered
    assert (
        found.advice == f"{NO_SETTING}one node at a time can mount PersistentVolumeClaim ml/weights"
    ) is not offered
