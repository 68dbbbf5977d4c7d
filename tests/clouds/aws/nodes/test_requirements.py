"""Requirements of NodePools and the instance types that they allow, by Karpenter's documentation of its labels."""

from typing import Any

import pytest

from components.clouds.aws.nodes.requirements import most_of, pool_requirements
from components.fleet.instances import instance

AWS, AUTO = "karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-"
TYPE, CAPACITY, ZONE = "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type", "topology.kubernetes.io/zone"
REGION = "us-east-1"
ONE_A10G = ["g5.16xlarge", "g5.2xlarge", "g5.4xlarge", "g5.8xlarge", "g5.xlarge"]


def of(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": [*values]} if values else {"key": key, "operator": operator}


@pytest.mark.parametrize(
    ("requirements", "types"),
    [
        ([of(TYPE, "In", "g5.xlarge", "g6.xlarge")], ["g5.xlarge", "g6.xlarge"]),
        ([of(f"{AWS}family", "In", "g5"), of(f"{AWS}gpu-count", "In", "1")], ONE_A10G),
        ([of(f"{AUTO}family", "In", "g5"), of(f"{AUTO}gpu-count", "Lt", "2")], ONE_A10G),
        ([of(f"{AWS}gpu-name", "In", "a10g"), of(f"{AWS}gpu-count", "Gt", "4")], ["g5.48xlarge"]),
        ([of(f"{AWS}family", "In", "g5"), of(f"{AWS}cpu", "Gt", "96")], ["g5.48xlarge"]),
        (
            [of(f"{AWS}family", "In", "g5"), of(f"{AWS}memory", "Lt", "32768")],
            ["g5.xlarge"],
        ),  # MiB; 2xlarge has 32 GiB
        ([of(f"{AWS}family", "In", "g5"), of(f"{AWS}memory", "Lte", "32768")], ["g5.2xlarge", "g5.xlarge"]),
        (
            [of(f"{AWS}category", "In", "g"), of(f"{AWS}generation", "In", "5"), of(f"{AWS}size", "In", "xlarge")],
            ["g5.xlarge", "g5g.xlarge"],
        ),
        (
            [
                of(f"{AWS}category", "In", "g"),
                of(f"{AWS}generation", "In", "5"),
                of(f"{AWS}size", "In", "xlarge"),
                of("kubernetes.io/arch", "In", "arm64"),
            ],
            ["g5g.xlarge"],
        ),
        ([of(TYPE, "In", "g5.xlarge", "g6.xlarge"), of(TYPE, "NotIn", "g6.xlarge")], ["g5.xlarge"]),
        ([of(TYPE, "In", "g5.xlarge", "m7i.large"), of(f"{AWS}gpu-name", "Exists")], ["g5.xlarge"]),
        ([of(TYPE, "In", "g5.xlarge", "m7i.large"), of(f"{AWS}gpu-name", "DoesNotExist")], []),
        ([of(f"{AWS}category", "In", "c", "m", "r"), of(f"{AWS}generation", "Gt", "4")], []),
        ([of(f"{AWS}gpu-manufacturer", "In", "nvidia"), of(f"{AWS}family", "In", "p5en")], ["p5en.48xlarge"]),
        ([of(f"{AWS}accelerator-manufacturer", "In", "aws"), of(f"{AWS}family", "In", "inf2", "g5")], None),
    ],
)
def test_types(requirements: list[dict[str, Any]], types: list[str] | None) -> None:
    found = pool_requirements(requirements, REGION)
    assert found.unresolved == ()
    names = [node.name for node in found.types]
    if types is None:
        assert names
        assert {name.partition(".")[0] for name in names} == {"inf2"}
    else:
        assert names == types


def test_types_that_the_region_does_not_offer_are_left_out() -> None:
    family = [of(f"{AWS}family", "In", "p5en")]
    assert pool_requirements(family, "us-east-1").types
    assert pool_requirements(family, "eu-south-1").types == ()


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        (
            of(f"{AWS}network-bandwidth", "Gt", "5000"),
            f"{AWS}network-bandwidth: the table of instance types does not",
        ),
        (of(f"{AUTO}hypervisor", "In", "nitro"), f"{AUTO}hypervisor: the table of instance types does not"),
        (of(TYPE, "In", "g5.xlarge", "g99.xlarge"), f"{TYPE}: unknown instance types g99.xlarge"),
        (of(f"{AWS}cpu", "Gt", "many"), f"{AWS}cpu: the operator Gt with many is unknown"),
        (of(f"{AWS}cpu", "About", "4"), f"{AWS}cpu: the operator About with 4 is unknown"),
    ],
)
def test_what_is_not_known_is_reported(requirement: dict[str, Any], reason: str) -> None:
    (found,) = pool_requirements([of(f"{AWS}family", "In", "g5"), requirement], REGION).unresolved
    assert found.startswith(reason)


def test_places_and_labels() -> None:
    found = pool_requirements(
        [
            of(TYPE, "In", "g5.xlarge"),
            of(CAPACITY, "In", "spot", "on-demand"),
            of(CAPACITY, "NotIn", "on-demand"),
            of(ZONE, "In", "us-east-1b", "us-east-1a"),
            of("topology.kubernetes.io/region", "In", REGION),
            of("kubernetes.io/os", "In", "linux"),
            of("eks.amazonaws.com/compute-type", "In", "auto"),
            of("example.com/team", "In", "chat"),
            of("example.com/tier", "In", "a", "b"),
            of("example.com/any", "Exists"),
        ],
        REGION,
    )
    assert [node.name for node in found.types] == ["g5.xlarge"]
    assert (found.capacities, found.zones) == (("spot",), ("us-east-1a", "us-east-1b"))
    assert found.labels == {"example.com/team": "chat"}
    assert (found.open, found.unresolved) == (("example.com/tier", "example.com/any"), ())


def test_general_purpose_types_are_told_apart() -> None:
    assert pool_requirements([of(TYPE, "In", "m7i.large")], REGION).others
    assert not pool_requirements([of(TYPE, "In", "g5.xlarge")], REGION).others


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({}, None),
        ({"cpu": 100}, 2),  # of 48 vCPUs
        ({"nvidia.com/gpu": 10, "cpu": 1000}, 2),  # of 4 GPUs
        ({"memory": 3 * 192 * 2**30, "nodes": 2}, 2),
        ({"cpu": 40}, 0),
        ({"amd.com/gpu": 1}, None),
    ],
)
def test_limits_of_a_pool_are_nodes(limits: dict[str, int], most: int | None) -> None:
    node = instance("g5.12xlarge")
    assert node is not None
    assert most_of(node, limits) == most
