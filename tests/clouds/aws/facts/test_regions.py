"""Where types are offered, held against aws-gpu spec section 3 (offerings of 2026-08-01)."""

import pytest

from components.clouds.aws.facts.regions import regions, regions_of
from components.fleet.instances import instances

SPEC = {
    "g5.xlarge": "ap-northeast-1 sa-east-1 us-east-1 us-east-2 us-west-2 il-central-1 eu-west-3",
    "g5g.metal": "ap-southeast-3 us-east-1 us-west-2",
    "g6e.48xlarge": "ap-northeast-3 eu-central-1 eu-south-2 me-central-1 us-east-1 us-west-2",
    "g7.48xlarge": "us-east-1 us-east-2 us-west-2",
    "p4de.24xlarge": "ap-northeast-1 ap-southeast-1 eu-central-1 il-central-1 us-east-1 us-west-2",
    "p5.48xlarge": "ap-south-1 ca-central-1 eu-north-1 us-east-1 us-west-1 us-west-2",
    "p5e.48xlarge": "ap-southeast-2 ap-southeast-3 eu-north-1 eu-west-2 sa-east-1 us-east-2 us-west-2",
    "p6-b200.48xlarge": "ap-south-1 us-east-1 us-east-2 us-west-2",
    "p6-b300.48xlarge": "us-east-1 us-west-2",
    "inf2.xlarge": "ap-northeast-2 us-east-1",
    "trn1.32xlarge": "ap-south-1 ap-southeast-2 ap-southeast-4 us-east-1 us-east-2 us-west-2",
    "trn2.48xlarge": "us-east-2",
    "p3dn.24xlarge": "ap-northeast-1 eu-west-1 us-east-1 us-west-2",
}


@pytest.mark.parametrize("name", SPEC)
def test_types_are_where_the_spec_has_them(name: str) -> None:
    assert set(SPEC[name].split()) <= (regions_of(name) or set())


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("p5e.48xlarge", "us-east-1"),
        ("trn2.48xlarge", "us-east-1"),
        ("g7.2xlarge", "eu-west-1"),
        ("g5.xlarge", "us-west-1"),
    ],
)
def test_types_are_not_where_they_are_not(name: str, region: str) -> None:
    assert region not in (regions_of(name) or {region})


@pytest.mark.parametrize("name", ["p3.2xlarge", "p3.8xlarge", "p3.16xlarge", "dl1.24xlarge"])
def test_retired_types_are_nowhere(name: str) -> None:
    assert regions_of(name) == frozenset()


def test_every_accelerated_type_has_a_row_and_no_other() -> None:
    accelerated = {name for name, node in instances().items() if node.accelerators}
    assert {name for name in instances() if regions_of(name) is not None} == accelerated
    assert len(accelerated) == 87


def test_general_purpose_types_are_not_judged() -> None:
    assert regions_of("m7i.large") is None


def test_regions_are_those_of_the_spec() -> None:
    assert {"us-east-1", "eu-central-1", "ap-southeast-5", "mx-nowhere-1"} - regions() == {"mx-nowhere-1"}
