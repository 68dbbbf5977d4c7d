"""Node groups in Karpenter's words (aws-gpu spec 10; CRDs of Karpenter 1.14)."""

import datetime
from dataclasses import replace
from typing import Any

import pytest

from components.clouds.aws.nodes.karpenter import (
    Surroundings,
    general_class,
    general_pool,
    largest,
    node_class,
    node_pool,
    static_pool,
)
from components.clouds.aws.nodes.launch import Boot
from components.clouds.aws.nodes.plan import NodeGroupPlan
from components.clouds.aws.nodes.pool_rules import Budget, Disruption, GeneralPool, PoolRules
from components.fleet.nodes.policy import Capacity, TypePolicy
from tests.clouds.aws.environments import BLOCK, HELD, environment, flavor, one, planned

REQUIREMENTS = {
    "karpenter.sh/capacity-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
}


def groups(*flavors: Any, **changes: Any) -> dict[str, NodeGroupPlan]:
    where = environment(provisioner="karpenter", **changes)
    return {group.name: group for group in planned(one(*flavors, where=where), where)}


def requirements(pool: Any) -> dict[str, list[str]]:
    listed = pool["spec"]["template"]["spec"]["requirements"]
    assert all(each["operator"] == "In" for each in listed)
    return {each["key"]: each["values"] for each in listed}


def spec_of(plan: NodeGroupPlan, **changes: Any) -> Any:
    place = Surroundings(["subnet-1"], ["sg-1"], "nodes", {"team": "a"}, **changes)
    return node_class(plan, place)["spec"]


