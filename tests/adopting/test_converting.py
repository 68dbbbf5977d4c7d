"""Plain workloads in the kinds of a family: only without a restart, otherwise with what would change."""

import copy
from typing import Any

import pytest

from components.families import objects
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from tests.adopting.support import deployment, leader_worker_set, stateful_set
from workbench.adopting.converting import conversion_of
from workbench.adopting.decisions import Becomes, decide
from workbench.adopting.settings import fleet_values
from workbench.inspecting.snapshot import ClusterSnapshot

Object = dict[str, Any]


def rendered_group() -> Object:
    """A LeaderWorkerSet as this project renders a ModelServing, such as after `pulumi state delete`."""
    serving = conversion_of(leader_worker_set("group", "models"), "kthena").documents
    ((_, workload),) = render_fleet(objects(serving).resources, Options()).workloads
    return copy.deepcopy(workload.body)


def test_a_workload_with_the_same_pods_becomes_a_typed_resource() -> None:
    body = rendered_group()
    snapshot = ClusterSnapshot((body,))
    values = fleet_values([body], ["leader-worker-set", "nvidia-device-plugin"])
    adoption = decide(snapshot, values, family="kthena")
    (decision,) = adoption.decisions
    assert (decision.becomes, decision.differences, decision.restarts) == (Becomes.TYPED, (), 0)
    assert decision.manifest is not None
    assert decision.manifest["kind"] == "ModelServing"
    assert [wanted[1:] for wanted in adoption.unknown if wanted[1] == "LeaderWorkerSet"] == []


@pytest.mark.parametrize(
    ("body", "family", "difference"),
    [
        (deployment("chat", "models"), "kthena", "Deployment chat would be replaced by LeaderWorkerSet chat"),
        (stateful_set("chat", "models"), "kthena", "kthena has no kind for a StatefulSet"),
        (stateful_set("chat", "models"), "llmkube", "llmkube has no kind for a StatefulSet"),
        (
            leader_worker_set("group", "models"),
            "kthena",
            "spec.leaderWorkerTemplate.leaderTemplate.metadata.labels.modelserving.volcano.sh/name: "
            'null becomes "group"',
        ),
    ],
)
def test_a_conversion_that_restarts_pods_says_what_changes(body: Object, family: str, difference: str) -> None:
    assert difference in conversion_of(body, family).differences


def test_a_family_that_adopts_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot convert to 'llmaz'"):
        conversion_of(deployment("chat", "models"), "llmaz")


@pytest.mark.parametrize(
    ("body", "becomes", "restarts"),
    [
        (deployment("chat", "models", 3), Becomes.VERBATIM, 3),
        (leader_worker_set("group", "models"), Becomes.TYPED, 2),
    ],
)
def test_a_workload_stays_what_it_is_and_the_report_has_the_restarts(
    body: Object, becomes: Becomes, restarts: int
) -> None:
    snapshot = ClusterSnapshot((body,))
    values = fleet_values([body], ["leader-worker-set", "nvidia-device-plugin"])
    (decision,) = decide(snapshot, values, family="kthena").decisions
    assert (decision.becomes, decision.restarts) == (becomes, restarts)
    assert decision.reason == "kthena would render it otherwise"
    assert decision.manifest is not None
    assert decision.manifest["kind"] == body["kind"]
    assert decision.differences
