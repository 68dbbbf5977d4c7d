"""What one accelerator costs: what settings say, else its share of its nodes, else of the cheapest ones with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.instances import Instance
from ...fleet.levels import Accelerator, ServiceLevels
from .accelerators import KnownAccelerator, hourly_cents, known_accelerator


@dataclass(frozen=True, slots=True)
class AcceleratorPrice:
    """What one accelerator costs.

    Attributes:
        cents_per_hour: US cents an hour.
        source: Where the price is from.
    """

    cents_per_hour: Decimal
    source: str


def accelerator_price(
    name: str, levels: ServiceLevels, nodes: Sequence[Instance] = (), count: int = 1
) -> AcceleratorPrice | None:
    """Return what one accelerator costs, on demand in the tables if no setting says it; None if unknown.

    Args:
        name: Name of the accelerator.
        levels: What settings say.
        nodes: The instance types that it is on, in order of preference: those with more beside their accelerators
            cost more.
        count: How many of them one replica has: the cheapest instance must have so many too.
    """
    own = levels.accelerators.get(name, Accelerator()).cents_per_hour
    if own is not None:
        return AcceleratorPrice(own, f"serviceLevels.accelerators[{name}]")
    known = known_accelerator(name)
    several = known.count if known else 1
    price = _share(node_with(known, nodes), several)
    if price is None and known:
        price = _share(known.cheapest(several * count), several, ", the cheapest with it")
    return price


def node_with(known: KnownAccelerator | None, nodes: Iterable[Instance]) -> Instance | None:
    """Return the first instance type that has an accelerator; any of them where its name is not known."""
    return next((node for node in nodes if known is None or known.is_on(node)), None)


def _share(node: Instance | None, several: int, why: str = "") -> AcceleratorPrice | None:
    cents = hourly_cents(node) if node else None
    if node is None or cents is None:
        return None
    return AcceleratorPrice(cents * several, f"{node.name} at ${node.usd_per_hour}/h{why}")
