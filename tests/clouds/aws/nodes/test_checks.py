"""What is refused before anything is created, each with a remedy (aws-gpu spec 18)."""

import datetime
from dataclasses import replace
from typing import Any

import pytest

from components.clouds.aws.nodes.checks import check_nodes, similar
from components.clouds.aws.nodes.plan import node_plan
from components.fleet.instances import instance
from components.fleet.nodes.fit import fit
from components.fleet.nodes.policy import Capacity, Reservation, TypePolicy
from tests.clouds.aws.environments import BLOCK, HELD, NOW, ZONES, environment, flavor, one, problems, small
from tests.fleets import fleet_of, open_model

P5 = {"nvidia.com/gpu": 8}


def said(*flavors: Any, severity: str = "error", **changes: Any) -> list[str]:
    where = environment(**changes)
    return [str(problem) for problem in problems(one(*flavors, where=where), where, severity)]


class TestFlavors:
    """What is wrong with a flavor is reported at the model that claims it."""

    @pytest.mark.parametrize(
        ("region", "hint"),
        [
            ("us-easst-1", "; did you mean 'us-east-1'?"),
            ("us-east-9", "; did you mean 'us-east-"),
            ("zz-nowhere-1", "; known regions: af-south-1, "),
        ],
    )
    def test_an_unknown_region_is_one_error(self, region: str, hint: str) -> None:
        where = environment(region=region, types={"g5.xlarge": TypePolicy(alternatives=("g5.2xlarge", "g5.4xlarge"))})
        fleet = one(flavor("g5.xlarge"), flavor("g6.xlarge", name="g"), where=where)
        (problem,) = problems(fleet, where)
        text = str(problem)
        assert text.startswith(
            f"Pulumi.dev.yaml: region: no region that is known to offer accelerators has the name '{region}'"
        )
        assert hint in text

    def test_a_region_that_only_lacks_types_is_said_for_each(self) -> None:
        texts = said(flavor("p5e.48xlarge"), flavor("p5en.48xlarge", name="g"), region="af-south-1")
        assert len(texts) == 2
        assert all("is not offered in af-south-1" in text for text in texts)

    def test_nothing_is_known_of_regions_without_accelerators(self) -> None:
        assert said(flavor("m7i.large", {"cpu": "1"}), region="mx-central-1") == []

    @pytest.mark.parametrize(
        ("kind", "region", "expected"),
        [
            ("p5e.48xlarge", "us-east-1", "p5e.48xlarge is not offered in us-east-1, only in ap-southeast-2"),
            (
                "g7.2xlarge",
                "us-east-1",
                "AWS has no EKS image (al2023) for g7.2xlarge: it requires NVIDIA driver 595",
            ),
            ("p3.2xlarge", "us-east-1", "is no longer offered in any region"),
        ],
    )
    def test_types_that_cannot_be_had(self, kind: str, region: str, expected: str) -> None:
        (text,) = said(flavor(kind), region=region)
        assert expected in text
        assert text.startswith("fleet.yaml:")
        assert "Playground/p: spec.modelClaim.modelName: flavor 'f' of OpenModel 'm'" in text

    def test_types_that_can_be_had(self) -> None:
        assert said(flavor("p5.48xlarge", P5)) == []

    def test_an_unknown_type_comes_with_the_nearest_names(self) -> None:
        (problem,) = fit(one(flavor("g5.xlarg")))
        assert "INSTANCE-TYPE 'g5.xlarg' is not a known instance type; did you mean g5.xlarge, " in problem.reason

    def test_more_than_the_instance_has(self) -> None:
        (problem,) = fit(one(flavor("g5.12xlarge", {"nvidia.com/gpu": 5})))
        assert "requests 5 nvidia.com/gpu, but g5.12xlarge has only 4" in problem.reason

    @pytest.mark.parametrize(
        ("kind", "count", "expected"),
        [
            ("g5.xlarge", 1, "g5.xlarge has no EFA; the cheapest type with that many is "),
            ("p4d.24xlarge", 5, "p4d.24xlarge has 4 EFA interfaces"),
            ("p5.48xlarge", 33, "no instance type has more than 32"),
        ],
    )
    def test_efa_on_a_type_without_it(self, kind: str, count: int, expected: str) -> None:
        limits = {"nvidia.com/gpu": 1, "vpc.amazonaws.com/efa": count}
        (problem,) = fit(one(flavor(kind, limits)))
        assert f"requests {count} vpc.amazonaws.com/efa, but {kind} has" in problem.reason
        assert expected in problem.reason

    def test_a_zone_without_subnets(self) -> None:
        (text,) = said(flavor("g5.xlarge", topology_kubernetes_io__zone="us-east-1f"))
        assert (
            "selects zone us-east-1f, but the nodes of this environment are in us-east-1a, us-east-1b; use "
            "one of these zones"
        ) in text

    @pytest.mark.parametrize(
        ("selector", "provisioner", "expected"),
        [
            ({"kubernetes_io__arch": "arm64"}, "managed", "kubernetes.io/arch: arm64, but its nodes have amd64"),
            ({"node-role_kubernetes_io__gpu": "x"}, "managed", "which EKS does not allow anyone to set"),
            ({"eks_amazonaws_com__nodegroup": "x"}, "managed", "which EKS does not allow anyone to set"),
            ({"node-role_kubernetes_io__gpu": "x"}, "karpenter", "which Karpenter does not allow anyone to set"),
            ({"eks_amazonaws_com__capacityType": "SPOT"}, "karpenter", "use karpenter.sh/capacity-type instead"),
            ({"team": ""}, "managed", "EKS allows keys and values of 1 to 63 characters"),
        ],
    )
    def test_labels_that_no_node_can_have(self, selector: Any, provisioner: str, expected: str) -> None:
        (text,) = said(flavor("g5.xlarge", **selector), provisioner=provisioner)
        assert expected in text

    @pytest.mark.parametrize("provisioner", ["managed", "karpenter"])
    def test_labels_that_nodes_can_have(self, provisioner: str) -> None:
        selector: Any = {"kubernetes_io__arch": "amd64", "team": "chat", "karpenter_sh__capacity-type": "spot"}
        assert said(flavor("g5.xlarge", **selector), provisioner=provisioner) == []

    def test_karpenter_does_not_place_parts_of_a_gpu(self) -> None:
        (text,) = said(flavor("g6f.xlarge"), provisioner="karpenter")
        assert "Karpenter does not place pods on g6f.xlarge" in text
        assert said(flavor("g6f.xlarge")) == []

    def test_reserved_capacity_needs_a_reservation(self) -> None:
        (text,) = said(
            flavor("p5.48xlarge", P5, **{"karpenter_sh__capacity-type": "reserved"}), provisioner="karpenter"
        )
        assert "set gpuNodes.types.p5.48xlarge.reservation: {id: cr-..., zone: ..., count: ...}" in text

    def test_unknown_capacity(self) -> None:
        selector: Any = {"karpenter_sh__capacity-type": "cheap"}
        (text,) = said(flavor("g5.xlarge", **selector), provisioner="karpenter")
        assert "selects unknown capacity 'cheap'; use one of on-demand, spot, odcr, capacity-block" in text


