"""EFA reaches the pods for which an environment has it, and no others."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.nodes.fabric import with_efa
from components.clouds.aws.nodes.plan import NodeEnvironment, node_plan
from components.fleet.nodes.policy import TypePolicy
from components.fleet.rendered import Fleet
from components.fleet.workloads import PodSet
from tests.clouds.aws.environments import environment, flavor, problems
from tests.fleets import errors, fleet_of, open_model, playground, runner, service

EFA = "vpc.amazonaws.com/efa"
ON = TypePolicy(efa=True, zones=("us-east-1a",))
EIGHT = {"nvidia.com/gpu": 8}
VARIABLES = [{"name": "FI_PROVIDER", "value": "efa"}, {"name": "FI_EFA_USE_HUGE_PAGE", "value": "0"}]


def where(*types: str) -> NodeEnvironment:
    return environment(types=dict.fromkeys(types, ON))


def spanning(*flavors: dict[str, Any], size: int = 2, **container: Any) -> Fleet:
    """A model that runs in a group of so many pods."""
    template = {"spec": {"containers": [{**runner(), **container}]}}
    group = {"size": size, "leaderTemplate": template, "workerTemplate": copy.deepcopy(template)}
    fleet = fleet_of(open_model(flavors=list(flavors)), service(workloadTemplate=group))
    assert not errors(fleet), errors(fleet)
    return fleet


def containers(fleet: Fleet) -> list[dict[str, Any]]:
    return [t["spec"]["containers"][0] for _, workload in fleet.workloads for t in workload.templates]


@pytest.mark.parametrize(
    ("kind", "gpus", "interfaces"),
    [
        ("p5.48xlarge", 8, 32),
        ("p5en.48xlarge", 8, 16),
        ("p4d.24xlarge", 8, 4),
        ("g5.48xlarge", 8, 1),
        # Half of the node's accelerators, half of its interfaces: two such pods share a node.
        ("p5.48xlarge", 4, 16),
        ("g6e.48xlarge", 6, 3),
    ],
)
def test_each_pod_of_a_group_asks_for_the_interfaces_of_its_share(kind: str, gpus: int, interfaces: int) -> None:
    place = where(kind)
    fleet = with_efa(spanning(flavor(kind, {"nvidia.com/gpu": gpus})), place.nodes)
    leader, worker = containers(fleet)
    for container in (leader, worker):
        assert container["resources"]["limits"][EFA] == str(interfaces)
        assert container["resources"]["requests"][EFA] == str(interfaces)
        assert int(container["resources"]["limits"]["nvidia.com/gpu"]) == gpus
        assert [v for v in container["env"] if v in VARIABLES] == VARIABLES
    assert [demand.requests[EFA] for item in fleet.rendered for demand in item.pods] == [interfaces, interfaces]
    assert problems(fleet, place) == []
    assert problems(fleet, place, "warning") == []
    (group,) = node_plan(fleet, place)
    assert group.demand.efa


@pytest.mark.parametrize(("group", "interfaces"), [(None, None), ({"set": "p"}, "32")])
def test_single_pods_that_talk_to_others_ask_for_it(group: dict[str, str] | None, interfaces: str | None) -> None:
    """Prefill and decode, for example, are pods of their own, and hand the cache over from node to node."""
    alone = spanning(flavor("p5.48xlarge", EIGHT), size=1)
    (item,) = alone.rendered
    workloads = tuple(replace(each, part_of=PodSet("p", {"entry": "true"}, group)) for each in item.workloads)
    fleet = with_efa(replace(alone, rendered=(replace(item, workloads=workloads),)), where("p5.48xlarge").nodes)
    assert [each["resources"]["limits"].get(EFA) for each in containers(fleet)] == [interfaces]


def unchanged(fleet: Fleet, place: NodeEnvironment) -> None:
    before = copy.deepcopy(list(fleet.objects))
    after = with_efa(fleet, place.nodes)
    assert list(after.objects) == before == list(fleet.objects)
    assert after.rendered == fleet.rendered


@pytest.mark.parametrize(
    "place",
    [environment(), where("p4d.24xlarge"), environment(types={"p5.48xlarge": TypePolicy(placement_group=True)})],
)
def test_without_the_setting_nothing_changes(place: NodeEnvironment) -> None:
    unchanged(spanning(flavor("p5.48xlarge", EIGHT)), place)


@pytest.mark.parametrize(
    "fleet",
    [
        pytest.param(fleet_of(open_model(flavors=[flavor("p5.48xlarge", EIGHT)]), playground()), id="one pod"),
        pytest.param(spanning(flavor("p5.48xlarge", EIGHT), size=1), id="a group of one"),
        pytest.param(spanning(flavor("g6.12xlarge", {"nvidia.com/gpu": 2})), id="less than an interface"),
        pytest.param(spanning(flavor("p5.48xlarge", {"cpu": 4})), id="no accelerators"),
        pytest.param(spanning(flavor("p5.48xlarge", {**EIGHT, EFA: 4})), id="the manifest says how many"),
        pytest.param(
            spanning(flavor("p5.48xlarge", EIGHT, "a"), flavor("p4d.24xlarge", EIGHT, "b")), id="a choice without"
        ),
    ],
)
def test_who_has_no_use_for_it_or_chooses_asks_for_nothing(fleet: Fleet) -> None:
    unchanged(fleet, where("p5.48xlarge", "g6.12xlarge"))


def test_pods_that_may_run_on_several_types_ask_for_what_all_have() -> None:
    fleet = spanning(flavor("p5.48xlarge", EIGHT, "a"), flavor("p5en.48xlarge", EIGHT, "b"))
    leader, _ = containers(with_efa(fleet, where("p5.48xlarge", "p5en.48xlarge").nodes))
    assert leader["resources"]["limits"][EFA] == "16"


def test_what_the_manifest_sets_stays() -> None:
    mine = [{"name": "FI_PROVIDER", "value": "tcp"}, {"name": "MINE", "value": "1"}]
    huge = {"limits": {"hugepages-2Mi": "1Gi", "memory": "8Gi"}}
    fleet = with_efa(spanning(flavor("p5.48xlarge", EIGHT), env=mine, resources=huge), where("p5.48xlarge").nodes)
    for container in containers(fleet):
        assert [v for v in container["env"] if v["name"].startswith(("FI_", "MINE"))] == mine
        assert container["resources"]["limits"].items() >= huge["limits"].items()


def test_the_given_fleet_stays_as_it_is() -> None:
    fleet = spanning(flavor("p5.48xlarge", EIGHT))
    before = copy.deepcopy(list(fleet.objects))
    assert list(with_efa(fleet, where("p5.48xlarge").nodes).objects) != before
    assert list(fleet.objects) == before


def test_who_only_plans_nodes_does_not_count_on_it() -> None:
    """GpuNodeGroups is given manifests that another component serves, as they are written."""
    fleet, place = spanning(flavor("p5.48xlarge", EIGHT)), where("p5.48xlarge")
    assert list(AwsEnvironment("us-east-1", place).adapted(fleet).objects) != list(fleet.objects)
    assert AwsEnvironment("us-east-1", place, renders=False).adapted(fleet).rendered == fleet.rendered


@pytest.mark.parametrize("capacity", ["on-demand", "spot"])
def test_interfaces_that_no_pod_requests_are_reported_with_both_remedies(capacity: str) -> None:
    fleet = fleet_of(open_model(flavors=[flavor("p5.48xlarge", EIGHT)]), playground())
    place = environment(capacity=capacity, types={"p5.48xlarge": ON})
    found = [p for p in problems(fleet, place, "warning") if "EFA" in p.reason]
    assert [(p.file, p.path) for p in found] == [("Pulumi.dev.yaml", "gpuNodes.types.p5.48xlarge.efa")]
    for words in ("32 EFA interfaces", "Remove efa", f"request {EFA} in the manifest"):
        assert words in found[0].reason


def test_one_pod_that_requests_them_is_enough() -> None:
    asking = open_model("a", flavors=[flavor("p5.48xlarge", {**EIGHT, EFA: 32})])
    plain = open_model("b", flavors=[flavor("p5.48xlarge", EIGHT)])
    fleet = fleet_of(asking, plain, playground("a", "a"), playground("b", "b"))
    assert not [p for p in problems(fleet, where("p5.48xlarge"), "warning") if "EFA" in p.reason]


def test_without_the_setting_there_are_no_interfaces_to_report() -> None:
    fleet = fleet_of(open_model(flavors=[flavor("p5.48xlarge", EIGHT)]), playground())
    assert not [p for p in problems(fleet, environment(), "warning") if "EFA" in p.reason]
