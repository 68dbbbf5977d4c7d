"""Dated prices as they are shipped. Every row of the tables names its source and that one's date.

``instances.csv``: on demand, and under a commitment of one year or three without upfront payment. Prices of April
2025 are there only of types whose price in us-east-1 was still the same in July 2026; what accelerated and general
purpose types cost on demand in us-east-1 is in the tables of ``nodes``. ``spot.csv``: how much less than on demand
spot cost on average, over 30 days and all zones of a region. ``flat.csv``: what has one price, whatever it is used
for.
"""

import csv
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from types import MappingProxyType

from ...clouds.aws.instances import PRICED_REGION
from ...contract.words import Word
from ...fleet.instances import instance
from .bill import HOURS_PER_MONTH

EVERYWHERE = "*"
"""As a region: a price that is the same in all commercial regions."""
NODES_DATE = "2026-07-20"
NODES_SOURCE = "aws/karpenter-provider-aws@1d927085 pkg/providers/pricing"
"""Of the prices in the tables of ``nodes``."""
_PERCENT = Decimal(100)


class Buying(Word):
    """How instances are paid for."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"
    """Under a commitment, such as a Reserved Instance or a Savings Plan. Shipped: of one year."""
    RESERVED_3Y = "reserved-3y"
    """Likewise, of three years."""
    CAPACITY_BLOCK = "capacity-block"


class Flat(Word):
    """What has one price, whatever it is used for."""

    CONTROL_PLANE = "control-plane"
    EXTENDED_SUPPORT = "control-plane-extended"
    """A control plane whose version is in extended support, all in all."""
    NAT_GATEWAY = "nat-gateway"
    NAT_GB = "nat-gb"
    """A gigabyte that it processes."""
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
    REGISTRY_GB = "ecr-gb"
    """A GB of images in a private registry."""


BY_MONTH = frozenset(
    {
        *(Flat.DISK_GIB, Flat.DISK_THROUGHPUT, Flat.DISK_IOPS, Flat.EFS_THROUGHPUT, Flat.KEY, Flat.REGISTRY_GB),
        *(Flat.LUSTRE_125, Flat.LUSTRE_250, Flat.LUSTRE_500, Flat.LUSTRE_1000, Flat.LUSTRE_SCRATCH),
    }
)
"""What AWS prices by the month; all else by the hour, save for ``BY_GIGABYTE``."""
BY_GIGABYTE = frozenset({Flat.NAT_GB})


@dataclass(frozen=True, slots=True)
class Quote:
    """A price as its source gives it: US dollars an hour.

    Attributes:
        usd: What counts.
        low: The least that it may be.
        high: The most.
        saved_until: Of spot, the last of the 30 days over which its discount is an average; empty otherwise.
        citation: The source with all of its dates, where it has several.
    """

    usd: Decimal
    low: Decimal
    high: Decimal
    date: str
    source: str
    saved_until: str = ""
    citation: str = ""

    @property
    def cited(self) -> str:
        """The source with its date."""
        return self.citation or f"{self.source}, {self.date}"


def quoted(region: str, name: str, buying: str) -> Quote | None:
    """Return what an instance type costs in a region; None where no source says it. Spot is in ``saved``."""
    found = _instances().get((region, name, buying))
    if found is None and (region, buying) == (PRICED_REGION, Buying.ON_DEMAND):
        node = instance(name)
        usd = node.usd_per_hour if node else None
        return None if usd is None else fixed_quote(usd, NODES_DATE, NODES_SOURCE)
    return found


def spot_of(region: str, name: str, on_demand: Quote | None) -> Quote | None:
    """Return what spot costs on average; it costs no more than on demand, unless somebody allows that.

    That is the maximum price where none is set (EC2 user guide, "How Spot Instances work").
    """
    row = _saved().get((region, name))
    if row is None or on_demand is None:
        return None
    usd = on_demand.usd * (_PERCENT - Decimal(row["saved_percent"])) / _PERCENT
    saved, until = row["saved_percent"], row["date"]
    cited = f"{saved} % less than on demand on average over 30 days until {until}: {row['source']}; {on_demand.cited}"
    return Quote(usd, usd, on_demand.high, min(until, on_demand.date), row["source"], until, cited)


def flat_of(region: str, item: str) -> Quote | None:
    """Return what one of something costs in a region; None where no source says it."""
    table = _flats()
    return table.get((region, item)) or table.get((EVERYWHERE, item))


def fixed_quote(usd: Decimal, date: str, source: str) -> Quote:
    """Return a price that does not vary."""
    return Quote(usd, usd, usd, date, source)


def per_hour(usd: Decimal, unit: str) -> Decimal:
    """Return a price by the hour, given by the ``hour`` or the ``month``; one by the gigabyte stays."""
    return usd / HOURS_PER_MONTH if unit == "month" else usd


@functools.cache
def _instances() -> Mapping[tuple[str, str, str], Quote]:
    rows = _rows("instances.csv")
    found = {(r["region"], r["instance_type"], r["bought"]): _fixed(r, Decimal(r["usd"])) for r in rows}
    return MappingProxyType(found)


@functools.cache
def _saved() -> Mapping[tuple[str, str], dict[str, str]]:
    return MappingProxyType({(row["region"], row["instance_type"]): row for row in _rows("spot.csv")})


@functools.cache
def _flats() -> Mapping[tuple[str, str], Quote]:
    rows = _rows("flat.csv")
    found = {(r["region"], r["item"]): _fixed(r, per_hour(Decimal(r["usd"]), r["unit"])) for r in rows}
    return MappingProxyType(found)


def _fixed(row: Mapping[str, str], usd: Decimal) -> Quote:
    return fixed_quote(usd, row["date"], row["source"])


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return iter(csv.DictReader(text.splitlines()))
