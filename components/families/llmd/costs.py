"""What an accelerator costs: what settings say, else the price of the nodes, else that of the cheapest ones with it.

On demand in us-east-1, as all prices of the tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from ...fleet.demand import accelerated_nodes
from ...fleet.levels import Accelerator, ServiceLevels
from ...fleet.workloads import Workload
from ...performance.sizing.accelerators import known_accelerator
from ...performance.sizing.prices import accelerator_price, node_with

_HUNDREDTH = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class UnitCost:
    """What one accelerator costs.

    Attributes:
        accelerator: The name that variants give it.
        cents_per_hour: US cents.
        source: Where the price is from, for messages.
        device: Product in the labels of its nodes; empty where that is not known.
    """

    accelerator: str
    cents_per_hour: Decimal
    source: str
    device: str = ""

    @property
    def text(self) -> str:
        """The price with two decimals, as the controller has it (WVA spec 4)."""
        return f"{self.cents_per_hour.quantize(_HUNDREDTH, ROUND_HALF_UP):f}"


def unit_cost(accelerator: str, levels: ServiceLevels, workload: Workload | None = None) -> UnitCost | None:
    """Return what one accelerator costs; None where nothing tells it.

    Args:
        accelerator: Its name.
        levels: What settings say.
        workload: What runs on it, if something does: nodes with more than their accelerators cost more.
    """
    nodes = accelerated_nodes(workload.pods) if workload else []
    price = accelerator_price(accelerator, levels, nodes)
    if price is None:
        return None
    device = levels.accelerators.get(accelerator, Accelerator()).device
    known = known_accelerator(accelerator)
    if known and not device:
        device = known.product(node_with(known, nodes) or known.cheapest())
    return UnitCost(accelerator, price.cents_per_hour, price.source, device)


def conflicting(costs: Iterable[tuple[str, UnitCost]]) -> Iterator[tuple[str, str]]:
    """Yield whose price of an accelerator is not that of an earlier one with its name, and why that cannot be.

    Args:
        costs: What is sized, as messages name it, each with the price of its accelerator.
    """
    first: dict[str, tuple[str, UnitCost]] = {}
    for who, cost in costs:
        other, known = first.setdefault(cost.accelerator, (who, cost))
        if known.text != cost.text:
            yield (
                who,
                (
                    f"{cost.accelerator!r} costs {cost.text} cents an hour here ({cost.source}), but {known.text} "
                    f"for {other} ({known.source}), and the controller knows one price for a name; set "
                    f"serviceLevels.accelerators[{cost.accelerator}].centsPerHour, or give the two different names"
                ),
            )