class TestReservations:
    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            (
                {"reservation": replace(BLOCK, starts=NOW - datetime.timedelta(9), ends=NOW - datetime.timedelta(1))},
                "expired at 2026-11-20 12:00 UTC (now 2026-11-21 12:00)",
            ),
            (
                {"reservation": BLOCK, "zones": ZONES},
                "is in us-east-1b, but zones is us-east-1a, us-east-1b",
            ),
            (
                {"reservation": replace(BLOCK, zone="us-east-1f")},
                "is in us-east-1f, where the environment has no",
            ),
            ({"reservation": replace(BLOCK, starts=None)}, "set starts and ends"),
            ({"reservation": replace(BLOCK, starts=BLOCK.ends)}, "must start before it ends"),
            (
                {"reservation": replace(BLOCK, id="arn:aws:x:group/y")},
                "must have the ID of a Capacity Block (cr-...)",
            ),
            ({}, "is required with capacity capacity-block"),
        ],
    )
    def test_a_capacity_block_that_cannot_be(self, rule: dict[str, Any], expected: str) -> None:
        types = {"p5.48xlarge": TypePolicy(capacity=Capacity.CAPACITY_BLOCK, **rule)}
        texts = said(flavor("p5.48xlarge", P5), types=types)
        assert any(expected in t and "Pulumi.dev.yaml: gpuNodes.types.p5.48xlarge.reservation: " in t for t in texts)

    def test_capacity_blocks_are_not_sold_for_every_type(self) -> None:
        types = {"g5.48xlarge": TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)}
        (text,) = said(flavor("g5.48xlarge", P5), types=types)
        assert (
            "Capacity Blocks are not available for g5.48xlarge; use an On-Demand Capacity Reservation: capacity: odcr"
        ) in text

    @pytest.mark.parametrize(
        "rule", [{"capacity": "capacity-block", "reservation": BLOCK}, {"capacity": "odcr", "reservation": HELD}]
    )
    def test_reservations_that_can_be(self, rule: dict[str, Any]) -> None:
        assert said(flavor("p5.48xlarge", P5), types={"p5.48xlarge": TypePolicy(**rule)}) == []

    def test_a_reservation_without_a_capacity_kind_would_not_be_used(self) -> None:
        (text,) = said(flavor("p5.48xlarge", P5), types={"p5.48xlarge": TypePolicy(reservation=HELD)})
        assert "set capacity: odcr or capacity-block" in text

    def test_resource_groups_are_for_managed_groups(self) -> None:
        group = Reservation("arn:aws:resource-groups:us-east-1:1:group/p5", "us-east-1b", 2)
        types = {"p5.48xlarge": TypePolicy(capacity=Capacity.ODCR, reservation=group)}
        assert said(flavor("p5.48xlarge", P5), types=types) == []
        (text,) = said(flavor("p5.48xlarge", P5), types=types, provisioner="karpenter")
        assert "must have the ID of a reservation (cr-...) with Karpenter" in text


