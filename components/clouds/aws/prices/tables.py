"""Prices of AWS, each with a source and its date.

``on_demand.csv`` and ``spot.csv`` have all regions (see :mod:`.matrices`); spot is the average discount on the
on-demand price. ``reserved.csv``: prices with a commitment of one or three years without upfront payment.
``flat.csv``: items with one price, such as NAT gateways and disks. Prices of April 2025 are included only for types
whose price in us-east-1 was unchanged in July 2026.
"""

import csv
import functools
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib.resources import files
from types import MappingProxyType

from ....contract.words import Word
from ....fleet.prices import EVERYWHERE, Buying, DiskRate, Flat, Per, Quote, fixed_quote, per_hour
from ..instances import PRICED_REGION
from ..nodes.launch import LEAST_IOPS, LEAST_THROUGHPUT
from .matrices import on_demand, sources, spot_savings

_PERCENT = Decimal(100)


class AwsItem(Word):
    """Items with a flat price that only AWS has."""

    EFS_THROUGHPUT = "efs-mibps"
    LUSTRE_125 = "lustre-125-gib"
    LUSTRE_250 = "lustre-250-gib"
    LUSTRE_500 = "lustre-500-gib"
    LUSTRE_1000 = "lustre-1000-gib"
    LUSTRE_SCRATCH = "lustre-scratch-gib"
    REGISTRY_GB = "ecr-gb"
    """A GB of images in a private registry, for a month."""


ITEMS: Mapping[str, Per] = MappingProxyType(
    {
        Flat.CONTROL_PLANE.value: Per.HOUR,
        Flat.EXTENDED_SUPPORT.value: Per.HOUR,
        Flat.NAT_GATEWAY.value: Per.HOUR,
        Flat.NAT_GB.value: Per.GIGABYTE,
        Flat.INTERFACE_ENDPOINT.value: Per.HOUR,
        Flat.LOAD_BALANCER.value: Per.HOUR,
        Flat.PUBLIC_IPV4.value: Per.HOUR,
        Flat.DISK_GIB.value: Per.MONTH,
        Flat.DISK_THROUGHPUT.value: Per.MONTH,
        Flat.DISK_IOPS.value: Per.MONTH,
        AwsItem.EFS_THROUGHPUT.value: Per.MONTH,
        AwsItem.LUSTRE_125.value: Per.MONTH,
        AwsItem.LUSTRE_250.value: Per.MONTH,
        AwsItem.LUSTRE_500.value: Per.MONTH,
        AwsItem.LUSTRE_1000.value: Per.MONTH,
        AwsItem.LUSTRE_SCRATCH.value: Per.MONTH,
        Flat.KEY.value: Per.MONTH,
        AwsItem.REGISTRY_GB.value: Per.MONTH,
    }
)
"""The unit of each item's price."""


class AwsPrices:
    """The price list of AWS, for the ``Cloud`` protocol."""

    region = PRICED_REGION
    items = ITEMS
    disk = DiskRate(LEAST_THROUGHPUT, LEAST_IOPS)
    spot_source = "AWS Spot Instance Advisor"

    def quoted(self, region: str, instance_type: str, buying: str) -> Quote | None:
        return quoted(region, instance_type, buying)

    def spot(self, region: str, instance_type: str, on_demand: Quote | None) -> Quote | None:
        return spot_of(region, instance_type, on_demand)

    def flat(self, region: str, item: str) -> Quote | None:
        return flat_of(region, item)


PRICES = AwsPrices()


def quoted(region: str, name: str, buying: str) -> Quote | None:
    """Return the price of an instance type in a region; None if no source has it. Spot is in :func:`spot_of`."""
    if buying != Buying.ON_DEMAND:
        return _reserved().get((region, name, buying))
    usd = on_demand().cell(region, name)
    if not usd:
        return None
    column = sources()["on-demand", region]
    return fixed_quote(Decimal(usd), column.date, column.source)


def spot_of(region: str, name: str, full: Quote | None) -> Quote | None:
    """Return the average spot price. Its upper bound is the on-demand price.

    On demand is the default maximum price of a Spot request (EC2 user guide, "How Spot Instances work").
    """
    saved = spot_savings().cell(region, name)
    if not saved or full is None:
        return None
    column = sources()["spot", region]
    usd = full.usd * (_PERCENT - Decimal(saved)) / _PERCENT
    cited = f"{saved} % less than on demand on average {column.average}: {column.source}; {full.cited}"
    return Quote(
        usd=usd,
        low=usd,
        high=full.high,
        date=min(column.date, full.date),
        source=column.source,
        saved_until=column.date,
        citation=cited,
    )


def flat_of(region: str, item: str) -> Quote | None:
    """Return the price of an item in a region; None if no source has it."""
    table = _flats()
    return table.get((region, item)) or table.get((EVERYWHERE, item))


@functools.cache
def _reserved() -> Mapping[tuple[str, str, str], Quote]:
    return MappingProxyType(
        {(r["region"], r["instance_type"], r["bought"]): _fixed(r, Decimal(r["usd"])) for r in _rows("reserved.csv")}
    )


@functools.cache
def _flats() -> Mapping[tuple[str, str], Quote]:
    rows = _rows("flat.csv")
    return MappingProxyType(
        {(r["region"], r["item"]): _fixed(r, per_hour(Decimal(r["usd"]), r["unit"])) for r in rows}
    )


def _fixed(row: Mapping[str, str], usd: Decimal) -> Quote:
    return fixed_quote(usd, row["date"], row["source"])


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return iter(csv.DictReader(text.splitlines()))
