"""How the range of a VPC is divided, and arguments of a network that are refused."""

import ipaddress
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.clouds.aws.subnets import MOST_ZONES, plan_subnets
from tests.resources.aws.networks import GIVEN, refused, zones

networks = st.integers(16, 21).flatmap(
    lambda prefix: st.integers(0, 2**prefix - 1).map(lambda n: ipaddress.IPv4Network((n << (32 - prefix), prefix)))
)


@given(networks, st.integers(2, MOST_ZONES))
def test_subnets_are_disjoint_and_inside_the_vpc(cidr: ipaddress.IPv4Network, count: int) -> None:
    plan = plan_subnets(str(cidr), zones(count))
    ranges = [ipaddress.IPv4Network(text) for one in plan for text in (one.private, one.public)]
    assert len(ranges) == 2 * count
    assert all(one.subnet_of(cidr) for one in ranges)
    assert not any(one.overlaps(other) for i, one in enumerate(ranges) for other in ranges[i + 1 :])
    assert all(one.prefixlen <= 27 for one in ranges)


@given(networks, st.integers(2, MOST_ZONES - 1))
def test_a_zone_appended_moves_no_other(cidr: ipaddress.IPv4Network, count: int) -> None:
    assert plan_subnets(str(cidr), zones(count + 1))[:-1] == plan_subnets(str(cidr), zones(count))


LETTERS = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=7, unique=True)


@given(networks, LETTERS, st.integers(2, 7), st.randoms())
def test_beside_a_control_plane_zones_come_go_and_change_places(
    cidr: ipaddress.IPv4Network, letters: list[str], first: int, chance: random.Random
) -> None:
    """A zone has the same ranges whichever others there are, in whichever order."""
    listed = [f"us-east-1{letter}" for letter in letters]
    control_plane, others = listed[:first], listed[first:]
    before = {one.zone: one for one in plan_subnets(str(cidr), listed, control_plane)}
    edited = [*control_plane, *(zone for zone in [*others, "us-east-1f"] if chance.random() < 0.5)]
    edited = list(dict.fromkeys(edited))
    chance.shuffle(edited)
    after = {one.zone: one for one in plan_subnets(str(cidr), edited, control_plane)}
    assert [one for zone, one in after.items() if zone in before and one != before[zone]] == []
    ranges = [ipaddress.IPv4Network(text) for one in after.values() for text in (one.private, one.public)]
    assert not any(one.overlaps(other) for i, one in enumerate(ranges) for other in ranges[i + 1 :])


@given(networks, st.integers(2, MOST_ZONES))
def test_naming_the_zones_of_the_control_plane_moves_none(cidr: ipaddress.IPv4Network, count: int) -> None:
    """Stacks that were made before it could be named: there it has all zones."""
    assert plan_subnets(str(cidr), zones(count), zones(count)) == plan_subnets(str(cidr), zones(count))


def test_a_zone_in_the_middle_has_the_place_of_its_letter() -> None:
    a, b, c, d = zones(4)
    ranges = {
        one.zone: (one.private, one.public) for one in plan_subnets("10.0.0.0/16", [d, a, c], control_plane=[a, c])
    }
    assert ranges == {
        a: ("10.0.0.0/19", "10.0.224.0/24"),
        c: ("10.0.32.0/19", "10.0.225.0/24"),
        d: ("10.0.96.0/19", "10.0.227.0/24"),
    }
    (private, public) = next(
        (one.private, one.public) for one in plan_subnets("10.0.0.0/16", [a, b, c, d], [a, c]) if one.zone == b
    )
    assert (private, public) == ("10.0.64.0/19", "10.0.226.0/24")


@pytest.mark.parametrize(
    ("first", "listed", "expected"),
    [
        (["us-east-1a"], zones(3), "found 1; EKS requires subnets in at least two zones"),
        (["us-east-1a", "us-east-1d"], zones(3), "us-east-1d: not in zones; EKS fixes the zones of a control"),
        (["us-east-1a", "us-east-1a"], zones(3), "'us-east-1a' is listed 2 times"),
    ],
)
def test_zones_of_a_control_plane_that_are_refused(first: list[str], listed: list[str], expected: str) -> None:
    found = refused(zones=listed, control_plane_zones=first)
    assert list(found) == ["control_plane_zones"]
    assert found["control_plane_zones"][0].startswith(expected)


def test_a_zone_without_a_place_is_refused() -> None:
    found = refused(zones=["us-east-1a", "us-east-1b", "us-east-1h"], control_plane_zones=zones(2))
    assert found == {
        "zones": [
            "us-east-1h: the range has room only for the zones a to g besides those of the control plane; remove it",
        ]
    }
    with pytest.raises(ValueError, match="no room for us-east-1h"):
        plan_subnets("10.0.0.0/16", ["us-east-1a", "us-east-1b", "us-east-1h"], zones(2))


