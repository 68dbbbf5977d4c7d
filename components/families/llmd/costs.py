"""What an accelerator costs: what settings say, else the price of the nodes, else that of the cheapest ones with it.

On demand in us-east-1, as all prices of the tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from ...fleet.workloads import Workload
from ...nodes.instances import Instance, instance
from ...sizing.accelerators import KnownAccelerator, hourly_cents, known_accelerator
from ...sizing.levels import Accelerator, ServiceLevels

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
    known = known_accelerator(accelerator)
    stated = levels.accelerators.get(accelerator, Accelerator())
    node = node_of(workload, known) if workload else None
    device = stated.device or (known.product(node or known.cheapest) if known else "")
    if stated.cents_per_hour is not None:
        return UnitCost(accelerator, stated.cents_per_hour, f"serviceLevels.accelerators[{accelerator}]", device)
    count, price = known.count if known else 1, hourly_cents(node) if node else None
    if node is not None and price is not None:
        return UnitCost(accelerator, price * count, f"{node.name} at ${node.usd_per_hour}/h", device)
    cheapest = known.cheapest if known else None
    price = hourly_cents(cheapest) if cheapest else None
    if cheapest is not None and price is not None:
        source = f"{cheapest.name} at ${cheapest.usd_per_hour}/h, the cheapest with it"
        return UnitCost(accelerator, price * count, source, device)
    return None


def node_of(workload: Workload, known: KnownAccelerator | None) -> Instance | None:
    """Return the instance type that a workload's pods are on, the first choice of those with the accelerator.

    None where nothing says which nodes they are on; the first with any accelerators where the name of its own is
    not known.
    """
    return next((node for node in nodes_of(workload) if known is None or known.is_on(node)), None)


def nodes_of(workload: Workload) -> list[Instance]:
    """Return the instance types with accelerators that a workload's pods may be on, in order of preference."""
    types = (choice.instance_type for demand in workload.pods for choice in demand.choices)
    found = (instance(name) for name in dict.fromkeys(types) if name)
    return [node for node in found if node and node.accelerators]


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
