"""What the page of deviations says of native serving groups, held against what is rendered."""

from typing import Any

import pytest

from components.fleet.options import PodOverrides
from tests.families.kthena.serving.support import LABEL, Object, engine, made, model_serving, pods, role
from tests.fleets import fleet_of, open_model, runner, service

GPU: Object = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
TEAM: Object = {"key": "team", "operator": "Equal", "value": "blue", "effect": "NoSchedule"}


def labels_of(*roles: Object, replicas: int = 2) -> list[set[str]]:
    """The labels of Kthena that pods have, by LeaderWorkerSet."""
    found = made(model_serving("ms", *roles, replicas=replicas))
    sets = [body for (kind, _), body in found.items() if kind == "LeaderWorkerSet"]
    templates = (
        group[part]
        for each in sets
        for group in (each["spec"]["leaderWorkerTemplate"],)
        for part in ("leaderTemplate", "workerTemplate")
        if part in group
    )
    return [
        {key.partition("/")[2] for key in template["metadata"]["labels"] if key.startswith(f"{LABEL}/")}
        for template in templates
    ]


def test_labels_where_a_serving_group_is_one_role_instance() -> None:
    assert labels_of(role("leader")) == [{"name", "role", "entry"}]


def test_labels_where_it_is_several() -> None:
    found = labels_of(role("p"), role("d"))
    assert len(found) == 4
    assert all(each == {"name", "group-name", "role", "role-id", "entry"} for each in found)


def test_a_change_of_one_role_leaves_the_others_alone() -> None:
    before = made(model_serving("ms", role("p"), role("d"), replicas=2))
    changed = role("d", entryTemplate=pods(engine("--seed", "7")))
    after = made(model_serving("ms", role("p"), changed, replicas=2))
    assert {name for name in before if before[name] != after[name]} == {
        ("LeaderWorkerSet", "ms-0-d-0"),
        ("LeaderWorkerSet", "ms-1-d-0"),
    }


def tolerations(own: list[Object], *asked: Object, **flavor: Any) -> list[Object]:
    template = {"workerTemplate": {"spec": {"containers": [runner()], "tolerations": own}}}
    flavors = [{"name": "g", "limits": {"nvidia.com/gpu": 1}, **flavor}]
    documents = (open_model(flavors=flavors), service(workloadTemplate=template))
    ((_, workload),) = fleet_of(*documents, overrides=PodOverrides(tolerations=asked)).workloads
    found: list[Object] = workload.templates[0]["spec"]["tolerations"]
    return found


@pytest.mark.parametrize(
    ("own", "asked", "expected"),
    [
        ([TEAM], [TEAM], [TEAM]),
        ([TEAM], [GPU], [TEAM, GPU]),
        ([GPU], [GPU], [GPU]),
        ([], [TEAM, GPU], [TEAM, GPU]),
        ([{"operator": "Exists"}], [TEAM], [{"operator": "Exists"}, TEAM]),  # a wider one stays beside it
    ],
)
def test_a_toleration_stands_once(own: list[Object], asked: list[Object], expected: list[Object]) -> None:
    assert tolerations(own, *asked) == expected


def test_a_toleration_of_the_nodes_stands_once() -> None:
    assert tolerations([GPU], GPU, params={"INSTANCE-TYPE": "g5.xlarge"}) == [GPU]
