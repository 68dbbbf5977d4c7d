"""The price of one accelerator: from the settings, otherwise of the workload's nodes, otherwise of the cheapest type.

Prices of instance types are on-demand prices in us-east-1, as everywhere in the tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from ...fleet.demand import accelerated_nodes
from ...fleet.instances import is_accelerator
from ...fleet.levels import Accelerator, ServiceLevels
from ...fleet.workloads import Workload
from ...performance.sizing.accelerators import accelerator_price, known_accelerator, node_with


@dataclass(frozen=True, slots=True)
class UnitCost:
    """Price of one accelerator.

    Attributes:
        accelerator: Its name in the profiles of variants.
        cents_per_hour: US cents.
        source: Origin of the price, for messages.
        device: Product in the labels of its nodes; empty if unknown.
    """

    accelerator: str
    cents_per_hour: Decimal
    source: str
    device: str = ""

    @property
    def text(self) -> str:
        """The price with two decimals, as the controller expects it (WVA spec 4)."""
        return f"{self.cents_per_hour.quantize(Decimal('0.01'), ROUND_HALF_UP):f}"


def unit_cost(accelerator: str, levels: ServiceLevels, workload: Workload | None = None) -> UnitCost | None:
    """Return the price of one accelerator; None if it is unknown.

    Args:
        accelerator: Name of the accelerator.
        levels: Settings, whose prices take precedence.
        workload: The workload that runs on it; its nodes may be larger, and so dearer, than the cheapest type.
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


def replica_cost(workload: Workload, levels: ServiceLevels, accelerator: str = "") -> UnitCost | None:
    """Return the price of one replica of a workload; None if it is unknown.

    Args:
        workload: The workload, which requests the accelerators.
        levels: Settings, whose prices take precedence.
        accelerator: Name of the accelerator; empty for that of the workload's nodes.
    """
    nodes = accelerated_nodes(workload.pods)
    name = accelerator or next((node.accelerator for node in nodes), "")
    cost, requested, known = unit_cost(name, levels, workload), accelerators_of(workload), known_accelerator(name)
    if cost is None or not requested:
        return None
    # A name such as 4xL4 means several devices.
    units = Decimal(requested) / (known.count if known else 1)
    return UnitCost(name, cost.cents_per_hour * units, cost.source, cost.device)


def accelerators_of(workload: Workload) -> int:
    """Count the accelerators that the pods of one replica request."""
    return sum(
        int(amount) * demand.per_replica
        for demand in workload.pods
        for resource, amount in demand.requests.items()
        if is_accelerator(resource)
    )


def conflicting(costs: Iterable[tuple[str, UnitCost]]) -> Iterator[tuple[str, str]]:
    """Yield the resources whose accelerator has another price in an earlier resource, each with the reason.

    The controller has one price per accelerator name.

    Args:
        costs: Titles of resources, each with the price of its accelerator.
    """
    first: dict[str, tuple[str, UnitCost]] = {}
    for title, cost in costs:
        other, known = first.setdefault(cost.accelerator, (title, cost))
        if known.text != cost.text:
            yield (
                title,
                (
                    f"{cost.accelerator!r} costs {cost.text} cents an hour here ({cost.source}), but {known.text} "
                    f"for {other} ({known.source}), and the controller has one price per name; set "
                    f"serviceLevels.accelerators[{cost.accelerator}].centsPerHour, or rename one of the two"
                ),
            )
