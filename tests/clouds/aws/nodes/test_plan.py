"""From flavors to node groups: every instance type, and every kind of capacity (aws-gpu spec 1, 4, 6 to 9)."""

import datetime
from dataclasses import replace
from typing import Any

import pytest

from components.clouds.aws.facts.eks import limits
from components.clouds.aws.nodes.autoscaler import Bounds
from components.clouds.aws.nodes.launch import Boot
from components.clouds.aws.nodes.plan import NodeGroupPlan, of_blocks
from components.fleet.instances import Instance, instances
from components.fleet.nodes.fit import fit
from components.fleet.nodes.policy import Capacity, TypePolicy
from tests.clouds.aws.environments import BLOCK, HELD, NOW, environment, flavor, one, planned, problems, small
from tests.fleets import fleet_of, open_model, playground

TYPE = "node.kubernetes.io/instance-type"
ACCELERATED = sorted((node for node in instances().values() if node.accelerators), key=lambda node: node.name)
REGION = {  # where the type is offered, for those that us-east-1 lacks (aws-gpu spec 3)
    "p5e.48xlarge": "us-west-2",
    "trn2.3xlarge": "sa-east-1",
    "trn2.48xlarge": "us-east-2",
}
RETIRED = ("p3.2xlarge", "p3.8xlarge", "p3.16xlarge", "dl1.24xlarge")
IMAGE_OF = {"NVIDIA": "AL2023_x86_64_NVIDIA", "AWS": "AL2023_x86_64_NEURON"}


def refusal(node: Instance) -> str:
    """What the facts refuse, as the spec says it; empty where a node group can be made."""
    if node.family == "g7":
        return "NVIDIA driver 595"
    if node.name in RETIRED or node.family == "g4ad":
        return "is no longer offered in any region"
    return ""


@pytest.mark.parametrize("node", ACCELERATED, ids=lambda node: node.name)
def test_every_accelerated_type_gives_a_group_or_the_refusal_that_the_facts_demand(node: Instance) -> None:
    region = REGION.get(node.name, "us-east-1")
    where = environment(region=region, zones=(f"{region}a", f"{region}b"))
    # Ten of a hundred parts of memory stay with the system on the smallest nodes.
    accelerator = str(node.accelerator_resource)
    fleet = one(flavor(node.name, {accelerator: node.accelerators}), where=where)
    assert fit(fleet) == ()
    found = problems(fleet, where)
    expected = refusal(node)
    if expected:
        assert any(expected in problem.reason for problem in found), found
        return
    assert found == []
    (group,) = planned(fleet, where)
    assert group.ami_type == ("AL2023_ARM_64_NVIDIA" if node.family == "g5g" else IMAGE_OF[node.manufacturer])
    assert group.instance_types == (node.name,)
    assert (group.minimum, group.maximum) == (0, 1)
    assert group.taints == ({"key": accelerator, "value": "true", "effect": "NO_SCHEDULE"},)
    assert group.tags[f"k8s.io/cluster-autoscaler/node-template/resources/{accelerator}"] == str(node.accelerators)
    assert group.disk.gib == (80 if node.local_nvme_gb else 200)
    assert 0 < len(group.id) <= limits().name


def test_there_are_87_of_them() -> None:
    assert len(ACCELERATED) == 87


def group_of(**types: TypePolicy) -> NodeGroupPlan:
    (name,) = types
    where = environment(types={name.replace("_", "."): types[name]})
    (group,) = planned(one(flavor(name.replace("_", "."), {"nvidia.com/gpu": 8}), where=where), where)
    return group


