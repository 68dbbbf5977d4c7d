"""What a run is measured by, and what a replica costs."""

from decimal import Decimal
from fractions import Fraction

import pytest

from components.fleet.demand import NodeChoice, PodDemand
from components.performance.simulation.prices import replica_price
from components.performance.simulation.runs import Pass, ScalingRun, measure
from components.performance.simulation.trace import Moment, TargetReading

HOUR = 3_600_000
GPU = "nvidia.com/gpu"


def run(*replicas: dict[str, int], start: dict[str, int], step: int = HOUR) -> ScalingRun:
    return ScalingRun("x", start, [Pass(place * step, each, None) for place, each in enumerate(replicas)])


def moments(*loads: int, step: int = HOUR) -> list[Moment]:
    return [
        Moment(place * step, {"a": TargetReading({"q": Fraction(load)}), "b": TargetReading({"q": Fraction(load)})})
        for place, load in enumerate(loads)
    ]


def test_measures() -> None:
    """Two targets for three hours; 20 of the metric are too much for 1 replica, and not for 4 and 5."""
    made = run({"a": 1, "b": 0}, {"a": 3, "b": 1}, {"a": 4, "b": 1}, start={"a": 1, "b": 1})
    found = measure(made, moments(10, 20, 25), {"q": Fraction(10)}, {"a": Decimal("2.50"), "b": Decimal(1)})
    assert found.hours == {"a": Decimal(8), "b": Decimal(2)}
    assert found.usd == {"a": Decimal(20), "b": Decimal(2)}
    assert (found.total_hours, found.total_usd) == (Decimal(10), Decimal(22))
    assert found.above == Decimal(3600)
    assert (found.changes, found.peak) == (4, 5)


def test_the_last_pass_holds_as_long_as_the_one_before() -> None:
    made = run({"a": 2}, {"a": 4}, start={"a": 2}, step=30_000)
    found = measure(made, moments(0, 0, step=30_000), {"q": Fraction(1)}, {})
    assert found.hours == {"a": Decimal("0.05")}


def test_a_single_pass_holds_for_15_seconds() -> None:
    found = measure(run({"a": 240}, start={"a": 240}), moments(0), {"q": Fraction(1)}, {})
    assert found.hours == {"a": Decimal(1)}


def test_without_a_price_there_is_no_cost() -> None:
    found = measure(run({"a": 1, "b": 1}, start={"a": 1, "b": 1}), moments(0), {}, {"a": Decimal(3600)})
    assert found.usd == {"a": Decimal(15), "b": None}
    assert found.total_usd is None
    assert found.as_dict()["usd"] is None


def test_load_without_replicas_is_above_the_target() -> None:
    found = measure(run({"a": 0}, start={"a": 0}), moments(1), {"q": Fraction(10)}, {})
    assert found.above == Decimal(15)


def demand(instance_type: str | None, count: int = 1, **requests: str) -> PodDemand:
    named = {name.replace("gpu", GPU): Decimal(value) for name, value in requests.items()}
    choices = (NodeChoice("c", instance_type), NodeChoice("d", "p5.48xlarge"))
    return PodDemand(1, named, choices, per_replica=count)


@pytest.mark.parametrize(
    ("demands", "expected"),
    [
        # g5.xlarge: 1.006 USD, 4 vCPU, 16 GiB, one A10G; g5.12xlarge: 5.672 USD with four.
        ([demand("g5.xlarge", gpu="1", cpu="3")], "1.006"),
        ([demand("g5.12xlarge", gpu="1", cpu="40")], "1.418"),
        ([demand("g5.12xlarge", gpu="8")], "5.672"),
        ([demand("g5.xlarge", 2, gpu="1"), demand("g5.12xlarge", 3, gpu="2")], "10.520"),
        # Without accelerators, 24 of 192 GiB, a larger share than 1 of 48 vCPU.
        ([demand("g5.12xlarge", cpu="1", memory=str(24 * 2**30))], "0.709"),
        # Of a node without accelerators, 2 vCPU and 8 GiB for 0.1008 USD, the larger share of the two; all, if
        # nothing is requested.
        ([demand("m7i.large", cpu="1")], "0.0504"),
        ([demand("m7i.large", cpu="0.5", memory=str(6 * 2**30))], "0.0756"),
        ([demand("m7i.large", cpu="3")], "0.1008"),
        ([demand("m7i.large")], "0.1008"),
        ([demand(None, gpu="1")], None),
        ([demand("nosuch.large", gpu="1")], None),
        ([demand("g5.xlarge", gpu="1"), demand(None)], None),
        ([PodDemand(1, {}, ())], None),
    ],
)
def test_price_of_a_replica(demands: list[PodDemand], expected: str | None) -> None:
    assert replica_price(demands) == (None if expected is None else Decimal(expected))