NEXT = replace(BLOCK, id="cr-0c2d", starts=BLOCK.ends, ends=NOW + datetime.timedelta(days=15))
KEY = "Pulumi.dev.yaml: gpuNodes.types.p5.48xlarge"


def of_blocks(first: Reservation, *others: Reservation, severity: str = "error", **changes: Any) -> list[str]:
    rule = TypePolicy(Capacity.CAPACITY_BLOCK, first, others)
    return said(flavor("p5.48xlarge", P5), severity=severity, types={"p5.48xlarge": rule}, **changes)


class TestBlocks:
    @pytest.mark.parametrize("provisioner", ["managed", "karpenter"])
    def test_blocks_that_follow_each_other(self, provisioner: str) -> None:
        assert of_blocks(BLOCK, NEXT, provisioner=provisioner) == []

    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            (replace(NEXT, zone="us-east-1f"), "cr-0c2d: is in us-east-1f, where the environment has no subnet"),
            (replace(NEXT, ends=None), "cr-0c2d: a Capacity Block has a start and an end"),
            (
                replace(NEXT, starts=NOW - datetime.timedelta(9), ends=NOW - datetime.timedelta(1)),
                "cr-0c2d: expired at 2026-11-20 12:00 UTC",
            ),
            (replace(NEXT, id="cr-0a1b"), "cr-0a1b: is named more than once"),
        ],
    )
    def test_next_blocks_that_cannot_be(self, block: Reservation, expected: str) -> None:
        texts = of_blocks(BLOCK, block)
        assert any(f"{KEY}.nextBlocks: {expected}" in text for text in texts)

    @pytest.mark.parametrize(
        "rule", [TypePolicy(Capacity.ODCR, HELD, (NEXT,)), TypePolicy(next_blocks=(NEXT,))], ids=["odcr", "on-demand"]
    )
    def test_next_blocks_of_other_capacity(self, rule: TypePolicy) -> None:
        (text,) = said(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule})
        assert f"{KEY}.nextBlocks: are the Capacity Blocks after that of reservation; set capacity" in text

    def test_the_nodes_of_a_block_that_runs_stay_as_they_are(self) -> None:
        """EKS user guide: the desired size must be 0 while the group is updated."""
        running = replace(BLOCK, starts=NOW - datetime.timedelta(hours=1))
        (text,) = of_blocks(running, NEXT, severity="note")
        assert f"{KEY}.reservation: cr-0a1b is active: until 2026-11-29 12:00 UTC its nodes keep their image" in text
        assert "pulumi up --replace" in text
        assert of_blocks(BLOCK, NEXT, severity="note") == []
        assert of_blocks(running, NEXT, severity="note", provisioner="karpenter") == []

    @pytest.mark.parametrize(("minutes", "late"), [(105, True), (106, False)])
    def test_a_block_that_ends_too_soon(self, minutes: int, *, late: bool) -> None:
        """EKS takes nodes 40 minutes before the end; ours come until 5 minutes earlier, and an update may take 60."""
        running = replace(BLOCK, starts=NOW - datetime.timedelta(1), ends=NOW + datetime.timedelta(minutes=minutes))
        texts = of_blocks(NEXT, running, severity="warning")
        assert any(f"{KEY}.nextBlocks: cr-0a1b ends at" in text for text in texts) == late

    def test_two_groups_of_one_block(self) -> None:
        types = {"p5.48xlarge": TypePolicy(Capacity.CAPACITY_BLOCK, BLOCK)}
        both = [flavor("p5.48xlarge", P5), flavor("p5.48xlarge", P5, name="g", pool="a")]
        (text,) = [each for each in said(*both, severity="warning", types=types) if "cr-0a1b" in each]
        assert "cr-0a1b is for 2 node groups (p5-48xlarge-" in text