class TestCapacity:
    def test_on_demand(self) -> None:
        where = environment()
        (group,) = planned(one(flavor("g5.xlarge")), where)
        assert (group.capacity_type, group.reservation, group.update_strategy) == ("ON_DEMAND", None, "DEFAULT")
        assert group.zones == where.zones
        assert not group.reserved

    def test_spot_with_alternatives(self) -> None:
        rule = TypePolicy(alternatives=("g5.2xlarge", "g5.4xlarge"))
        where = environment(capacity="spot", types={"g5.xlarge": rule})
        fleet = one(flavor("g5.xlarge"), where=where)
        (group,) = planned(fleet, where)
        assert group.capacity_type == "SPOT"
        assert group.instance_types == ("g5.xlarge", "g5.2xlarge", "g5.4xlarge")
        (deployment,) = (o for o in fleet.rendered[0].objects if o["kind"] == "Deployment")
        affinity = deployment["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert term["matchExpressions"] == [{"key": TYPE, "operator": "In", "values": list(group.instance_types)}]

    @pytest.mark.parametrize(
        ("selector", "capacity"),
        [
            ({"karpenter_sh__capacity-type": "spot"}, "SPOT"),
            ({"eks_amazonaws_com__capacityType": "SPOT"}, "SPOT"),
            ({"eks_amazonaws_com__capacityType": "ON_DEMAND"}, "ON_DEMAND"),
        ],
    )
    def test_a_flavor_decides_over_the_environment(self, selector: Any, capacity: str) -> None:
        where = environment(capacity="on-demand" if capacity == "SPOT" else "spot")
        (group,) = planned(one(flavor("g5.xlarge", **selector)), where)
        assert group.capacity_type == capacity

    def test_on_demand_reservation(self) -> None:
        group = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.ODCR, reservation=HELD))
        assert (group.capacity_type, group.update_strategy, group.zones) == ("ON_DEMAND", "MINIMAL", ("us-east-1b",))
        assert group.reservation == HELD
        assert group.reserved
        assert group.blocks == ()

    def test_a_block_to_come_starts_empty_and_fills_by_schedule(self) -> None:
        """aws-gpu spec 4: start with 0. All that was bought is used; EKS itself takes it away before the end."""
        group = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK))
        assert (group.capacity_type, group.update_strategy, group.zones) == (
            "CAPACITY_BLOCK",
            "MINIMAL",
            ("us-east-1b",),
        )
        assert (group.minimum, group.maximum) == (0, 2)
        (block,) = group.blocks
        assert block.filling
        assert (block.filling.nodes, block.filling.starts, block.running) == (2, BLOCK.starts, False)

    @pytest.mark.parametrize(("minutes_left", "fills"), [(106, True), (105, False), (39, False)])
    def test_a_running_block_is_filled_until_shortly_before_eks_takes_its_nodes(
        self, minutes_left: int, fills: bool
    ) -> None:
        """EKS user guide: emptied 40 minutes before the end; 5 minutes less, and an hour for the update."""
        ends = NOW + datetime.timedelta(minutes=minutes_left)
        running = replace(BLOCK, starts=NOW - datetime.timedelta(hours=1), ends=ends)
        group = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=running))
        (block,) = group.blocks
        assert (block.filling is not None, block.running) == (fills, True)
        if block.filling:
            assert (block.filling.starts, block.filling.ends) == (None, ends - datetime.timedelta(minutes=45))

    @pytest.mark.parametrize(("minutes", "runs"), [(61, False), (60, True), (0, True), (-1, True)])
    def test_a_block_that_begins_within_the_update_counts_as_running(self, minutes: int, runs: bool) -> None:
        soon = replace(BLOCK, starts=NOW + datetime.timedelta(minutes=minutes))
        group = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=soon))
        (block,) = group.blocks
        assert block.filling
        assert (block.running, block.filling.starts is None) == (runs, runs)

    def test_each_block_has_a_group_of_its_own(self) -> None:
        later = replace(BLOCK, id="cr-0c2d", zone="us-east-1a", count=3)
        rule = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK, next_blocks=(later,))
        group = group_of(p5_48xlarge=rule)
        first, second = of_blocks(group)
        assert (group.name, group.maximum) == ("p5-48xlarge-capacity-block", 2)
        assert (first.name, first.zones, first.maximum) == (f"{group.name}-0a1b", ("us-east-1b",), 2)
        assert (second.name, second.zones, second.maximum) == (f"{group.name}-0c2d", ("us-east-1a",), 3)
        assert first.id != second.id
        held = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.ODCR, reservation=HELD))
        assert of_blocks(held) == (held,)

    def test_names_of_blocks_do_not_depend_on_which_is_named_first(self) -> None:
        later = replace(BLOCK, id="cr-0c2d")
        both = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK, next_blocks=(later,))
        alone = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=later)
        (_, second), (first,) = of_blocks(group_of(p5_48xlarge=both)), of_blocks(group_of(p5_48xlarge=alone))
        assert (second.name, second.id) == (first.name, first.id)

    def test_the_autoscaler_has_no_say_in_a_block(self) -> None:
        """It would take away what is paid for, and ask for nodes after the end."""
        block = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK))
        held = group_of(p5_48xlarge=TypePolicy(capacity=Capacity.ODCR, reservation=HELD))
        assert (block.autoscaled, block.bounds) == (False, None)
        assert (held.autoscaled, held.bounds) == (True, Bounds(0, 1))

    def test_a_reservation_bounds_the_group(self) -> None:
        where = environment(types={"p5.48xlarge": TypePolicy(capacity=Capacity.ODCR, reservation=HELD)})
        (group,) = planned(one(flavor("p5.48xlarge", {"nvidia.com/gpu": 8}), where=where, replicas=5), where)
        assert (group.minimum, group.maximum) == (0, 2)


