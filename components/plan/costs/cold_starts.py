"""Estimate of the traffic of cold starts through NAT gateways, which charge per gigabyte; not part of any total."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...contract.tables import load_table
from ...fleet.prices import Flat
from ..starts.budget import UsualImage, usual_images
from .bill import NOTHING, Amounts, TrafficEstimate
from .prices import Prices

NAME = "NAT traffic of cold starts"
_GB = Decimal(10**9)


@dataclass(frozen=True, slots=True)
class ColdPods:
    """Equal pods with accelerators.

    Attributes:
        title: ``Kind/name`` of their resource.
        counts: Number of pods at rest, at the minimum and at the maximum.
        spot: Whether they run on spot nodes.
        weights: Bytes that each pod downloads through a NAT gateway; None if unknown.
        image: Whether the image is pulled through a NAT gateway.
    """

    title: str
    counts: Amounts
    spot: bool
    weights: int | None
    image: bool


def nat_traffic(pods: Iterable[ColdPods], prices: Prices) -> TrafficEstimate | None:
    """Estimate the monthly traffic of cold starts; None if nothing passes a gateway.

    Permanent pods start ``each`` times a month, on spot ``spot`` times more; those that an autoscaler adds start
    ``added`` times.
    """
    assumed = _assumed()
    starts, usual = assumed["starts"], usual_images()[assumed["image_of"]]
    image, assumptions = Decimal(str(usual.gb)), _assumptions(usual, starts)
    total, unknown = NOTHING, dict[str, None]()
    for pod in pods:
        size = (pod.weights or 0) / _GB + (image if pod.image else 0)
        if pod.weights is None:
            unknown[pod.title] = None
        stays = Decimal(starts["each"] + (starts["spot"] if pod.spot else 0)) * size
        counts = pod.counts
        total += Amounts(
            counts.now * stays,
            counts.least * stays,
            counts.least * stays + (counts.most - counts.least) * starts["added"] * size,
        )
    if not total.most and not unknown:
        return None
    price = prices.flat(Flat.NAT_GB)
    if isinstance(price, str):
        return TrafficEstimate(
            name=NAME,
            gigabytes=total,
            usd_per_month=None,
            assumptions=assumptions,
            unknown=tuple(unknown),
            unpriced=price,
        )
    return TrafficEstimate(NAME, total, total.times(price.usd), assumptions, tuple(unknown), source=price.source)


def _assumptions(image: UsualImage, starts: Mapping[str, int]) -> tuple[str, ...]:
    return (
        f"a pod with accelerators downloads its weights and an image of {image.gb} GB ({image.source})",
        f"{_times(starts['each'])} a month on a new node, {_times(starts['spot'])} more on spot, and "
        f"{_times(starts['added'])} if an autoscaler adds it",
        "traffic from S3, or from ECR in the region, passes no NAT gateway",
        "weights in a claim are downloaded once",
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


@functools.cache
def _assumed() -> Mapping[str, Any]:
    assumptions: dict[str, Any] = load_table(__package__, "cold_starts.yaml")
    return assumptions