A_BLOCK: dict[str, Any] = {"capacity": Capacity.CAPACITY_BLOCK, "reservation": BLOCK}


class TestTypes:
    @pytest.mark.parametrize(
        ("name", "rule", "key", "expected"),
        [
            ("g5.xlarg", {}, "", "unknown instance type 'g5.xlarg'; did you mean g5.xlarge"),
            ("g5.xlarge", {"efa": True, "zones": ("us-east-1a",)}, "efa", "no EFA; in its family, g5.12xlarge"),
            ("p5.48xlarge", {"efa": True}, "efa", "found us-east-1a, us-east-1b; set zones: [us-east-1a]"),
            ("p5.48xlarge", {"placement_group": True}, "efa", "must be in one zone"),
            ("g5.xlarge", {"alternatives": ("g5g.xlarge",)}, "spotTypes", "mixed architectures in one group"),
            ("g5.xlarge", {"alternatives": ("inf2.xlarge",)}, "spotTypes", "inf2.xlarge needs a different image"),
            ("g5.xlarge", {"alternatives": ("g5.xxl",)}, "spotTypes", "unknown instance type 'g5.xxl'"),
            ("g5.xlarge", {"alternatives": ("p5e.48xlarge",)}, "spotTypes", "p5e.48xlarge is not offered"),
            ("g5.xlarge", {"zones": ("us-east-1f",)}, "zones", "found us-east-1f"),
            ("g5.xlarge", {"min_nodes": 3, "max_nodes": 2}, "minNodes", "must not be above maxNodes (2), found 3"),
            ("p5.48xlarge", {**A_BLOCK, "placement_group": True}, "placementGroup", "not possible with a Capacity"),
            ("p5.48xlarge", {**A_BLOCK, "min_nodes": 1}, "minNodes", "all nodes of a Capacity Block run from its"),
            ("p5.48xlarge", {**A_BLOCK, "max_nodes": 1}, "maxNodes", "its start to its end (reservation: count)"),
        ],
    )  # fmt: skip
    def test_settings_that_cannot_be(self, name: str, rule: dict[str, Any], key: str, expected: str) -> None:
        where = environment(types={name: TypePolicy(**rule)})
        fleet = one(flavor("g6.xlarge"), where=where)
        texts = [str(problem) for problem in problems(fleet, where)]
        place = f"Pulumi.dev.yaml: gpuNodes.types.{name}{key and '.'}{key}: "
        assert any(t.startswith(place) and expected in t for t in texts), texts

    def test_pods_must_fit_what_is_taken_instead(self) -> None:
        rule = TypePolicy(alternatives=("g5.xlarge",))
        where = environment(capacity="spot", types={"g5.12xlarge": rule})
        (problem,) = fit(one(flavor("g5.12xlarge", {"nvidia.com/gpu": 4}), where=where))
        assert "requests 4 nvidia.com/gpu, but g5.xlarge has only 1" in problem.reason

    def test_spot_in_one_pool_is_warned_about_with_types_to_add(self) -> None:
        (text,) = said(flavor("g5.xlarge"), capacity="spot", severity="warning")
        assert "such as g5.2xlarge, g5.4xlarge, g5.8xlarge" in text
        more = {"g5.xlarge": TypePolicy(alternatives=("g5.2xlarge", "g5.4xlarge"))}
        assert said(flavor("g5.xlarge"), capacity="spot", types=more, severity="warning") == []

    def test_similar_types_have_the_same_accelerators(self) -> None:
        node = instance("g6.2xlarge")
        assert node is not None
        assert similar(node) == ["g6.4xlarge", "gr6.4xlarge", "g6.8xlarge", "gr6.8xlarge", "g6.16xlarge"]