class TestBounds:
    @pytest.mark.parametrize(("scale_to_zero", "least"), [(True, 0), (False, 1)])
    def test_a_group_starts_empty(self, scale_to_zero: bool, least: int) -> None:
        """Without capacity for a first node the group would end in CREATE_FAILED; the autoscaler brings all nodes."""
        where = environment(scale_to_zero=scale_to_zero)
        (group,) = planned(one(flavor("g5.xlarge"), replicas=3), where)
        assert (group.minimum, group.maximum) == (least, 3)
        assert group.bounds == Bounds(least, 3)

    def test_a_fallback_may_be_empty_anyway(self) -> None:
        where = environment(scale_to_zero=False)
        groups = planned(one(flavor("g6.xlarge", name="a"), flavor("g5.xlarge", name="b")), where)
        assert {group.name: (group.minimum, group.bounds) for group in groups} == {
            "g6-xlarge": (1, Bounds(1, 1, level=1)),
            "g5-xlarge": (0, Bounds(0, 1)),
        }
        assert {group.name: group.demand.rank for group in groups} == {"g6-xlarge": 0, "g5-xlarge": 1}

    @pytest.mark.parametrize(
        ("rule", "sizes"),
        [
            ({"min_nodes": 2, "max_nodes": 7}, (2, 7)),
            ({"max_nodes": 1}, (0, 1)),
            ({"min_nodes": 3}, (3, 3)),
            ({"min_nodes": 0}, (0, 1)),
            ({"capacity": Capacity.ODCR, "reservation": HELD}, (0, 1)),
            ({"capacity": Capacity.ODCR, "reservation": HELD, "min_nodes": 5}, (2, 2)),
            ({"capacity": Capacity.ODCR, "reservation": HELD, "max_nodes": 1}, (0, 1)),
        ],
        ids=str,
    )
    def test_an_environment_sets_its_own(self, rule: dict[str, Any], sizes: tuple[int, int]) -> None:
        where = environment(types={"g5.xlarge": TypePolicy(**rule)})
        (group,) = planned(one(flavor("g5.xlarge")), where)
        assert (group.minimum, group.maximum) == sizes
        assert group.bounds == Bounds(*sizes)

    @pytest.mark.parametrize(("replicas", "most"), [(1, 2), (4, 4), (40, 40)])
    def test_the_autoscaler_keeps_what_models_can_need(self, replicas: int, most: int) -> None:
        where = environment(types={"g5.xlarge": TypePolicy(min_nodes=2)}, scale_to_zero=False)
        (group,) = planned(one(flavor("g5.xlarge"), replicas=replicas), where)
        assert group.bounds == Bounds(2, most)

    def test_an_autoscaler_without_end_reaches_what_eks_allows(self) -> None:
        scaled = small("p", "m")
        del scaled["spec"]["replicas"]
        scaled["spec"]["elasticConfig"] = {"minReplicas": 1, "scaleTrigger": {"hpa": {}}}
        fleet = fleet_of(open_model(flavors=[flavor("g5.xlarge")]), scaled)
        where = environment()
        (group,) = planned(fleet, where)
        assert group.maximum == 450
        assert group.bounds == Bounds(0, 450)
        (warning,) = problems(fleet, where, "warning")
        assert "may grow to 450 nodes, 453 USD an hour" in warning.reason  # 450 x 1.006


class TestNames:
    def test_a_name_lasts_while_nothing_is_replaced(self) -> None:
        where = environment()
        (before,) = planned(one(flavor("g5.xlarge")), where)
        (more,) = planned(one(flavor("g5.xlarge"), replicas=4), replace(where, boot=Boot(500), scale_to_zero=False))
        assert (before.name, before.id) == (more.name, more.id)

    def test_what_cannot_be_changed_in_place_is_in_the_name(self) -> None:
        """instanceTypes, amiType and subnets of a group are for ever (aws-gpu spec 7)."""
        fleet = one(flavor("g5.xlarge"))
        (before,) = planned(fleet, environment())
        for changed in (
            environment(image="bottlerocket"),
            environment(zones=("us-east-1a",)),
        ):
            (after,) = planned(fleet, changed)
            assert after.name == before.name
            assert after.id != before.id

    def test_long_labels_do_not_make_long_names(self) -> None:
        models = [
            open_model(name, flavors=[flavor("g5.xlarge", pool=letter * 60)])
            for name, letter in (("a", "x"), ("b", "y"))
        ]
        groups = planned(fleet_of(*models, small("p", "a"), small("q", "b")), environment())
        assert len({group.id for group in groups}) == 2
        assert all(len(group.id) <= 63 for group in groups)


