"""Bills: US dollars per hour at rest, at the minimum and at the maximum."""

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from ...contract.clock import HOURS_PER_MONTH as HOURS_PER_MONTH

_EXACT, _CENT = Decimal("1e-9"), Decimal("0.01")


class CostKind(StrEnum):
    """Category of a cost."""

    NODES = "nodes"
    CONTROL_PLANE = "control plane"
    NETWORK = "network"
    BALANCERS = "load balancers"
    STORAGE = "storage"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Amounts:
    """A number at rest (``now``), with all autoscalers at their minimum and at their maximum."""

    now: Decimal
    least: Decimal
    most: Decimal

    def __add__(self, other: "Amounts") -> "Amounts":
        """Add two amounts."""
        return Amounts(self.now + other.now, self.least + other.least, self.most + other.most)

    def times(self, number: Decimal) -> "Amounts":
        return Amounts(self.now * number, self.least * number, self.most * number)


NOTHING = Amounts(Decimal(0), Decimal(0), Decimal(0))


def cents(usd: Decimal) -> Decimal:
    """Round half up to whole cents."""
    # Remove the error of a division first; otherwise half a cent may be slightly less and round down.
    return usd.quantize(_EXACT).quantize(_CENT, ROUND_HALF_UP)


def by_month(usd_per_hour: Amounts) -> Amounts:
    """Return the cost of a month, in whole cents."""
    month = usd_per_hour.times(Decimal(HOURS_PER_MONTH))
    return Amounts(cents(month.now), cents(month.least), cents(month.most))


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """Hourly price of a unit.

    Attributes:
        usd: US dollars per hour.
        low: Lower bound, such as spot in the cheapest zone; the same as ``usd`` for fixed prices.
        high: Upper bound.
        source: Source of the price, with its date.
        date: Date of the price; empty if the source has none.
        bought: Purchase option, such as ``on-demand`` or ``spot``; empty if there is only one.
        committed: Price with a one-year commitment without upfront payment; None if unknown.
        committed_3y: Price with a three-year commitment.
        committed_on: Date of these two prices; empty without any.
        saved_until: For spot, the last of the 30 days over which the discount is averaged; otherwise empty.
    """

    usd: Decimal
    low: Decimal
    high: Decimal
    source: str
    date: str = ""
    bought: str = ""
    committed: Decimal | None = None
    committed_3y: Decimal | None = None
    committed_on: str = ""
    saved_until: str = ""


@dataclass(frozen=True, slots=True)
class CostItem:
    """One line of a bill.

    Attributes:
        name: Such as ``node group g6e-12xlarge`` or ``NAT gateways``.
        counts: Number of units.
        price: Price of a unit; None if unknown.
        unpriced: Why there is no price; empty if there is one.
        unit: Unit, such as ``nodes`` or ``GiB``.
    """

    name: str
    kind: CostKind
    counts: Amounts
    price: UnitPrice | None = None
    unpriced: str = ""
    unit: str = ""

    @property
    def usd_per_hour(self) -> Amounts | None:
        """US dollars per hour, the maximum at the upper bound of the price; None without a price."""
        if self.price is None:
            return None
        counts, price = self.counts, self.price
        return Amounts(counts.now * price.usd, counts.least * price.usd, counts.most * price.high)


@dataclass(frozen=True, slots=True)
class TrafficEstimate:
    """An estimate of usage-based costs. It is not part of any total or threshold.

    Attributes:
        name: What is estimated.
        gigabytes: Gigabytes (10^9 bytes) per month.
        usd_per_month: US dollars per month; None without a price.
        assumptions: Assumptions of the estimate.
        unknown: Resources that are not included because their size is unknown.
        unpriced: Why there is no price; empty if there is one.
        source: Source of the price, with its date.
    """

    name: str
    gigabytes: Amounts
    usd_per_month: Amounts | None
    assumptions: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    unpriced: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        now, most = f"{self.gigabytes.now:,.0f} GB a month now", f"at most {self.gigabytes.most:,.0f}"
        usd = self.usd_per_month
        cost = f"no price: {self.unpriced}"
        if usd is not None:
            cost = f"${cents(usd.now):,.2f}, at most ${cents(usd.most):,.2f}"
        sentences = [
            f"Estimated, not part of any total: {self.name}, {now}, {most} ({cost})",
            f"Assumptions: {'; '.join(self.assumptions)}",
        ]
        if self.unknown:
            sentences.append(f"Not included: the weights of {', '.join(self.unknown)}, whose size is unknown")
        return f"{'. '.join(sentences)}."


@dataclass(frozen=True, slots=True)
class ModelCost:
    """Cost of a resource that serves a model: the share of nodes that its pods use.

    Attributes:
        title: ``Kind/name``.
        accelerators: Accelerators of its pods.
        usd_per_hour: US dollars per hour; None if a price is unknown.
        low: The same with the lower bounds of prices.
        high: The same with the upper bounds.
        unpriced: Why there is no price; empty if there is one.
    """

    title: str
    namespace: str
    accelerators: Amounts
    usd_per_hour: Amounts | None
    low: Amounts | None = None
    high: Amounts | None = None
    unpriced: str = ""


@dataclass(frozen=True, slots=True)
class Bill:
    """The costs of an environment.

    Attributes:
        region: Region of the prices; empty if nothing is paid for, as with simulated nodes.
        date: Date of the prices.
        items: All cost items.
        models: Resources that serve models. They cost less in total than the nodes, which have unused room.
        notes: Notes, such as on traffic, which is not included.
        estimates: Estimates of usage-based costs, not part of any total.
        simulated_region: Region whose prices show what simulated nodes would cost; empty for other environments.
        simulated_items: Simulated nodes at these prices, not part of any total.
    """

    region: str
    date: str
    items: tuple[CostItem, ...] = ()
    models: tuple[ModelCost, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)
    estimates: tuple[TrafficEstimate, ...] = ()
    simulated_region: str = ""
    simulated_items: tuple[CostItem, ...] = ()

    @property
    def simulated_usd_per_hour(self) -> Amounts:
        """US dollars per hour that simulated nodes would cost, of all with a price."""
        return sum((item.usd_per_hour for item in self.simulated_items if item.usd_per_hour), NOTHING)

    @property
    def usd_per_hour(self) -> Amounts:
        """US dollars per hour of all items with a price."""
        return sum((item.usd_per_hour for item in self.items if item.usd_per_hour), NOTHING)

    @property
    def models_usd_per_hour(self) -> Amounts:
        """US dollars per hour of all models with known prices: their shares of nodes."""
        return sum((model.usd_per_hour for model in self.models if model.usd_per_hour), NOTHING)

    @property
    def unpriced(self) -> tuple[CostItem, ...]:
        """Items without a price."""
        return tuple(item for item in self.items if item.price is None)
