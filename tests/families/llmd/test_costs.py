"""What an accelerator costs: settings, else the nodes of what runs on it, else the cheapest nodes with one."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.families.llmd.costs import UnitCost, conflicting, unit_cost
from components.fleet.demand import NodeChoice, PodDemand
from components.fleet.levels import Accelerator, ServiceLevels
from components.fleet.workloads import Workload
from tests.families.llmd.support import of_lws
from tests.fleets import fleet_of, workload_of

NOTHING = ServiceLevels()


def on(*types: str) -> Workload:
    """A workload with pods that may be on some instance types, in order of preference."""
    choices = tuple(NodeChoice("flavor", name) for name in types)
    workload = workload_of(fleet_of(*of_lws()).rendered[0])
    return replace(workload, pods=(PodDemand(1, {"nvidia.com/gpu": Decimal(1)}, choices),))


def stated(**fields: str | Decimal) -> ServiceLevels:
    return ServiceLevels(accelerators={"L4": Accelerator(**fields)})  # type: ignore[arg-type]


PRICED = stated(cents_per_hour=Decimal("12.5"))


class TestWhereThePriceIsFrom:
    @pytest.mark.parametrize(
        ("accelerator", "levels", "types", "cents", "source"),
        [
            # aws-gpu spec 1: g6.xlarge $0.8048 with one L4, g6.12xlarge $4.6016 with four.
            ("L4", NOTHING, (), "80.48", "g6.xlarge at $0.8048/h, the cheapest with it"),
            ("L4", NOTHING, ("g6.12xlarge",), "115.04", "g6.12xlarge at $4.6016/h"),
            ("L4", NOTHING, ("g6.2xlarge", "g6.12xlarge"), "97.76", "g6.2xlarge at $0.9776/h"),
            # Of several types of nodes those that have it; the first choice may be another accelerator.
            ("L4", NOTHING, ("g5.xlarge", "g6.2xlarge"), "97.76", "g6.2xlarge at $0.9776/h"),
            # No node that it may be on has it: what else could it be but the cheapest.
            ("L4", NOTHING, ("g5.xlarge",), "80.48", "g6.xlarge at $0.8048/h, the cheapest with it"),
            (
                "L4",
                stated(cents_per_hour=Decimal("12.5")),
                ("g6.12xlarge",),
                "12.50",
                "serviceLevels.accelerators[L4]",
            ),
            ("L4", stated(cents_per_hour=Decimal(0)), (), "0.00", "serviceLevels.accelerators[L4]"),
            # A device alone is no price.
            ("L4", stated(device="own"), (), "80.48", "g6.xlarge at $0.8048/h, the cheapest with it"),
            # p4d.24xlarge $21.957642 with eight: 274.470525 cents.
            ("A100", NOTHING, (), "274.47", "p4d.24xlarge at $21.957642/h, the cheapest with it"),
            ("A100", NOTHING, ("p4de.24xlarge",), "343.09", "p4de.24xlarge at $27.44705/h"),
            ("4xA100", NOTHING, (), "1097.88", "p4d.24xlarge at $21.957642/h, the cheapest with it"),
            # A name that is nobody's but the team's own: the nodes tell the price all the same.
            ("ours", NOTHING, ("g6.12xlarge",), "115.04", "g6.12xlarge at $4.6016/h"),
            # p5e has no price, p5en has one with the same accelerator.
            ("H200", NOTHING, ("p5e.48xlarge",), "791.20", "p5en.48xlarge at $63.296/h, the cheapest with it"),
        ],
    )
    def test_is(
        self, accelerator: str, levels: ServiceLevels, types: tuple[str, ...], cents: str, source: str
    ) -> None:
        cost = unit_cost(accelerator, levels, on(*types) if types else None)
        assert cost
        assert (cost.text, cost.source) == (cents, source)

    @pytest.mark.parametrize("accelerator", ["MI300X", "G2", "ours", "", "L4\n", "${X}"])
    def test_nothing_tells_it(self, accelerator: str) -> None:
        assert unit_cost(accelerator, NOTHING) is None

    def test_a_node_that_is_not_known(self) -> None:
        assert unit_cost("ours", NOTHING, on("x9.large")) is None


class TestDevices:
    @pytest.mark.parametrize(
        ("accelerator", "levels", "types", "device"),
        [
            ("A100", NOTHING, (), "NVIDIA-A100-SXM4-40GB"),
            ("A100", NOTHING, ("p4de.24xlarge",), "NVIDIA-A100-SXM4-80GB"),
            ("L4", stated(device="own"), ("g6.xlarge",), "own"),
        ],
    )
    def test_are(self, accelerator: str, levels: ServiceLevels, types: tuple[str, ...], device: str) -> None:
        cost = unit_cost(accelerator, levels, on(*types) if types else None)
        assert cost
        assert cost.device == device


class TestOnePriceForAName:
    def test_two_prices(self) -> None:
        cheap, dear = UnitCost("L4", Decimal(80), "g6.xlarge at $0.8/h"), UnitCost("L4", Decimal(115), "g6.12xlarge")
        ((who, reason),) = conflicting([("a", cheap), ("b", dear), ("c", cheap)])
        assert who == "b"
        assert "115.00 cents an hour here (g6.12xlarge), but 80.00 for a (g6.xlarge at $0.8/h)" in reason
        assert "serviceLevels.accelerators[L4].centsPerHour" in reason

    def test_two_names(self) -> None:
        costs = [("a", UnitCost("L4", Decimal(80), "")), ("b", UnitCost("L40S", Decimal(115), ""))]
        assert list(conflicting(costs)) == []

    def test_what_rounds_to_one_price_is_one(self) -> None:
        """The ConfigMap has two decimals."""
        costs = [("a", UnitCost("A100", Decimal("274.4705"), "")), ("b", UnitCost("A100", Decimal("274.4749"), ""))]
        assert list(conflicting(costs)) == []
