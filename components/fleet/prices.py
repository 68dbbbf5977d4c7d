"""Prices as a cloud publishes them: quotes with their source and date, in US dollars an hour."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple, Protocol

from ..contract.clock import HOURS_PER_MONTH
from ..contract.words import Word

EVERYWHERE = "*"
"""Region of prices that are equal in all regions."""


class Buying(Word):
    """How instances are paid for."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"
    """Under a commitment of one year, such as a Reserved Instance or a Savings Plan."""
    RESERVED_3Y = "reserved-3y"
    """Under a commitment of three years."""
    CAPACITY_BLOCK = "capacity-block"


class Flat(Word):
    """Items with a flat price that an environment on any cloud may use.

    Further items of a single cloud are in its :class:`PriceList`.
    """

    CONTROL_PLANE = "control-plane"
    EXTENDED_SUPPORT = "control-plane-extended"
    """Total price of a control plane whose version is in extended support."""
    NAT_GATEWAY = "nat-gateway"
    NAT_GB = "nat-gb"
    """Per gigabyte processed."""
    INTERFACE_ENDPOINT = "interface-endpoint"
    """Per zone."""
    LOAD_BALANCER = "load-balancer"
    PUBLIC_IPV4 = "public-ipv4"
    DISK_GIB = "disk-gib"
    DISK_THROUGHPUT = "disk-mibps"
    """Per MiB/s above the included throughput."""
    DISK_IOPS = "disk-iops"
    """Per IOPS above the included IOPS."""
    KEY = "kms-key"


class Per(Word):
    """Unit of a flat price."""

    HOUR = "hour"
    MONTH = "month"
    GIGABYTE = "gigabyte"


class Quote(NamedTuple):
    """A published price, in US dollars per hour.

    Attributes:
        usd: The price that costs are computed with.
        low: Lower end of its range.
        high: Upper end of its range.
        date: Date of the source.
        saved_until: For spot prices, the last of the 30 days over which the discount is averaged; otherwise empty.
        citation: The source with all of its dates, if it has several.
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


def fixed_quote(usd: Decimal, date: str, source: str) -> Quote:
    return Quote(usd, usd, usd, date, source)


def per_hour(usd: Decimal, per: str) -> Decimal:
    """Convert a price per ``hour`` or ``month`` to one per hour; prices per gigabyte stay unchanged."""
    return usd / HOURS_PER_MONTH if per == Per.MONTH else usd


class DiskRate(NamedTuple):
    """Throughput in MiB/s and IOPS that the price of a disk includes."""

    throughput: int = 0
    iops: int = 0


class PriceList(Protocol):
    """The dated prices of a cloud. A price without a source is None, never a guess."""

    @property
    def region(self) -> str:
        """The region whose prices apply to environments without one, such as simulated nodes."""

    @property
    def items(self) -> Mapping[str, Per]:
        """Unit of every item with a flat price, in the order of the documentation."""

    @property
    def disk(self) -> DiskRate:
        """Performance that the price of every disk includes."""

    @property
    def spot_source(self) -> str:
        """Publisher of the average spot discounts; empty without one."""

    def quoted(self, region: str, instance_type: str, buying: str) -> Quote | None:
        """Return the price of an instance type; for spot, use :meth:`spot`."""

    def spot(self, region: str, instance_type: str, on_demand: Quote | None) -> Quote | None:
        """Return the average spot price.

        Args:
            region: The region.
            instance_type: The instance type.
            on_demand: Its on-demand price, which may come from the user; None if unknown.
        """

    def flat(self, region: str, item: str) -> Quote | None:
        """Return the price of an item, per hour or per gigabyte."""
