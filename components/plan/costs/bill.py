"""What things cost: US dollars an hour now, at least and at most."""

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from ...contract.clock import HOURS_PER_MONTH as HOURS_PER_MONTH

_EXACT, _CENT = Decimal("1e-9"), Decimal("0.01")


class CostKind(StrEnum):
    """What money is spent on."""

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
        """Return the sums."""
        return Amounts(self.now + other.now, self.least + other.least, self.most + other.most)

    def times(self, number: Decimal) -> "Amounts":
        """Return the products."""
        return Amounts(self.now * number, self.least * number, self.most * number)


NOTHING = Amounts(Decimal(0), Decimal(0), Decimal(0))


def cents(usd: Decimal) -> Decimal:
    """Return an amount in whole cents. What a division left is rounded off first, so that half a cent stays one."""
    return usd.quantize(_EXACT).quantize(_CENT, ROUND_HALF_UP)


def by_month(usd_per_hour: Amounts) -> Amounts:
    """Return what a month costs, in whole cents."""
    month = usd_per_hour.times(Decimal(HOURS_PER_MONTH))
    return Amounts(cents(month.now), cents(month.least), cents(month.most))


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """What one of something costs an hour.

    Attributes:
        usd: US dollars an hour as it is bought here.
        low: The least that it may cost, as spot in the cheapest zone; as ``usd`` where it does not vary.
        high: The most that it may cost.
        source: Where the price is from, with its date.
        date: Of the price; empty where its source names none.
        bought: How it is bought, such as ``on-demand`` or ``spot``; empty where there is one way alone.
        committed: What it would cost instead under a commitment of one year without upfront payment; None where no
            source says it.
        committed_3y: Likewise under one of three years.
        committed_on: The day of these two prices; empty without any.
        saved_until: Of spot, the last of the 30 days over which its discount is an average; empty otherwise.
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
        name: What it is, such as ``node group g6e-12xlarge`` or ``NAT gateways``.
        counts: How many units there are.
        price: What a unit costs; None where no source says it.
        unpriced: Why there is no price; empty where there is one.
        unit: What is counted, such as ``nodes`` or ``GiB``.
    """

    name: str
    kind: CostKind
    counts: Amounts
    price: UnitPrice | None
    unpriced: str = ""
    unit: str = ""

    @property
    def usd_per_hour(self) -> Amounts | None:
        """US dollars an hour, at most with the highest price; None without a price."""
        if self.price is None:
            return None
        counts, price = self.counts, self.price
        return Amounts(counts.now * price.usd, counts.least * price.usd, counts.most * price.high)


@dataclass(frozen=True, slots=True)
class TrafficEstimate:
    """What depends on use, under assumptions that it names. It is in no sum, and in no threshold.

    Attributes:
        name: What it is.
        gigabytes: Gigabytes (10^9 bytes) a month.
        usd_per_month: US dollars a month; None without a price.
        assumptions: What is assumed.
        unknown: What is not in it because its size is not known.
        unpriced: Why there is no price; empty where there is one.
        source: Where the price is from, with its date.
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
        """The estimate in words."""
        now, most = f"{self.gigabytes.now:,.0f} GB a month now", f"at most {self.gigabytes.most:,.0f}"
        usd = self.usd_per_month
        cost = f"no price: {self.unpriced}"
        if usd is not None:
            cost = f"${cents(usd.now):,.2f}, at most ${cents(usd.most):,.2f}"
        sentences = [
            f"Estimated, and in no sum: {self.name}, {now}, {most} ({cost})",
            f"Assumed: {'; '.join(self.assumptions)}",
        ]
        if self.unknown:
            sentences.append(f"Without the weights of {', '.join(self.unknown)}, whose size is not known")
        return f"{'. '.join(sentences)}."


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What a resource that serves costs: the share of nodes that its pods take.

    Attributes:
        title: ``Kind/name``.
        namespace: Its namespace.
        accelerators: How many accelerators its pods have.
        usd_per_hour: US dollars an hour as they are bought here; None where a price is not known.
        low: With the lowest prices; None likewise.
        high: With the highest ones.
        unpriced: Why there is no price; empty where there is one.
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
    """What an environment costs.

    Attributes:
        region: Where the prices hold; empty where nothing is paid for, as on simulated nodes.
        date: Of the prices.
        items: Everything that is paid for.
        models: Each resource that serves. Their sum is not that of the nodes: nodes have room left.
        notes: What is not in it, such as traffic.
        estimates: What depends on use, as an estimate; in no sum.
    """

    region: str
    date: str
    items: tuple[CostItem, ...] = ()
    models: tuple[ModelCost, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)
    estimates: tuple[TrafficEstimate, ...] = ()

    @property
    def usd_per_hour(self) -> Amounts:
        """US dollars an hour of all that has a price."""
        return sum((item.usd_per_hour for item in self.items if item.usd_per_hour), NOTHING)

    @property
    def models_usd_per_hour(self) -> Amounts:
        """US dollars an hour of all models whose prices are known: the shares of nodes that they take."""
        return sum((model.usd_per_hour for model in self.models if model.usd_per_hour), NOTHING)

    @property
    def unpriced(self) -> tuple[CostItem, ...]:
        """Everything without a price."""
        return tuple(item for item in self.items if item.price is None)