@pytest.mark.parametrize(
    ("cidr", "private", "public"),
    [
        ("10.0.0.0/16", ["10.0.0.0/19", "10.0.32.0/19"], ["10.0.224.0/24", "10.0.225.0/24"]),
        ("10.0.8.0/21", ["10.0.8.0/24", "10.0.9.0/24"], ["10.0.15.0/27", "10.0.15.32/27"]),
    ],
)
def test_ranges_of_the_largest_and_the_smallest_vpc(cidr: str, private: list[str], public: list[str]) -> None:
    plan = plan_subnets(cidr, zones(2))
    assert [one.private for one in plan] == private
    assert [one.public for one in plan] == public


@pytest.mark.parametrize(("cidr", "count"), [("10.0.0.0/22", 2), ("10.0.0.0/15", 2), ("10.0.0.0/16", 8), ("x", 2)])
def test_no_plan_for_what_does_not_fit(cidr: str, count: int) -> None:
    with pytest.raises(ValueError, match=r"/16|at most"):
        plan_subnets(cidr, [str(index) for index in range(count)])


@pytest.mark.parametrize(
    ("cidr", "reason"),
    [
        ("10.0.0.1/16", "host bits"),
        ("10.0.0.0", "must be /16 to /28, as AWS requires"),
        ("10.0.0.0/8", "must be /16 to /28, as AWS requires"),
        ("10.0.0.0/29", "must be /16 to /28, as AWS requires"),
        ("10.0.0.0/22", "too small"),
        ("fd00::/56", "IPv4"),
        ("ten", "IPv4"),
    ],
)
def test_ranges_that_are_refused(cidr: str, reason: str) -> None:
    found = refused(zones=zones(2), cidr=cidr)
    assert list(found) == ["cidr"]
    assert repr(cidr) in found["cidr"][0]
    assert reason in found["cidr"][0]


def test_all_problems_are_reported_at_once() -> None:
    found = refused(
        cluster_name="-demo",
        zones=["us-east-1a", "us-east-1a", "eu-west-1a"],
        cidr="10.0.0.0/30",
        nat_gateways="two",
        interface_endpoints=["s3", "sts", "sts"],
        public_subnets={},
    )
    assert {path: len(reasons) for path, reasons in found.items()} == {
        "cluster_name": 1,
        "zones": 2,
        "cidr": 1,
        "nat_gateways": 1,
        "interface_endpoints": 2,
        "public_subnets": 1,
    }
    assert "one, per-zone, none" in found["nat_gateways"][0]
    assert any("'s3'" in reason and "ecr.api" in reason for reason in found["interface_endpoints"])


@pytest.mark.parametrize("count", [0, 1, 8])
def test_two_to_seven_zones(count: int) -> None:
    found = refused(zones=[f"us-east-1{letter}" for letter in "abcdefgh"[:count]])
    assert found["zones"][0].startswith(f"found {count}; ")


def test_an_empty_name_and_region_are_named() -> None:
    assert set(refused(cluster_name="", region="", zones=zones(2))) == {"cluster_name", "region"}
    assert set(refused(cluster_name="d" * 101, zones=zones(2))) == {"cluster_name"}


def test_an_existing_vpc_excludes_what_is_for_a_new_one() -> None:
    found = refused(
        vpc_id="net",
        zones=zones(2),
        nat_gateways="one",
        cidr="10.0.0.0/16",
        private_subnets={"us-east-1a": "subnet-1", "b": "sn-2"},
        public_subnets={"us-east-1a": "subnet-1"},
    )
    assert set(found) == {"vpc_id", "zones", "nat_gateways", "cidr", "private_subnets", "private_subnets[b]"}
    assert len(found["private_subnets"]) == 2


def test_an_existing_vpc_has_private_subnets_in_two_zones() -> None:
    assert set(refused(vpc_id="vpc-1", private_subnets={"us-east-1a": "subnet-1"})) == {"private_subnets"}


def test_interface_endpoints_need_the_range_of_an_existing_vpc() -> None:
    assert "is required with interface endpoints" in refused(**GIVEN, interface_endpoints=["sts"])["cidr"][0]
    assert "10.0.0.1/8" in refused(**GIVEN, interface_endpoints=["sts"], cidr="10.0.0.1/8")["cidr"][0]


def test_interface_endpoints_are_left_to_their_owner_in_china() -> None:
    found = refused(region="cn-north-1", zones=["cn-north-1a", "cn-north-1b"], interface_endpoints=["sts"])
    assert list(found) == ["interface_endpoints"]