class TestLabels:
    def test_what_the_cloud_sets_is_not_set_again(self) -> None:
        """EKS refuses labels under kubernetes.io and its own domain (kubernetes/cloud-provider-aws issue 242)."""
        where = environment()
        selector: Any = {"team": "chat", "topology_kubernetes_io__zone": "us-east-1b", "kubernetes_io__arch": "amd64"}
        (group,) = planned(one(flavor("g5.xlarge", **selector)), where)
        assert dict(group.labels) == {"k8s.amazonaws.com/accelerator": "a10g", "team": "chat"}
        assert group.zones == ("us-east-1b",)
        prefix = "k8s.io/cluster-autoscaler/node-template/label/"
        told = {key.removeprefix(prefix): value for key, value in group.tags.items() if key.startswith(prefix)}
        assert told == {
            "k8s.amazonaws.com/accelerator": "a10g",
            "kubernetes.io/arch": "amd64",
            TYPE: "g5.xlarge",
            "team": "chat",
            "topology.kubernetes.io/zone": "us-east-1b",
        }

    def test_labels_of_the_environment_are_on_every_node(self) -> None:
        (group,) = planned(one(flavor("g5.xlarge")), environment(labels={"tenant": "a"}))
        assert group.labels["tenant"] == "a"
        assert group.demand.labels["tenant"] == "a"

    def test_neuron_nodes_have_no_gpu_label(self) -> None:
        (group,) = planned(one(flavor("inf2.xlarge", {"aws.amazon.com/neuron": 1})), environment())
        assert dict(group.labels) == {}


class TestEfa:
    LIMITS: dict[str, Any] = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}  # noqa: RUF012

    def test_pods_that_ask_for_it_get_every_interface(self) -> None:
        where = environment(zones=("us-east-1a",))
        fleet = one(flavor("p5.48xlarge", self.LIMITS))
        assert fit(fleet) == ()
        assert problems(fleet, where) == []
        (group,) = planned(fleet, where)
        assert len(group.interfaces) == 33
        assert group.tags["k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/efa"] == "32"

    def test_without_asking_there_is_none(self) -> None:
        (group,) = planned(one(flavor("p5.48xlarge", {"nvidia.com/gpu": 8})), environment())
        assert group.interfaces == ()
        assert not any("efa" in key for key in group.tags)

    def test_an_environment_can_ask_for_it(self) -> None:
        where = environment(zones=("us-east-1a",), types={"p5.48xlarge": TypePolicy(efa=True, placement_group=True)})
        (group,) = planned(one(flavor("p5.48xlarge", {"nvidia.com/gpu": 8})), where)
        assert len(group.interfaces) == 33
        assert group.placement_group
        assert group.tags["k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/efa"] == "32"


def test_an_image_of_ones_own_takes_the_place_of_the_stock_one() -> None:
    where = environment(types={"g7.2xlarge": TypePolicy(ami_id="ami-0abc")})
    fleet = one(flavor("g7.2xlarge"))
    assert problems(fleet, where) == []
    (group,) = planned(fleet, where)
    assert (group.ami_id, group.ami_type) == ("ami-0abc", None)


def test_nodes_without_accelerators_get_a_plain_image_and_no_taint() -> None:
    (group,) = planned(one(flavor("m7g.2xlarge", {"cpu": "2"})), environment())
    assert (group.ami_type, group.taints) == ("AL2023_ARM_64_STANDARD", ())


def test_a_ceiling_leaves_room_for_daemonsets() -> None:
    """Two pods of 3.9 cores fill the 7.91 of an m7i.2xlarge; with kube-proxy and others only one fits."""
    need = {"cpu": "3900m", "memory": "1Gi"}
    config = {"resources": {"requests": need, "limits": need}}
    model = open_model(flavors=[flavor("m7i.2xlarge", {"cpu": "3900m"})])
    fleet = fleet_of(model, playground("p", "m", replicas=4, backendRuntimeConfig=config))
    (group,) = planned(fleet, environment())
    assert group.demand.nodes == 2
    assert group.bounds == Bounds(0, 4)
