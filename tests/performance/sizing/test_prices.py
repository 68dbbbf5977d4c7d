"""What an accelerator costs for a replica with several of them: an instance has to have so many."""

from decimal import Decimal

import pytest

from components.fleet.instances import instances
from components.fleet.levels import Accelerator, ServiceLevels
from components.performance.sizing.accelerators import AcceleratorPrice, accelerator_price

NOTHING = ServiceLevels()
# On demand in us-east-1, divided by hand.
CHEAPEST = [
    ("L40S", 1, "186.1", "g6e.xlarge at $1.861/h, the cheapest with it"),
    ("L40S", 2, "262.316", "g6e.12xlarge at $10.49264/h, the cheapest with it"),  # for 4
    ("L4", 8, "166.88", "g6.48xlarge at $13.3504/h, the cheapest with it"),
    ("H100", 1, "688", "p5.4xlarge at $6.88/h, the cheapest with it"),  # no dearer than one of eight
    ("H100", 4, "688", "p5.48xlarge at $55.04/h, the cheapest with it"),
    ("2xL4", 2, "230.08", "g6.12xlarge at $4.6016/h, the cheapest with it"),  # four of them, the name stands for two
]


@pytest.mark.parametrize(("name", "count", "cents", "source"), CHEAPEST)
def test_the_cheapest_instance_with_enough(name: str, count: int, cents: str, source: str) -> None:
    assert accelerator_price(name, NOTHING, count=count) == AcceleratorPrice(Decimal(cents), source)


@pytest.mark.parametrize(("name", "count"), [("MI300X", 1), ("Trainium2", 1), ("H100", 9), ("2xL4", 5), ("ours", 1)])
def test_what_no_priced_instance_has(name: str, count: int) -> None:
    assert accelerator_price(name, NOTHING, count=count) is None


def test_the_nodes_that_it_is_on_tell_more_than_the_cheapest() -> None:
    known = instances()
    nodes = [known["g5.xlarge"], known["g6.12xlarge"], known["g6.xlarge"]]
    assert accelerator_price("L4", NOTHING, nodes) == AcceleratorPrice(Decimal("115.04"), "g6.12xlarge at $4.6016/h")


def test_settings_count_more() -> None:
    levels = ServiceLevels(accelerators={"L4": Accelerator(Decimal(12))})
    price = AcceleratorPrice(Decimal(12), "serviceLevels.accelerators[L4]")
    assert accelerator_price("L4", levels, [instances()["g6.xlarge"]]) == price
