"""What cold starts fetch through NAT gateways, which charge for every gigabyte: an estimate, and part of no sum."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...contract.tables import load_table
from ...fleet.prices import Flat
from .bill import NOTHING, Amounts, TrafficEstimate
from .prices import Prices

NAME = "NAT traffic of cold starts"
_GB = Decimal(10**9)


@dataclass(frozen=True, slots=True)
class ColdPods:
    """Equal pods with accelerators.

    Attributes:
        title: The resource that they serve for, as ``Kind/name``.
        counts: How many there are, at rest, at least and at most.
        spot: Whether their nodes are bought on the spot market.
        weights: Bytes that each fetches through a NAT gateway; None where the size is not known.
        image: Whether its image is pulled through one.
    """

    title: str
    counts: Amounts
    spot: bool
    weights: int | None
    image: bool


def nat_traffic(pods: Iterable[ColdPods], prices: Prices) -> TrafficEstimate | None:
    """TrafficEstimate a month's traffic of cold starts; None if nothing passes a gateway.

    Pods that are always there start ``each`` times a month, on spot ``spot`` times more; those that an autoscaler
    adds start ``added`` times.
    """
    assumed = _assumed()
    starts, image = assumed["starts"], Decimal(str(assumed["image_gb"]))
    total, unknown = NOTHING, dict[str, None]()
    for each in pods:
        size = (each.weights or 0) / _GB + (image if each.image else 0)
        if each.weights is None:
            unknown[each.title] = None
        stays = Decimal(starts["each"] + (starts["spot"] if each.spot else 0)) * size
        counts = each.counts
        total += Amounts(
            counts.now * stays,
            counts.least * stays,
            counts.least * stays + (counts.most - counts.least) * starts["added"] * size,
        )
    if not total.most and not unknown:
        return None
    price = prices.flat(Flat.NAT_GB)
    if isinstance(price, str):
        return TrafficEstimate(NAME, total, None, _assumptions(image, starts), tuple(unknown), price)
    return TrafficEstimate(
        NAME, total, total.times(price.usd), _assumptions(image, starts), tuple(unknown), source=price.source
    )


def _assumptions(image: Decimal, starts: Mapping[str, int]) -> tuple[str, ...]:
    return (
        f"a pod with accelerators fetches its weights and an image of {image} GB (kaito-project/kaito issue 2325)",
        f"{_times(starts['each'])} a month on a new node, {_times(starts['spot'])} more on spot, and "
        f"{_times(starts['added'])} where an autoscaler adds it",
        "what comes from S3, or from ECR in the region, passes no NAT gateway",
        "what is kept in a claim is fetched once",
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


@functools.cache
def _assumed() -> Mapping[str, Any]:
    found: dict[str, Any] = load_table(__package__, "cold_starts.yaml")
    return found