class TestNodePool:
    def test_what_it_may_make(self) -> None:
        (plan,) = groups(flavor("g5.12xlarge", {"nvidia.com/gpu": 4}, team="chat")).values()
        pool = node_pool(plan)
        assert (pool["apiVersion"], pool["kind"], pool["metadata"]["name"]) == (
            "karpenter.sh/v1",
            "NodePool",
            plan.name,
        )
        wanted = requirements(pool)
        assert set(wanted) == REQUIREMENTS
        assert wanted["node.kubernetes.io/instance-type"] == ["g5.12xlarge"]
        assert wanted["karpenter.sh/capacity-type"] == ["on-demand"]
        assert wanted["topology.kubernetes.io/zone"] == ["us-east-1a", "us-east-1b"]
        template = pool["spec"]["template"]
        assert template["metadata"]["labels"] == {"k8s.amazonaws.com/accelerator": "a10g", "team": "chat"}
        assert template["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
        assert template["spec"]["nodeClassRef"] == {
            "group": "karpenter.k8s.aws",
            "kind": "EC2NodeClass",
            "name": plan.name,
        }

    def test_nodes_go_when_empty_and_never_to_save_a_few(self) -> None:
        (plan,) = groups(flavor("g5.xlarge")).values()
        assert node_pool(plan)["spec"]["disruption"]["consolidationPolicy"] == "WhenEmpty"

    def test_the_first_flavor_weighs_most(self) -> None:
        made = groups(flavor("g6.xlarge", name="a"), flavor("g5.xlarge", name="b"), flavor("g4dn.xlarge", name="c"))
        weights = {name: node_pool(plan)["spec"]["weight"] for name, plan in made.items()}
        assert weights["g6-xlarge"] > weights["g5-xlarge"] > weights["g4dn-xlarge"] >= 1

    @pytest.mark.parametrize(
        ("kind", "limits", "expected"),
        [
            ("g5.12xlarge", {"nvidia.com/gpu": 4}, {"nvidia.com/gpu": "4", "nodes": "1"}),
            ("inf2.48xlarge", {"aws.amazon.com/neuron": 12}, {"aws.amazon.com/neuron": "12", "nodes": "1"}),
            ("m7i.2xlarge", {"cpu": "1"}, {"cpu": "8", "nodes": "1"}),
        ],
    )
    def test_limits_bound_the_cost(self, kind: str, limits: dict[str, Any], expected: dict[str, str]) -> None:
        (plan,) = groups(flavor(kind, limits)).values()
        assert node_pool(plan)["spec"]["limits"] == expected

    @pytest.mark.parametrize(
        ("kind", "limits", "others", "expected"),
        [
            ("m7i.2xlarge", {"cpu": "1"}, ("m7i.4xlarge", "r7i.2xlarge"), {"cpu": "32", "nodes": "2"}),
            ("g5.xlarge", None, ("g5.2xlarge", "g5.12xlarge"), {"nvidia.com/gpu": "8", "nodes": "2"}),
        ],
    )
    def test_limits_leave_room_for_the_largest_type(
        self, kind: str, limits: dict[str, Any] | None, others: tuple[str, ...], expected: dict[str, str]
    ) -> None:
        """vCPUs and GPUs by the table of instance types: 16 of m7i.4xlarge, 4 of g5.12xlarge."""
        types = {kind: TypePolicy(alternatives=others, max_nodes=2)}
        (plan,) = groups(flavor(kind, limits), capacity="spot", types=types).values()
        assert node_pool(plan)["spec"]["limits"] == expected

    def test_nodes_that_are_always_there_are_a_pool_of_their_own(self) -> None:
        """By the CRD replicas go with limits.nodes alone and without weight; one node more lets drift replace."""
        (plan,) = groups(flavor("g5.xlarge"), types={"g5.xlarge": TypePolicy(min_nodes=2, max_nodes=5)}).values()
        pool, fixed = node_pool(plan), static_pool(plan)
        assert pool["spec"]["limits"] == {"nvidia.com/gpu": "3", "nodes": "3"}
        assert "replicas" not in pool["spec"]
        assert fixed["metadata"]["name"] == "g5-xlarge-static"
        assert (fixed["spec"]["replicas"], fixed["spec"]["limits"]) == (2, {"nodes": "3"})
        assert "weight" not in fixed["spec"]
        assert fixed["spec"]["template"] == pool["spec"]["template"]

    def test_nodes_are_taken_away_as_is_said(self) -> None:
        (plan,) = groups(flavor("g5.xlarge")).values()
        assert node_pool(plan)["spec"]["disruption"]["budgets"] == [{"nodes": "1"}]
        at_night = Budget("20%", "0 22 * * mon-fri", "8h", ("Drifted",))
        said = Disruption("WhenEmptyOrUnderutilized", "1h", (Budget("0"), at_night))
        for pool in (node_pool(plan, said), static_pool(plan, said)):
            assert pool["spec"]["disruption"] == {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "1h",
                "budgets": [
                    {"nodes": "0"},
                    {"nodes": "20%", "schedule": "0 22 * * mon-fri", "duration": "8h", "reasons": ["Drifted"]},
                ],
            }

    @pytest.mark.parametrize("nodes", [1, 3])
    def test_no_type_of_a_pool_is_filtered_until_it_has_all_its_nodes(self, nodes: int) -> None:
        """As Karpenter's scheduler counts: what exceeds the rest is left out, the largest left is taken as used."""
        others = ("m7i.4xlarge", "r7i.2xlarge", "m7i.xlarge")
        types = {"m7i.2xlarge": TypePolicy(alternatives=others, max_nodes=nodes)}
        (plan,) = groups(flavor("m7i.2xlarge", {"cpu": "1"}), capacity="spot", types=types).values()
        vcpus = {"m7i.2xlarge": 8, "m7i.4xlarge": 16, "r7i.2xlarge": 8, "m7i.xlarge": 4}
        remaining = int(node_pool(plan)["spec"]["limits"]["cpu"])
        for _ in range(nodes):
            assert {kind for kind in plan.instance_types if vcpus[kind] <= remaining} == set(vcpus)
            remaining -= max(vcpus.values())
        assert not [kind for kind in vcpus if vcpus[kind] <= remaining]

    def test_spot_takes_any_of_its_types(self) -> None:
        rule = TypePolicy(alternatives=("g5.2xlarge",))
        (plan,) = groups(flavor("g5.xlarge"), capacity="spot", types={"g5.xlarge": rule}).values()
        wanted = requirements(node_pool(plan))
        assert wanted["karpenter.sh/capacity-type"] == ["spot"]
        assert wanted["node.kubernetes.io/instance-type"] == ["g5.xlarge", "g5.2xlarge"]

    def test_labels_of_karpenter_itself_are_requirements(self) -> None:
        selector: Any = {"karpenter_k8s_aws__instance-gpu-name": "a10g"}
        (plan,) = groups(flavor("g5.xlarge", **selector)).values()
        pool = node_pool(plan)
        assert requirements(pool)["karpenter.k8s.aws/instance-gpu-name"] == ["a10g"]
        assert "karpenter.k8s.aws/instance-gpu-name" not in pool["spec"]["template"]["metadata"]["labels"]


class TestNodeClass:
    def test_image_disk_and_metadata(self) -> None:
        (plan,) = groups(flavor("g5.xlarge")).values()
        spec = spec_of(plan)
        assert spec["amiSelectorTerms"] == [{"alias": "al2023@v20260714"}]
        assert spec["instanceStorePolicy"] == "RAID0"
        assert spec["metadataOptions"]["httpTokens"] == "required"
        assert spec["blockDeviceMappings"][0]["ebs"]["encrypted"] is True
        assert spec["kubelet"] == {"maxPods": 110}
        assert (spec["role"], spec["tags"]) == ("nodes", {"team": "a"})
        assert not {"networkInterfaces", "capacityReservationSelectorTerms", "userData", "amiFamily"} & set(spec)

    def test_its_disk_as_the_settings_say(self) -> None:
        boot = Boot(throughput=2000, kms_key="arn:aws:kms:us-east-1:123456789012:key/0a1b")
        (plan,) = groups(flavor("g5g.xlarge"), boot=boot).values()
        (disk,) = spec_of(plan)["blockDeviceMappings"]
        assert disk["ebs"] == {
            "volumeSize": "200Gi",
            "volumeType": "gp3",
            "throughput": 2000,
            "iops": 8000,
            "encrypted": True,
            "kmsKeyID": "arn:aws:kms:us-east-1:123456789012:key/0a1b",
            "deleteOnTermination": True,
        }

    def test_a_release_of_ones_choice(self) -> None:
        (plan,) = groups(flavor("g5.xlarge"), ami_release="latest").values()
        assert spec_of(plan)["amiSelectorTerms"] == [{"alias": "al2023@latest"}]

    def test_hops_and_placement(self) -> None:
        (plan,) = groups(flavor("g5.xlarge")).values()
        assert spec_of(plan)["metadataOptions"]["httpPutResponseHopLimit"] == 1
        assert "placementGroupSelector" not in spec_of(plan)
        spec = spec_of(plan, hops=2, placement_group="close")
        assert spec["metadataOptions"]["httpPutResponseHopLimit"] == 2
        assert spec["placementGroupSelector"] == {"name": "close"}

    def test_an_image_of_ones_own(self) -> None:
        (plan,) = groups(flavor("g7.2xlarge"), types={"g7.2xlarge": TypePolicy(ami_id="ami-0abc")}).values()
        spec = spec_of(plan)
        assert spec["amiSelectorTerms"] == [{"id": "ami-0abc"}]
        assert spec["amiFamily"] == "AL2023"

    def test_reserved_with_efa(self) -> None:
        rule = TypePolicy(capacity=Capacity.ODCR, reservation=HELD, efa=True)
        (plan,) = groups(flavor("p5.48xlarge", {"nvidia.com/gpu": 8}), types={"p5.48xlarge": rule}).values()
        assert requirements(node_pool(plan))["karpenter.sh/capacity-type"] == ["reserved"]
        spec = spec_of(plan)
        assert spec["capacityReservationSelectorTerms"] == [{"id": "cr-0a1b"}]
        assert len(spec["networkInterfaces"]) == 33
        assert spec["networkInterfaces"][0] == {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}

    @pytest.mark.parametrize(
        ("days", "most", "nodes"),
        [(7, None, "3"), (5, None, "5"), (7, 1, "1")],
        ids=["one after the other", "both at once", "bounded by a setting"],
    )
    def test_capacity_blocks_that_follow_each_other(self, days: int, most: int | None, nodes: str) -> None:
        """Karpenter uses those that are active (aws/karpenter-provider-aws, designs/capacity-block-support.md)."""
        assert BLOCK.starts
        starts = BLOCK.starts + datetime.timedelta(days=days)
        later = replace(BLOCK, id="cr-0c2d", count=3, starts=starts, ends=starts + datetime.timedelta(days=7))
        rule = TypePolicy(Capacity.CAPACITY_BLOCK, BLOCK, (later,), max_nodes=most)
        found = groups(flavor("p5.48xlarge", {"nvidia.com/gpu": 8}), types={"p5.48xlarge": rule})
        (plan,) = found.values()
        assert spec_of(plan)["capacityReservationSelectorTerms"] == [{"id": "cr-0a1b"}, {"id": "cr-0c2d"}]
        assert node_pool(plan)["spec"]["limits"]["nodes"] == nodes

    def test_bottlerocket_hands_neuron_devices_over(self) -> None:
        (plan,) = groups(flavor("inf2.xlarge", {"aws.amazon.com/neuron": 1}), image="bottlerocket").values()
        spec = spec_of(plan)
        assert spec["amiSelectorTerms"] == [{"alias": "bottlerocket@v1.66.0"}]
        assert "device-ownership-from-security-context = true" in spec["userData"]


class TestGeneralPool:
    """A pool for pods that name no instance type."""

    WHERE = environment(provisioner="karpenter", pools=PoolRules(general=GeneralPool()))

    def test_nodes_of_general_purpose_up_to_a_bound(self) -> None:
        pool = general_pool(GeneralPool(capacity=("spot", "on-demand"), max_vcpus=32), self.WHERE)
        assert pool["spec"]["limits"] == {"cpu": "32"}
        assert "weight" not in pool["spec"]
        listed = pool["spec"]["template"]["spec"]["requirements"]
        wanted = {each["key"]: (each["operator"], each["values"]) for each in listed}
        assert wanted["karpenter.k8s.aws/instance-category"] == ("In", ["c", "m", "r"])
        assert wanted["karpenter.k8s.aws/instance-generation"] == ("Gt", ["4"])
        assert wanted["karpenter.sh/capacity-type"] == ("In", ["on-demand", "spot"])
        assert wanted["topology.kubernetes.io/zone"] == ("In", ["us-east-1a", "us-east-1b"])

    def test_nodes_whose_pods_fit_elsewhere_go(self) -> None:
        assert general_pool(GeneralPool(), self.WHERE)["spec"]["disruption"] == {
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "consolidateAfter": "10m",
            "budgets": [{"nodes": "1"}],
        }

    @pytest.mark.parametrize(("grace", "period"), [(0, "30m"), (1800, "30m"), (1801, "31m"), (7200, "120m")])
    def test_drains_last_as_long_as_the_pods_need(self, grace: int, period: str) -> None:
        pool = general_pool(GeneralPool(), self.WHERE, grace)
        assert pool["spec"]["template"]["spec"]["terminationGracePeriod"] == period

    def test_its_nodes_are_made_as_the_others_are(self) -> None:
        made = general_class(self.WHERE, Surroundings(["subnet-1"], ["sg-1"], "nodes", {"team": "a"}))
        (plan,) = groups(flavor("m7i.2xlarge", {"cpu": "1"})).values()
        same = ("amiSelectorTerms", "metadataOptions", "kubelet", "role", "tags", "subnetSelectorTerms")
        assert {key: made["spec"][key] for key in same} == {key: spec_of(plan)[key] for key in same}
        assert made["metadata"]["name"] == general_pool(GeneralPool(), self.WHERE)["metadata"]["name"]

    @pytest.mark.parametrize(("most", "arch", "name"), [(64, "amd64", "r7i.16xlarge"), (8, "arm64", "r7g.2xlarge")])
    def test_the_largest_pod_that_it_takes(self, most: int, arch: str, name: str) -> None:
        node = largest(GeneralPool(arch=arch, max_vcpus=most))
        assert node is not None
        assert node.name == name
