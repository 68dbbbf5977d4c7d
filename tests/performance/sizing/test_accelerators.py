"""Accelerators by name: prices are those of the EC2 table, devices those that nodes carry."""

from decimal import Decimal

import pytest

from components.fleet.instances import instance, instances
from components.performance.sizing.accelerators import hourly_cents, known_accelerator


@pytest.mark.parametrize(
    ("name", "node", "cents"),
    [
        # aws-gpu spec 1, column "USD/h per accel", in cents; the cheapest type that has a whole one.
        ("A100", "p4d.24xlarge", "274.470525"),
        ("A100-80GB", "p4de.24xlarge", "343.088125"),
        ("A10G", "g5.xlarge", "100.6"),
        ("H100", "p5.4xlarge", "688"),
        ("H200", "p5en.48xlarge", "791.2"),
        ("L4", "g6.xlarge", "80.48"),
        ("L40S", "g6e.xlarge", "186.1"),
        ("T4", "g4dn.xlarge", "52.6"),
    ],
)
def test_the_cheapest_instance_with_one_tells_the_price(name: str, node: str, cents: str) -> None:
    known = known_accelerator(name)
    assert known
    cheapest = known.cheapest()
    assert cheapest
    assert cheapest.name == node
    assert hourly_cents(cheapest) == Decimal(cents)


@pytest.mark.parametrize("name", ["MI300X", "G2"])
def test_what_ec2_does_not_offer_has_no_price(name: str) -> None:
    known = known_accelerator(name)
    assert known
    assert known.cheapest() is None


@pytest.mark.parametrize(
    ("name", "device"),
    [
        # Upstream's own samples (WVA spec 4), and the product that the driver names on EC2.
        ("MI300X", "AMD-MI300X-192GB"),
        ("G2", "Intel-Gaudi-2-96GB"),
        ("H100", "NVIDIA-H100-80GB-HBM3"),
        ("L4", "NVIDIA-L4"),
    ],
)
def test_the_device_is_the_product_of_the_nodes(name: str, device: str) -> None:
    known = known_accelerator(name)
    assert known
    assert known.product(known.cheapest()) == device


def test_the_device_follows_the_nodes() -> None:
    known, node = known_accelerator("A100"), instance("p4de.24xlarge")
    assert known
    assert node
    assert known.product(node) == "NVIDIA-A100-SXM4-80GB"


@pytest.mark.parametrize("name", ["h100", "H100-80GB", "NVIDIA-H100-80GB-HBM3", "nvidia_h100_80gb_hbm3"])
def test_names_are_read_as_people_write_them(name: str) -> None:
    known = known_accelerator(name)
    assert known
    assert known.name == "H100"


def test_several_under_one_name() -> None:
    known = known_accelerator("4xA100")
    assert known
    assert (known.name, known.count) == ("A100", 4)


@pytest.mark.parametrize("name", ["", "A1000", "0xA100", "x", "A100x", "{}", "a\nb", "100xA100"])
def test_other_names_are_unknown(name: str) -> None:
    assert known_accelerator(name) is None


def test_every_instance_with_whole_accelerators_is_in_the_table() -> None:
    """The table of names and the table of instances have to grow together."""
    fractions, without_name = {"g6f", "gr6f"}, {"g4ad"}
    names = [
        "A100",
        "A10G",
        "B200",
        "B300",
        "Gaudi",
        "H100",
        "H200",
        "Inferentia",
        "Inferentia2",
        "L4",
        "L40S",
        "RTX-PRO-4500",
        "RTX-PRO-6000",
        "T4",
        "T4G",
        "Trainium",
        "Trainium2",
        "V100",
    ]
    listed = {family for name in names for family in (known_accelerator(name) or pytest.fail(name)).families}
    there = {node.family for node in instances().values() if node.accelerators}
    assert there == listed | fractions | without_name


def test_general_purpose_nodes_have_no_price_for_an_accelerator() -> None:
    node = instance("m7i.large")
    assert node
    assert hourly_cents(node) is None
