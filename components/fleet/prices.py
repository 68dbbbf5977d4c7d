"""Prices as a cloud publishes them: quotes with their source and date, in US dollars an hour."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from ..contract.clock import HOURS_PER_MONTH
from ..contract.words import Word

EVERYWHERE = "*"
"""As a region: a price that is the same in all of them."""


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
    """What has one price, whatever it is used for, and is counted from the plan of an environment on any cloud.

    What a single cloud sells beside this is in its :class:`PriceList`, under a name of its own.
    """

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
    KEY = "kms-key"


class Per(Word):
    """What a flat price is for."""

    HOUR = "hour"
    MONTH = "month"
    GIGABYTE = "gigabyte"


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


def fixed_quote(usd: Decimal, date: str, source: str) -> Quote:
    """Return a price that does not vary."""
    return Quote(usd, usd, usd, date, source)


def per_hour(usd: Decimal, per: str) -> Decimal:
    """Return a price by the hour, given by the ``hour`` or the ``month``; one by the gigabyte stays."""
    return usd / HOURS_PER_MONTH if per == Per.MONTH else usd


@dataclass(frozen=True, slots=True)
class DiskRate:
    """What every disk of a node can do at no further charge: MiB/s, and operations a second."""

    throughput: int = 0
    iops: int = 0


class PriceList(Protocol):
    """The dated prices of a cloud. A price that no source gives is None, and never a guess."""

    @property
    def region(self) -> str:
        """The region whose prices are shown where an environment has none, such as one with simulated nodes."""

    @property
    def items(self) -> Mapping[str, Per]:
        """Everything with a flat price that the cloud sells, in the order of its documentation."""

    @property
    def further_types(self) -> frozenset[str]:
        """Instance types with a price that models do not run on, such as that of a bastion."""

    @property
    def disk(self) -> DiskRate:
        """What every disk can do at no further charge."""

    @property
    def spot_source(self) -> str:
        """Who publishes the average discounts of spot; empty if no source does."""

    def quoted(self, region: str, instance_type: str, buying: str) -> Quote | None:
        """Return what an instance type costs an hour; of spot, see :meth:`spot`."""

    def spot(self, region: str, instance_type: str, on_demand: Quote | None) -> Quote | None:
        """Return what spot costs on average.

        Args:
            region: The region.
            instance_type: The instance type.
            on_demand: Its price on demand, which may be a user's own; None where it is not known.
        """

    def flat(self, region: str, item: str) -> Quote | None:
        """Return what one of something costs an hour, or a gigabyte of it."""
