"""Facts by region, with sources: instance types that EC2 offers, and hosted zones of load balancers."""

import csv
import functools
import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from ....contract.tables import load_table

REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+", re.ASCII)


def regions_of(instance_type: str) -> frozenset[str] | None:
    """Return the regions that offer a type; None for a type without data."""
    return _offerings().get(instance_type)


@functools.cache
def regions() -> frozenset[str]:
    """Return every region that offers any accelerated type."""
    return frozenset().union(*_offerings().values())


def is_withheld(instance_type: str, region: str) -> bool:
    """Whether a region is known not to offer a type; False for regions without data."""
    offered = regions_of(instance_type)
    return offered is not None and region not in offered and (region in regions() or not offered)


def load_balancer_zone(region: str) -> str:
    """Return the hosted zone of the names of a region's Network Load Balancers; empty if none is known."""
    return str(load_table(__package__, "load_balancers.yaml")["network_zones"].get(region, ""))


@functools.cache
def _offerings() -> Mapping[str, frozenset[str]]:
    text = files(__package__).joinpath("offerings.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return MappingProxyType(
        {name: frozenset(row["regions"].split()) for row in rows for name in row["instance_types"].split()}
    )
