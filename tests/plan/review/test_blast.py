"""What a change does to replicas that run. The seconds are worked out by hand from the figures that are named."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from components.plan.costs.bill import NOTHING, Bill, CostItem, CostKind, UnitPrice
from components.plan.review.compare import review
from components.plan.review.review import Blast, Interruption
from components.plan.review.snapshot import Snapshot, WorkloadState
from tests.plan.review.revisions import (
    GIB,
    changed,
    deployment,
    groups,
    node_group,
    resource,
    revision,
    workload,
)
from workbench.planning.wording.resources import blast_lines

ARGS = "spec.template.spec.containers.0.args"
IMAGE = "spec.template.spec.containers.0.image"
RUNNING = 32 + 101 + 39 + 106
"""Seconds from the start of a container until the server answers, with 51.75 GiB of weights on one device and a model
of unknown layers: libraries, download, loading, engine (docs/cold-starts.md)."""
FIRST = 160 + 88 - 32
"""Further seconds of an image that the node does not have: pulling it, and reading libraries for the first time."""
NODE = 417
GRACE = 30
SIZE = round(51.75 * GIB)
STAY = "replicas stay until the autoscaler lowers them, at least 1"
ONE_BY_ONE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
NEW_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def about(seconds: int) -> str:
    """Estimates are in whole minutes from two of them on."""
    return f"about {math.floor(seconds / 60 + 0.5)} min"


def blasts(before: Snapshot, after: Snapshot) -> list[Blast]:
    return list(review(after, before).blasts)


def one(before: Snapshot, after: Snapshot) -> Blast:
    (found,) = blasts(before, after)
    return found


def updated(body: dict[str, Any], path: str = ARGS, value: object = None, **facts: Any) -> Blast:
    """Return what becomes of a workload of which a field changes."""
    new = ["--model", "other", "--port", "80"] if value is None else value
    before, after = workload(body, **facts), workload(changed(body, path, new), **facts)
    return one(revision(before, weights=SIZE), revision(after, weights=SIZE))


def test_a_workload_that_stays_is_not_told_of() -> None:
    chat = revision(workload(deployment()))
    assert blasts(chat, chat) == []


def test_old_replicas_go_first() -> None:
    found = updated(deployment(strategy=ONE_BY_ONE))
    assert (found.disruption, found.replicas, found.short, found.waves) == (Interruption.GAP, 2, 1, 2)
    assert found.seconds == 2 * (RUNNING + GRACE)
    assert found.extra_accelerators == 0
    assert found.because == ("spec.template.spec.containers[main].args[1]",)
    assert found.estimate.startswith(f"estimate: short for {about(2 * (RUNNING + GRACE))} (")
    assert "docs/cold-starts.md" in found.estimate


def test_new_replicas_come_first() -> None:
    found = updated(deployment(strategy=NEW_FIRST), accelerators=1)
    assert (found.disruption, found.replicas, found.short, found.waves) == (Interruption.SURGE, 2, 0, 2)
    assert found.extra_accelerators == 1
    assert found.seconds == 0


def test_the_first_one_on_top_waits_for_a_node_where_those_at_rest_are_taken() -> None:
    found = updated(deployment(strategy=NEW_FIRST), replicas=(2, 2, 2))
    assert about((NODE + FIRST + RUNNING) + RUNNING) in found.estimate


def test_on_other_nodes_each_waits_for_its_own() -> None:
    body = deployment(strategy=ONE_BY_ONE)
    before = revision(workload(body, group="g5"), groups=(node_group("g5"),), weights=SIZE)
    after = revision(workload(changed(body, ARGS, ["x"])), weights=SIZE)
    assert one(before, after).seconds == 2 * (NODE + FIRST + RUNNING + GRACE)


@pytest.mark.parametrize(("nodes", "further"), [(2, 0), (1, NODE)])
def test_new_replicas_wait_for_nodes_that_are_not_there_yet(nodes: int, further: int) -> None:
    before = revision(weights=SIZE, groups=(node_group(nodes=nodes),))
    found = one(before, revision(workload(deployment()), weights=SIZE))
    assert about(FIRST + RUNNING + further) in found.estimate


def test_on_nodes_with_room_nobody_waits_for_one() -> None:
    body = deployment(strategy=NEW_FIRST)
    before, after = (
        revision(workload(each, replicas=(1, 1, 1)), weights=SIZE, groups=(node_group(nodes=2),))
        for each in (body, changed(body, ARGS, ["x"]))
    )
    assert about(RUNNING) in one(before, after).estimate


def test_another_image_is_pulled_on_every_node() -> None:
    assert updated(deployment(strategy=ONE_BY_ONE), IMAGE, "other:v2").seconds == 2 * (FIRST + RUNNING + GRACE)


def test_recreate_ends_all_at_once() -> None:
    found = updated(deployment(strategy={"type": "Recreate"}))
    assert (found.disruption, found.replicas, found.short) == (Interruption.GAP, 2, 2)
    assert found.seconds == RUNNING + GRACE


def test_groups_restart_whole() -> None:
    path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers.0.image"
    found = updated(groups(), path, "other:v2", replicas=(3, 3, 3), accelerators=8)
    assert (found.disruption, found.replicas, found.short, found.waves) == (Interruption.GAP, 3, 1, 3)


def test_the_size_of_groups_is_part_of_their_template() -> None:
    assert updated(groups(), "spec.leaderWorkerTemplate.size", 4).disruption is Interruption.GAP


@pytest.mark.parametrize(
    ("before", "after", "restarts"),
    [
        ({"subdomainPolicy": "Shared"}, "UniquePerReplica", True),
        (None, "Shared", False),
        (None, "UniquePerReplica", True),
    ],
)
def test_the_subdomains_of_groups_are_part_of_their_revision(
    before: dict[str, str] | None, after: str, restarts: bool
) -> None:
    """Shared is the default of the webhook (kubernetes-sigs/lws v0.9.0, pkg/webhooks/leaderworkerset_webhook.go)."""
    body = groups()
    body["spec"] |= {"networkConfig": before} if before else {}
    head = changed(body, "spec.networkConfig", {"subdomainPolicy": after})
    found = blasts(revision(workload(body)), revision(workload(head)))
    assert [each.disruption for each in found] == [Interruption.GAP] * restarts


def test_groups_of_a_surge_remain_with_a_partition() -> None:
    path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers.0.image"
    body = groups(maxUnavailable=1, maxSurge=1, partition=2)
    found = updated(body, path, "other:v2", replicas=(4, 4, 4), group="unlimited")
    assert (found.replicas, found.waves) == (2, 3)
    assert found.warning == "1 group of the surge (1 accelerator) remains until the partition is 0"


def test_a_partition_keeps_groups_as_they_are() -> None:
    path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers.0.image"
    found = updated(groups(partition=2), path, "other:v2", replicas=(2, 2, 2))
    assert (found.disruption, found.replicas) == (Interruption.NONE, 0)
    assert "partition" in found.because[-1]


def test_how_updates_happen_restarts_nothing() -> None:
    found = updated(deployment(strategy=ONE_BY_ONE), "spec.strategy.rollingUpdate.maxSurge", 1)
    assert (found.disruption, found.replicas) == (Interruption.NONE, 0)


@pytest.mark.parametrize(
    ("before", "after", "replicas", "because", "extra"),
    [
        ((1, 1, 1), (3, 3, 3), 2, ["replicas 1 -> 3"], "4"),
        ((3, 3, 3), (1, 1, 1), 2, ["replicas 3 -> 1"], "-"),
        ((1, 1, 2), (1, 1, 4), 0, ["at most 2 -> 4 replicas"], "4 at most"),
        ((1, 1, 4), (1, 1, 2), 0, ["at most 4 -> 2 replicas: replicas above 2 are removed"], "-"),
        ((1, 1, 4), (2, 2, 4), 1, ["replicas 1 -> 2"], "2"),
        ((1, 1, 1), (1, 1, 3), 0, ["at most 1 -> 3 replicas"], "4 at most"),
        ((0, 0, 0), (1, 1, 1), 1, ["replicas 0 -> 1"], "2"),
        ((1, 1, 2), (2, 2, 5), 1, ["replicas 1 -> 2", "at most 2 -> 5 replicas"], "2, 6 at most"),
        ((3, 3, 3), (1, 1, 6), 0, [STAY, "at most 3 -> 6 replicas"], "6 at most"),
        ((2, 2, 4), (1, 1, 4), 0, [STAY], "-"),
        ((5, 5, 5), (1, 1, 3), 2, [STAY, "at most 5 -> 3 replicas: replicas above 3 are removed"], "-"),
    ],
)
def test_other_bounds_scale(
    before: tuple[int, int, int], after: tuple[int, int, int], replicas: int, because: list[str], extra: str
) -> None:
    """A replica has two accelerators."""
    room = (node_group(most=99),)
    old, new = (revision(workload(deployment(), each, accelerators=2), groups=room) for each in (before, after))
    compared = review(new, old)
    (found,) = compared.blasts
    (line,) = blast_lines(compared)
    assert line.extra == extra
    assert (found.disruption, found.replicas, found.short) == (Interruption.SCALE, replicas, 0)
    assert list(found.because) == because


def test_another_template_and_a_new_autoscaler() -> None:
    """All replicas restart: the autoscaler lowers their number later."""
    before, after = workload(deployment(strategy=ONE_BY_ONE), (3, 3, 3)), workload(
        changed(deployment(strategy=ONE_BY_ONE), ARGS, ["x"]), (1, 1, 6)
    )  # fmt: skip
    found = one(revision(before, weights=SIZE), revision(after, weights=SIZE))
    assert (found.replicas, found.short, found.waves) == (3, 1, 3)
    assert STAY in found.because


def test_another_template_and_another_number() -> None:
    before, after = workload(deployment(strategy=ONE_BY_ONE), (2, 2, 2)), workload(
        changed(deployment(strategy=ONE_BY_ONE), ARGS, ["x"]), (3, 3, 3)
    )  # fmt: skip
    found = one(revision(before), revision(after))
    # The third replica starts first, so that no fewer than two serve.
    assert (found.disruption, found.replicas) == (Interruption.SURGE, 2)
    assert found.because[-1] == "replicas 2 -> 3"
    assert found.extra_accelerators == 1


def test_what_does_not_run_does_not_restart() -> None:
    body = deployment()
    before, after = workload(body, (0, 0, 0)), workload(changed(body, ARGS, ["x"]), (0, 0, 0))
    assert one(revision(before), revision(after)).disruption is Interruption.NONE


def test_what_no_update_can_change_ends_all_replicas_before_new_ones_come() -> None:
    body = deployment(selector={"matchLabels": {"app": "a"}})
    found = updated(body, "spec.selector.matchLabels.app", "b", replicas=(3, 3, 3))
    assert (found.disruption, found.replicas, found.short) == (Interruption.GAP, 3, 3)
    assert found.because[0] == "spec.selector.matchLabels.app"


def test_new_and_removed() -> None:
    chat, other = workload(deployment()), workload(deployment("other"), served="Playground/other")
    found = blasts(revision(chat), revision(other, models=()))
    assert [(each.title, each.disruption, each.replicas) for each in found] == [
        ("Deployment ml/chat", Interruption.REMOVED, 2),
        ("Deployment ml/other", Interruption.NEW, 2),
    ]


@pytest.mark.parametrize(("most", "warned"), [(7, True), (8, False)])
def test_a_model_that_moves_is_there_twice_for_a_while(most: int, *, warned: bool) -> None:
    old = workload(deployment(), accelerators=2)
    new = workload(groups("moved"), served="ModelServing/chat", accelerators=2)
    after = revision(new, groups=(node_group(most=most),))
    after = replace(after, models=(replace(after.models[0], title="ModelServing/chat"),))
    removed, added = blasts(revision(old), after)
    assert removed.because == ("LeaderWorkerSet ml/moved replaces it; it is deleted last",)
    assert added.because == ("replaces Deployment ml/chat",)
    assert added.extra_accelerators == 4
    assert ("stays Pending" in added.warning) is warned
    assert (added.pending, added.short) == ((1, 1) if warned else (0, 0))


def mounting(claim: str) -> WorkloadState:
    body = changed(
        deployment(), "spec.template.spec.volumes", [{"name": "w", "persistentVolumeClaim": {"claimName": claim}}]
    )
    return workload(body)


def claim(storage_class: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "weights", "namespace": "ml"},
        "spec": {"storageClassName": storage_class, "resources": {"requests": {"storage": "1Gi"}}},
    }


def with_claim(state: WorkloadState, storage_class: str) -> Snapshot:
    return revision(state, resources=(resource(state.body), resource(claim(storage_class))))


def test_a_claim_that_is_replaced_takes_its_pods_with_it() -> None:
    found = one(with_claim(mounting("weights"), "gp2"), with_claim(mounting("weights"), "gp3"))
    assert (found.disruption, found.replicas, found.short) == (Interruption.GAP, 2, 2)
    assert found.because == ("PersistentVolumeClaim ml/weights is replaced",)


def test_the_claim_of_somebody_else_does_not() -> None:
    assert blasts(with_claim(mounting("other"), "gp2"), with_claim(mounting("other"), "gp3")) == []


@pytest.mark.parametrize(
    ("most", "made_by", "warned"),
    [(2, "cloud", True), (3, "cloud", False), (2, "simulated", False), (2, "", False)],
)
def test_no_room_for_what_comes_on_top(most: int, made_by: str, *, warned: bool) -> None:
    body = deployment(strategy=NEW_FIRST)
    before, after = (
        revision(workload(each), groups=(node_group(nodes=2, most=most, made_by=made_by),))
        for each in (body, changed(body, ARGS, ["x"]))
    )
    found = one(before, after)
    assert ("stays Pending" in found.warning) is warned
    assert (found.pending, found.short) == (int(warned), 0)


def test_without_the_size_of_the_weights_there_is_no_estimate() -> None:
    body = deployment(strategy=ONE_BY_ONE)
    found = one(revision(workload(body)), revision(workload(changed(body, ARGS, ["x"]))))
    assert found.seconds is None
    assert found.estimate == "no estimate: the size of the weights is unknown"


def priced(before: Snapshot, after: Snapshot) -> Blast:
    """Compare revisions on nodes that cost a dollar an hour."""
    price = UnitPrice(Decimal(1), Decimal(1), Decimal(1), "by hand")
    item = CostItem("node group g6", CostKind.NODES, NOTHING, price)
    return one(before, replace(after, bill=Bill("us-east-1", "", (item,))))


def test_what_the_nodes_of_a_surge_cost_while_it_rolls() -> None:
    body = deployment(strategy=NEW_FIRST)
    before = revision(workload(body), weights=SIZE, groups=(node_group(nodes=2),))
    after = revision(workload(changed(body, ARGS, ["--new"])), weights=SIZE, groups=(node_group(nodes=2),))
    found = priced(before, after)
    seconds = (NODE + FIRST + RUNNING) + RUNNING
    assert (found.extra_nodes, found.extra_node_seconds) == (1, seconds)
    assert found.extra_usd == round(Decimal(seconds) / 3600, 4)
    (line,) = blast_lines(review(replace(after, bill=Bill("us-east-1", "")), before))
    assert line.notes[-1] == f"while it rolls: 1 more node for {about(seconds)}"


def test_a_surge_on_nodes_that_exist_costs_nothing() -> None:
    body = deployment(strategy=NEW_FIRST)
    before = revision(workload(body), weights=SIZE, groups=(node_group(nodes=3),))
    after = revision(workload(changed(body, ARGS, ["--new"])), weights=SIZE, groups=(node_group(nodes=3),))
    found = priced(before, after)
    assert (found.extra_nodes, found.extra_node_seconds, found.extra_usd) == (0, 0, Decimal(0))
