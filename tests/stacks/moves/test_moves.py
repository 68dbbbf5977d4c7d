"""What edits of a stack do to pods whose nodes change: previews of the real program, without a cloud account."""

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from components.fleet.cloud_providers import rolling_fields
from components.plan.review.compare import review
from components.plan.review.review import Interruption, Review
from components.plan.review.snapshot import Snapshot
from workbench.planning.snapshot import take
from workbench.planning.wording.sentences import verdict

ROOT = Path(__file__).parents[3]
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen2-7b}
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2-7B-Instruct}}
  inferenceConfig:
    flavors:
      - {name: a10g, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g5.2xlarge}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {replicas: 2, modelClaim: {modelName: qwen2-7b}, backendRuntimeConfig: {args: [--max-model-len, "16384"]}}
"""
ODCR = {"capacity": "odcr", "reservation": {"id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 3}}
FULL = {**ODCR, "reservation": {**ODCR["reservation"], "count": 2}}  # type: ignore[dict-item]
"""Reservations with an instance more than the model needs, and with none."""


def settings(
    gpu_nodes: dict[str, Any] | None = None,
    type_settings: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    **further: Any,
) -> str:
    """Return a stack file; in JSON, which is YAML."""
    zones = ["us-east-1a", "us-east-1b"]
    nodes = {"zones": ["us-east-1a"], "types": {"g5.2xlarge": type_settings or {"maxNodes": 4}}, **(gpu_nodes or {})}
    values = {
        "cloud": "aws",
        "region": "us-east-1",
        "clusterName": "edits",
        "models": ["em"],
        "network": {"zones": zones, "natGateways": "one"},
        "cluster": {"version": "1.35", "zones": zones, "publicAccessCidrs": ["203.0.113.0/24"], **(cluster or {})},
        "gpuNodes": nodes,
        "prerequisites": {"install": True},
        **further,
    }
    config = {f"inference-platform:{name}": value for name, value in values.items()}
    return json.dumps({"config": {"pulumi:disable-default-providers": ["kubernetes", "aws"], **config}})


@functools.cache
def snapshot(stack: str) -> Snapshot:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "em").mkdir()
        (project / "em" / "chat.yaml").write_text(MODEL, encoding="utf-8")
        (project / "Pulumi.e.yaml").write_text(stack, encoding="utf-8")
        for name in ("Pulumi.yaml", "__main__.py"):
            (project / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
        found = take(project, "e")
    assert not found.is_refused, (found.failed, found.findings)
    return found


def edited(before: str, after: str) -> Review:
    return review(snapshot(after), snapshot(before))


MANAGED, KARPENTER = settings(), settings({"provisioner": "karpenter"})


@pytest.mark.parametrize("stack", [MANAGED, KARPENTER, settings({"provisioner": "karpenter", "scaleToZero": False})])
def test_every_resource_that_nodes_come_from_belongs_to_a_group(stack: str) -> None:
    found = snapshot(stack)
    creating = {
        resource.urn
        for resource in found.resources
        # The nodes of the system are a group of their own.
        if rolling_fields(resource.type) and not resource.name.startswith("cluster-")
    }
    belonging = {resource.urn: set(resource.nodes_of) for resource in found.resources if resource.nodes_of}
    assert set(belonging) == creating
    assert set().union(*belonging.values()) == {group.name for group in found.groups}


ALL_AT_ONCE = [
    pytest.param(MANAGED, settings(type_settings=ODCR), id="from on demand to a reservation"),
    pytest.param(MANAGED, settings({"capacity": "spot"}), id="from on demand to spot"),
    pytest.param(MANAGED, KARPENTER, id="from managed node groups to Karpenter"),
    pytest.param(KARPENTER, MANAGED, id="from Karpenter to managed node groups"),
    pytest.param(KARPENTER, settings({"provisioner": "karpenter"}, ODCR), id="to a reservation, with Karpenter"),
    pytest.param(MANAGED, settings({"zones": ["us-east-1b"]}), id="to another zone"),
    pytest.param(MANAGED, settings({"image": "bottlerocket"}), id="to another family of images"),
    pytest.param(
        MANAGED, settings(type_settings={"existingGroups": ["theirs"]}), id="from created groups to existing ones"
    ),
]


@pytest.mark.parametrize(("before", "after"), ALL_AT_ONCE)
def test_pods_restart_when_their_nodes_are_deleted(before: str, after: str) -> None:
    found = edited(before, after)
    (blast,) = found.blasts
    assert (blast.disruption, blast.replicas, blast.short) == (Interruption.GAP, 2, 2)
    assert "; 2 replicas restart;" in verdict(found)


ONE_AFTER_ANOTHER = [
    pytest.param({}, {"types": {"g5.2xlarge": {"maxNodes": 4, "placementGroup": True}}}, id="placement group"),
    pytest.param({}, {"amiRelease": "1.35.6-20260901"}, id="release"),
    pytest.param({}, {"diskThroughput": 300}, id="disk"),
    pytest.param({}, {"labels": {"team": "nlp"}}, id="labels"),
    pytest.param({}, {"zones": ["us-east-1b"]}, id="another zone"),
]


@pytest.mark.parametrize(("before", "after"), ONE_AFTER_ANOTHER)
def test_karpenter_replaces_nodes_that_differ(before: dict[str, Any], after: dict[str, Any]) -> None:
    found = edited(KARPENTER, settings({"provisioner": "karpenter", **before, **after}))
    (blast,) = found.blasts
    assert (blast.disruption, blast.replicas) == (Interruption.GAP, 2)
    assert "nodes are replaced one after another (drift)" in blast.because[0]
    assert (blast.extra_nodes, blast.extra_accelerators) == (1, 1)


@pytest.mark.parametrize(
    "edit",
    [{"tags": {"team": "x"}}, {"cluster": {"version": "1.36"}}],
    ids=["tags of the stack", "cluster's version"],
)
def test_karpenter_replaces_nodes_for_settings_of_others(edit: dict[str, Any]) -> None:
    found = edited(KARPENTER, settings({"provisioner": "karpenter"}, **edit))
    (blast,) = found.blasts
    assert (blast.disruption, blast.replicas) == (Interruption.GAP, 2)
    assert "(drift)" in blast.because[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(MANAGED, settings({"labels": {"team": "nlp"}}), id="labels of managed nodes"),
        pytest.param(MANAGED, settings({"nodeRepair": True}), id="node repair"),
        pytest.param(MANAGED, settings(type_settings={"maxNodes": 3}), id="bounds"),
        pytest.param(
            KARPENTER,
            settings({"provisioner": "karpenter", "zones": ["us-east-1a", "us-east-1b"]}),
            id="a further zone, with Karpenter",
        ),
        pytest.param(
            settings({"provisioner": "karpenter"}, FULL),
            settings({"provisioner": "karpenter", "amiRelease": "1.35.6-20260901"}, FULL),
            id="a release on a reservation without a free instance",
        ),
        pytest.param(
            settings({"provisioner": "karpenter"}, FULL),
            settings({"provisioner": "karpenter", "scaleToZero": False}, FULL),
            id="a static pool",
        ),
    ],
)
def test_nodes_that_stay_restart_nothing(before: str, after: str) -> None:
    found = edited(before, after)
    assert [blast for blast in found.blasts if blast.disruption is not Interruption.NONE] == []
    assert "restart" not in verdict(found)


def test_a_new_version_rolls_managed_nodes() -> None:
    found = edited(MANAGED, settings(cluster={"version": "1.36"}))
    (blast,) = found.blasts
    # One zone: two nodes are added. The second drain begins a minute after the first.
    assert (blast.replicas, blast.short, blast.extra_nodes) == (2, 2, 2)
    careful = {"hardening": {"disruptionBudgets": True}}
    found = edited(settings(**careful), settings(cluster={"version": "1.36"}, **careful))
    (blast,) = found.blasts
    assert (blast.replicas, blast.short) == (2, 1)


def test_pods_that_may_still_run_on_demand_restart_twice() -> None:
    """Additional spot types change the affinity; the old nodes still match it until they are deleted."""
    spot = settings({"capacity": "spot"}, {"maxNodes": 4, "spotTypes": ["g5.4xlarge", "g5.8xlarge"]})
    (blast,) = edited(MANAGED, spot).blasts
    assert (blast.replicas, blast.short) == (2, 2)
    assert len(blast.because) > 1


FIRST = {"hardening": {"newReplicasFirst": True}}
KARPENTER_NODES = {"provisioner": "karpenter"}


def moved(gpu_nodes: dict[str, Any], type_settings: dict[str, Any], **further: Any) -> str:
    """Return a stack file with the edit, and what the advice of its plan adds."""
    return settings(gpu_nodes, {**type_settings, "generation": "b"}, **{**FIRST, **further})


MOVES = [
    pytest.param(MANAGED, {}, ODCR, id="from on demand to a reservation"),
    pytest.param(MANAGED, {"capacity": "spot"}, {"maxNodes": 4}, id="from on demand to spot"),
    pytest.param(MANAGED, {"capacity": "spot"}, {"maxNodes": 4, "spotTypes": ["g5.4xlarge"]}, id="to several types"),
    pytest.param(MANAGED, KARPENTER_NODES, {"maxNodes": 4}, id="from managed node groups to Karpenter"),
    pytest.param(KARPENTER, {}, {"maxNodes": 4}, id="from Karpenter to managed node groups"),
    pytest.param(KARPENTER, KARPENTER_NODES, ODCR, id="to a reservation, with Karpenter"),
    pytest.param(MANAGED, {"zones": ["us-east-1b"]}, {"maxNodes": 4}, id="to another zone"),
    pytest.param(MANAGED, {"image": "bottlerocket"}, {"maxNodes": 4}, id="to another family of images"),
    pytest.param(MANAGED, {"amiRelease": "1.35.6-20260901"}, {"maxNodes": 4}, id="to another release"),
    pytest.param(
        KARPENTER, {**KARPENTER_NODES, "amiRelease": "1.35.6-20260901"}, {"maxNodes": 4}, id="release, with Karpenter"
    ),
    pytest.param(MANAGED, {}, {"maxNodes": 2}, id="with no more nodes than replicas"),
]


@pytest.mark.parametrize(("before", "gpu_nodes", "type_settings"), MOVES)
def test_the_advice_leaves_no_replica_missing(
    before: str, gpu_nodes: dict[str, Any], type_settings: dict[str, Any]
) -> None:
    """The plan of the edit states the way; the plan of that way has the nodes, the time and the price as stated."""
    if type_settings != {"maxNodes": 2}:
        (advised,) = edited(before, settings(gpu_nodes, type_settings)).blasts
        assert "set gpuNodes.types.g5.2xlarge.generation: b and hardening.newReplicasFirst: true" in advised.advice
        assert "it needs 2 more nodes (2 A10G of g5.2xlarge) for about 26 min" in advised.advice
    (blast,) = edited(before, moved(gpu_nodes, type_settings)).blasts
    assert (blast.disruption, blast.replicas, blast.short, blast.seconds) == (Interruption.SURGE, 2, 0, 0)
    assert (blast.pending, blast.extra_nodes, blast.extra_accelerators) == (0, 2, 2)
    assert blast.extra_node_seconds == 2 * 2 * (417 + 160 + 88 + 28 + 11 + 85 + 5)


def test_the_advice_for_a_new_version_with_karpenter_has_two_steps() -> None:
    """Karpenter would replace nodes while their pods move, which budgets prevent that were set before."""
    upgrade = {"cluster": {"version": "1.36"}}
    (advised,) = edited(KARPENTER, settings(KARPENTER_NODES, **upgrade)).blasts
    assert 'first set gpuNodes.disruption.budgets: [{nodes: "0", reasons: [Drifted]}, {nodes: "1"}]' in advised.advice
    held = {**KARPENTER_NODES, "disruption": {"budgets": [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "1"}]}}
    assert edited(KARPENTER, settings(held)).blasts == ()
    (blast,) = edited(settings(held), moved(held, {"maxNodes": 4}, **upgrade)).blasts
    assert (blast.disruption, blast.short) == (Interruption.SURGE, 0)
    (disturbed,) = edited(KARPENTER, moved(KARPENTER_NODES, {"maxNodes": 4}, **upgrade)).blasts
    assert disturbed.short > 0
    done = edited(moved(held, {"maxNodes": 4}, **upgrade), moved(KARPENTER_NODES, {"maxNodes": 4}, **upgrade))
    assert done.blasts == ()


def test_new_replicas_first_is_a_setting_that_restarts_nothing() -> None:
    found = edited(MANAGED, settings(**FIRST))
    assert [blast for blast in found.blasts if blast.disruption is not Interruption.NONE] == []


def test_a_full_reservation_has_no_room_for_a_move() -> None:
    (blast,) = edited(settings(type_settings=FULL), settings({"amiRelease": "1.35.6-20260901"}, FULL)).blasts
    assert blast.advice.endswith("needs 2 free instances of the reservation, which has 0")


def test_existing_groups_have_no_generation_to_set() -> None:
    (blast,) = edited(MANAGED, settings(type_settings={"existingGroups": ["theirs"]})).blasts
    assert blast.advice == "no setting avoids the missing replicas: pods of existing node groups cannot move first"