class TestGroups:
    def fleet(self, count: int) -> Any:
        models = [open_model(f"m{i}", flavors=[flavor("g5.xlarge", pool=f"p{i}")]) for i in range(count)]
        return fleet_of(*models, *(small(f"p{i}", f"m{i}") for i in range(count)))

    def test_eks_allows_thirty(self) -> None:
        assert problems(self.fleet(30), environment()) == []
        (problem,) = problems(self.fleet(31), environment())
        assert problem.reason.startswith(
            "the models need 31 node groups, but EKS allows 30 per cluster: g5-xlarge-p0"
        )
        assert "provisioner: karpenter" in problem.reason

    def test_karpenter_has_no_such_limit(self) -> None:
        assert problems(self.fleet(31), environment(provisioner="karpenter")) == []

    def test_efa_groups_are_in_one_zone(self) -> None:
        limits = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}
        (text,) = said(flavor("p5.48xlarge", limits))
        assert "Pulumi.dev.yaml: gpuNodes.types.p5.48xlarge.zones: pods request EFA" in text
        assert said(flavor("p5.48xlarge", limits), zones=("us-east-1a",)) == []


def test_everything_is_reported_at_once() -> None:
    where = environment(
        region="us-east-1",
        types={
            "g5.xlarge": TypePolicy(efa=True, zones=("us-east-1a",), alternatives=("g5g.xlarge",)),
            "p5.48xlarge": TypePolicy(
                capacity=Capacity.CAPACITY_BLOCK,
                reservation=replace(BLOCK, ends=NOW - datetime.timedelta(1)),
                zones=ZONES,
            ),
        },
    )
    fleet = fleet_of(
        open_model("a", flavors=[flavor("p5e.48xlarge", P5)]),
        open_model("b", flavors=[flavor("g7.2xlarge")]),
        small("a", "a"),
        small("b", "b"),
    )
    texts = [p.reason for p in check_nodes(fleet, node_plan(fleet, where), where) if p.severity == "error"]
    for expected in (
        "not offered",
        "no EKS image",
        "no EFA",
        "mixed architectures",
        "expired",
        "is in us-east-1b, but zones is",
    ):
        assert any(expected in text for text in texts), expected
