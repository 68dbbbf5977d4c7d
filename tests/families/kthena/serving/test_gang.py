"""Gangs: PodGroups for Volcano, and what pods say of theirs (Kthena spec 3.3)."""

from typing import Any

import pytest

from tests.families.kthena.serving.support import Object, engine, group_of, made, model_serving, pods, role, served
from tests.fleets import fleet_of, warnings

ALL: Object = {"gangPolicy": {}}
TOPOLOGY: Object = {"networkTopology": {"mode": "soft", "highestTierAllowed": 2}}
GOLDEN = (role("p", 1, replicas=2), role("d", 3, replicas=3))


def gang(*roles: Object, replicas: int = 1, **template: Any) -> dict[tuple[str, str], Object]:
    return made(model_serving("ms", *roles, template=template, replicas=replicas))


def test_upstreams_golden_numbers() -> None:
    """p{replicas 2, W 1}, d{replicas 3, W 3}, minRoleReplicas {d: 2} (Kthena spec 3.3)."""
    spec = gang(*GOLDEN, gangPolicy={"minRoleReplicas": {"d": 2}})["PodGroup", "ms-0"]["spec"]
    assert spec["minMember"] == 12
    assert spec["minTaskMember"] == {"p-0": 2, "p-1": 2, "d-0": 4, "d-1": 4}


def test_each_group_has_one() -> None:
    found = gang(*GOLDEN, replicas=2, **ALL)
    assert [name for kind, name in found if kind == "PodGroup"] == ["ms-0", "ms-1"]
    metadata = found["PodGroup", "ms-1"]["metadata"]
    assert metadata["annotations"] == {"scheduling.k8s.io/group-name": "ms-1"}
    assert metadata["labels"] == {
        "modelserving.volcano.sh/name": "ms",
        "modelserving.volcano.sh/group-name": "ms-1",
    }
    assert found["PodGroup", "ms-1"]["apiVersion"] == "scheduling.volcano.sh/v1beta1"


def test_resources_are_the_requests_of_containers() -> None:
    """A limit alone is requested too; init containers do not count; those of workers do, for each worker."""
    entry = pods(
        engine(resources={"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": 9, "nvidia.com/gpu": 2}}),
        {"name": "b", "image": "b", "resources": {"requests": {"cpu": 1}}},
        initContainers=[{"name": "i", "image": "i", "resources": {"requests": {"cpu": 50}}}],
    )
    worker = pods(engine(resources={"requests": {"cpu": 2}}))
    roles = role("a", 2, replicas=3, entryTemplate=entry, workerTemplate=worker)
    spec = gang(roles, gangPolicy={"minRoleReplicas": {"a": 2}})["PodGroup", "ms-0"]["spec"]
    assert spec["minResources"] == {"cpu": "11", "memory": str(2 * 2**30), "nvidia.com/gpu": "4"}


@pytest.mark.parametrize("part", ["leaderTemplate", "workerTemplate"])
def test_every_pod_names_gang_task_and_scheduler(part: str) -> None:
    template = group_of(gang(*GOLDEN, **ALL)["LeaderWorkerSet", "ms-0-d-2"])[part]
    assert template["metadata"]["annotations"] == {
        "scheduling.k8s.io/group-name": "ms-0",
        "volcano.sh/task-spec": "d-2",
    }
    assert template["spec"]["schedulerName"] == "volcano"


def test_a_topology_alone_is_a_gang_of_all_instances() -> None:
    """Upstream's controller crashes on it (D-11)."""
    spec = gang(*GOLDEN, **TOPOLOGY)["PodGroup", "ms-0"]["spec"]
    assert spec["minMember"] == 2 * 2 + 3 * 4
    assert spec["networkTopology"] == {"mode": "soft", "highestTierAllowed": 2}


def test_a_topology_has_the_defaults_of_the_definition() -> None:
    spec = gang(*GOLDEN, networkTopology={})["PodGroup", "ms-0"]["spec"]
    assert spec["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}


@pytest.mark.parametrize(
    ("roles", "template", "one"),
    [
        ((role("a"),), {}, True),
        ((role("a", 3),), {}, True),
        ((role("a"),), ALL, True),
        ((role("a"),), TOPOLOGY, True),
        ((role("a", 1),), ALL, False),
        ((role("a", 1),), TOPOLOGY, False),
        ((role("a", 1),), {"gangPolicy": {"minRoleReplicas": {"a": 0}}}, True),
        ((role("a", 1),), {"gangPolicy": {"minRoleReplicas": {"a": 1}}}, False),
    ],
)
def test_a_gang_of_several_pods_has_a_template_of_its_own(
    roles: tuple[Object, ...], template: Object, one: bool
) -> None:
    """All groups of one LeaderWorkerSet have one template, and a pod must name the PodGroup of its group."""
    found = gang(*roles, **template)
    assert (("LeaderWorkerSet", "ms") in found) is one
    assert (("PodGroup", "ms-0") in found) is not one


def test_only_gangs_need_volcano() -> None:
    assert served(model_serving("ms", *GOLDEN, template=ALL)).requires == {"leaderworkerset", "volcano"}
    assert served(model_serving("ms", *GOLDEN)).requires == {"leaderworkerset"}
    body = made(model_serving("ms", *GOLDEN))["LeaderWorkerSet", "ms-0-p-0"]
    assert "schedulerName" not in group_of(body)["leaderTemplate"]["spec"]


def test_a_scheduler_that_knows_no_gangs_is_told() -> None:
    other = role("p", 1, entryTemplate=pods(engine(), schedulerName="mine"))
    document = model_serving("ms", other, template=ALL)
    (found,) = [p for p in warnings(fleet_of(document)) if p.path.endswith("schedulerName")]
    assert found.path == "spec.template.roles[0].entryTemplate.spec.schedulerName"
    group = group_of(made(document)["LeaderWorkerSet", "ms-0-p-0"])
    assert group["leaderTemplate"]["spec"]["schedulerName"] == "mine"
    assert group["workerTemplate"]["spec"]["schedulerName"] == "volcano"
