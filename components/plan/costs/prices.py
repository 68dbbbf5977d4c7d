"""Prices in a region, from the user's file or else from the cloud's price list."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...fleet.cloud_providers import default_provider
from ...fleet.prices import EVERYWHERE, Buying, PriceList, Quote
from .bill import UnitPrice


@dataclass(frozen=True, slots=True)
class OwnPrices:
    """Prices from a user's file.

    Attributes:
        instances: Prices by region, instance type and purchase option.
        flat: Prices by region and item.
    """

    instances: Mapping[tuple[str, str, str], Quote] = field(default_factory=dict)
    flat: Mapping[tuple[str, str], Quote] = field(default_factory=dict)


_NONE = OwnPrices()


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in one region.

    Attributes:
        own: Prices that take precedence over those of the cloud.
        cloud: Price list of the cloud.
    """

    region: str
    own: OwnPrices = _NONE
    cloud: PriceList = field(default_factory=lambda: default_provider().prices)

    def node(self, types: Iterable[str], buying: str) -> UnitPrice | str:
        """Return the price of the first type, bounded by those of all types; or why it is unknown."""
        names = tuple(types)
        quotes = {name: self._quote(name, buying) for name in names}
        missing = [name for name, quote in quotes.items() if quote is None]
        if missing:
            return f"no dated price of {', '.join(missing)} ({buying}) in {self.region}"
        price = _united([quote for quote in quotes.values() if quote], buying)
        if buying != Buying.ON_DEMAND:
            return price
        year, years = self._quote(names[0], Buying.RESERVED), self._quote(names[0], Buying.RESERVED_3Y)
        return replace(
            price,
            committed=year.usd if year else None,
            committed_3y=years.usd if years else None,
            committed_on=min((quote.date for quote in (year, years) if quote), default=""),
        )

    def reserved(self, types: Iterable[str]) -> UnitPrice | str:
        """Return the price of a node in an On-Demand Capacity Reservation, or why it is unknown.

        Reserved instances cost the on-demand price, running or not (EC2 user guide, "Capacity Reservation pricing
        and billing"), unless a commitment of the user makes them cheaper.
        """
        names = tuple(types)
        own = [self.own.instances.get((self.region, name, Buying.RESERVED)) for name in names]
        return self.node(names, Buying.RESERVED if all(own) else Buying.ON_DEMAND)

    def flat(self, item: str) -> UnitPrice | str:
        """Return the flat price of an item, or why it is unknown."""
        own = self.own.flat.get((self.region, item)) or self.own.flat.get((EVERYWHERE, item))
        quote = own or self.cloud.flat(self.region, item)
        return _united([quote]) if quote else f"no dated price of {item} in {self.region}"

    def _quote(self, name: str, buying: str) -> Quote | None:
        own = self.own.instances.get((self.region, name, buying))
        if own or buying != Buying.SPOT:
            return own or self.cloud.quoted(self.region, name, buying)
        return self.cloud.spot(self.region, name, self._quote(name, Buying.ON_DEMAND))


def _united(quotes: list[Quote], bought: str = "") -> UnitPrice:
    """Return the first price, with the bounds of all."""
    sources = dict.fromkeys(quote.cited for quote in quotes)
    return UnitPrice(
        usd=quotes[0].usd,
        low=min(quote.low for quote in quotes),
        high=max(quote.high for quote in quotes),
        source="; ".join(sources),
        date=min(quote.date for quote in quotes),
        bought=bought,
        saved_until=quotes[0].saved_until,
    )
