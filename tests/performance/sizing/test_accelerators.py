"""Accelerators by name: prices are those of the EC2 table, devices those that nodes carry."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.fleet.cloud_facts import CloudFacts
from components.fleet.clouds import register, unregister
from components.fleet.instances import instance, instances
from components.performance.sizing.accelerators import hourly_cents, known_accelerator


@pytest.mark.parametrize(
    ("name", "node", "cents"),
    [
        # On-demand prices in us-east-1, 2026-07-20 (aws-gpu spec 1), in cents, of the cheapest type with a whole one.
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
    listed = {node.family for name in names for node in (known_accelerator(name) or pytest.fail(name)).types}
    there = {node.family for node in instances().values() if node.accelerators}
    assert there == listed | fractions | without_name


def test_general_purpose_nodes_have_no_price_for_an_accelerator() -> None:
    node = instance("m7i.large")
    assert node
    assert hourly_cents(node) is None


def test_parts_of_an_accelerator_are_not_the_accelerator() -> None:
    known, part, whole = known_accelerator("L4"), instance("g6f.large"), instance("gr6.4xlarge")
    assert known
    assert part
    assert whole
    assert (known.is_on(part), known.is_on(whole)) == (False, True)
    assert (part.accelerator, known.product(part), known.product(whole)) == ("L4", "", "NVIDIA-L4")


def test_the_memory_tells_two_sizes_apart() -> None:
    small, large = instance("p4d.24xlarge"), instance("p4de.24xlarge")
    assert small
    assert large
    names = {"A100": (True, True), "A100-40GB": (True, False), "A100-80GB": (False, True)}
    found = {name: known_accelerator(name) or pytest.fail(name) for name in names}
    assert {name: (each.is_on(small), each.is_on(large)) for name, each in found.items()} == names
    by_product = known_accelerator("NVIDIA-A100-SXM4-80GB")
    assert by_product
    assert by_product.name == "A100-80GB"


def test_accelerators_of_another_cloud_are_known_by_their_vendors_name() -> None:
    h100 = instance("p5.48xlarge")
    assert h100
    toy = replace(h100, name="toy-8x", family="toy", usd_per_hour=Decimal(8), product="NVIDIA-H100-TOY")
    register("toy", lambda: CloudFacts(instances=(toy,)))
    try:
        known = known_accelerator("H100")
        assert known
        assert known.cheapest() == toy
        assert known.product(toy) == "NVIDIA-H100-TOY"
        assert known_accelerator("NVIDIA-H100-TOY") == known_accelerator("NVIDIA-H100-80GB-HBM3") == known
    finally:
        unregister("toy")
    assert known_accelerator("NVIDIA-H100-TOY") is None


@pytest.mark.parametrize("name", ["Tesla-V100-SXM2-16GB", "Tesla-V100-SXM2-32GB"])
def test_a_product_is_no_name_of_accelerators_of_several_sizes(name: str) -> None:
    assert known_accelerator(name) is None
    assert known_accelerator("V100")
