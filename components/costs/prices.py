"""What things cost in a region: dated tables, and the prices of a user's own file, which count more.

``instances.csv`` and ``flat.csv`` have a source and its date in every row. What accelerated and general purpose types
cost on demand in us-east-1 is in the tables of ``nodes``. Where no source gives a price, there is none.
"""

import csv
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.resources import files
from types import MappingProxyType

from ..api.words import Word
from ..nodes.instances import PRICED_REGION, instance
from .bill import HOURS_PER_MONTH, UnitPrice

EVERYWHERE = "*"
"""As a region: a price that is the same in all commercial regions."""
NODES_DATE = "2026-07-20"
NODES_SOURCE = "aws/karpenter-provider-aws@1d927085 pkg/providers/pricing"
"""Of the prices in the tables of ``nodes``."""


class Buying(Word):
    """How instances are paid for."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"
    """Under a commitment of one's own, such as a Savings Plan."""
    CAPACITY_BLOCK = "capacity-block"


class Flat(Word):
    """What has one price, whatever it is used for."""

    CONTROL_PLANE = "control-plane"
    EXTENDED_SUPPORT = "control-plane-extended"
    """A control plane whose version is in extended support, all in all."""
    NAT_GATEWAY = "nat-gateway"
    INTERFACE_ENDPOINT = "interface-endpoint"
    """In one zone."""
    LOAD_BALANCER = "load-balancer"
    PUBLIC_IPV4 = "public-ipv4"
    DISK_GIB = "disk-gib"
    DISK_THROUGHPUT = "disk-mibps"
    """A MiB/s above what every disk has."""
    DISK_IOPS = "disk-iops"
    """Likewise."""
    EFS_THROUGHPUT = "efs-mibps"
    LUSTRE_125 = "lustre-125-gib"
    LUSTRE_250 = "lustre-250-gib"
    LUSTRE_500 = "lustre-500-gib"
    LUSTRE_1000 = "lustre-1000-gib"
    LUSTRE_SCRATCH = "lustre-scratch-gib"
    KEY = "kms-key"


@dataclass(frozen=True, slots=True)
class Quote:
    """A price as its source gives it: US dollars an hour.

    Attributes:
        low: Of the cheapest zone, where it varies by zone.
        high: Of the dearest zone.
    """

    low: Decimal
    high: Decimal
    date: str
    source: str


_Instances = Mapping[tuple[str, str, str], Quote]
"""By region, instance type and way of buying."""
_Flats = Mapping[tuple[str, str], Quote]
"""By region and item."""


@dataclass(frozen=True, slots=True)
class OwnPrices:
    """The prices of a user's own file.

    Attributes:
        file: Its name, for the reader of a report.
    """

    file: str
    instances: _Instances = field(default_factory=dict)
    flat: _Flats = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prices:
    """What things cost in one region."""

    region: str
    own: OwnPrices | None = None

    def node(self, types: Iterable[str], buying: str) -> UnitPrice | str:
        """Return what a node of the first of some types costs, and what one of the others may; or why nobody knows.

        Spot counts at the dearest zone: which one it will be, nobody knows before.
        """
        names = tuple(types)
        found = [self._quote(name, buying) for name in names]
        missing = [name for name, quote in zip(names, found, strict=True) if quote is None]
        if missing:
            return f"no dated price of {', '.join(missing)} ({buying}) in {self.region}"
        return _united([quote for quote in found if quote], buying)

    def flat(self, item: Flat) -> UnitPrice | str:
        """Return what one of something costs, or why nobody knows."""
        own = self.own.flat if self.own else {}
        for table in (own, _flats()):
            quote = table.get((self.region, item)) or table.get((EVERYWHERE, item))
            if quote:
                return _united([quote])
        return f"no dated price of {item} in {self.region}"

    def _quote(self, name: str, buying: str) -> Quote | None:
        own = self.own.instances if self.own else {}
        for table in (own, _instances()):
            quote = table.get((self.region, name, buying))
            if quote:
                return quote
        return _of_nodes(name) if (self.region, buying) == (PRICED_REGION, Buying.ON_DEMAND) else None


def _united(quotes: list[Quote], bought: str = "") -> UnitPrice:
    """Return the price of the first, within the bounds of all."""
    sources = dict.fromkeys(f"{quote.source}, {quote.date}" for quote in quotes)
    return UnitPrice(
        usd=quotes[0].high,
        low=min(quote.low for quote in quotes),
        high=max(quote.high for quote in quotes),
        source="; ".join(sources),
        date=max(quote.date for quote in quotes),
        bought=bought,
    )


def _of_nodes(name: str) -> Quote | None:
    node = instance(name)
    usd = node.usd_per_hour if node else None
    return None if usd is None else Quote(usd, usd, NODES_DATE, NODES_SOURCE)


@functools.cache
def _instances() -> _Instances:
    found = {}
    for row in _rows("instances.csv"):
        quote = Quote(Decimal(row["low_usd"]), Decimal(row["high_usd"]), row["date"], row["source"])
        found[row["region"], row["instance_type"], row["bought"]] = quote
    return MappingProxyType(found)


@functools.cache
def _flats() -> _Flats:
    found = {}
    for row in _rows("flat.csv"):
        usd = per_hour(Decimal(row["usd"]), row["unit"])
        found[row["region"], row["item"]] = Quote(usd, usd, row["date"], row["source"])
    return MappingProxyType(found)


def per_hour(usd: Decimal, unit: str) -> Decimal:
    """Return a price by the hour, given by the ``hour`` or the ``month``."""
    return usd / HOURS_PER_MONTH if unit == "month" else usd


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return iter(csv.DictReader(text.splitlines()))
