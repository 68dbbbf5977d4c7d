"""Address ranges of a cluster's subnets."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

CIDR = "10.0.0.0/16"
POD_CIDR = "100.64.0.0/16"
MOST_ZONES = 7
"""No region has more than six; the eighth part of the VPC is for the public subnets."""
_LARGEST, _SMALLEST, _SMALLEST_OF_AWS = 16, 21, 28
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")
"""RFC 6598."""
_FIRST_PUBLIC_IPV6 = 8
_SMALLEST_PUBLIC = 27  # a load balancer refuses smaller subnets


@dataclass(frozen=True, slots=True)
class ZoneSubnets:
    """The address ranges of one zone."""

    zone: str
    private: str
    public: str


def plan_subnets(cidr: str, zones: Sequence[str]) -> list[ZoneSubnets]:
    """Return the address ranges of each zone, by its position alone.

    The VPC is cut in eight whatever the number of zones, so that a zone appended later moves no other. A private
    subnet, from which pods take their addresses, has an eighth; the public ones share the last: /24 each in a /16,
    and never less than a load balancer takes.

    Raises:
        ValueError: the range is malformed or not /16 to /21, or there are more than seven zones.
    """
    problem = cidr_problem(cidr) or (f"at most {MOST_ZONES} zones" if len(zones) > MOST_ZONES else "")
    if problem:
        raise ValueError(problem)
    *private, last = ipaddress.IPv4Network(cidr).subnets(prefixlen_diff=3)
    public = last.subnets(new_prefix=min(last.prefixlen + 5, _SMALLEST_PUBLIC))
    return [
        ZoneSubnets(zone, str(inner), str(outer)) for zone, inner, outer in zip(zones, private, public, strict=False)
    ]


def ipv6_subnet(cidr: str, position: int, *, public: bool) -> str:
    """Return the /64 of a zone's subnet in the /56 that AWS gives a VPC, by the zone's position alone.

    Private subnets come first, public ones from the eighth on: no zone appended later moves another.
    """
    first = _FIRST_PUBLIC_IPV6 if public else 0
    base = ipaddress.IPv6Network(cidr)
    return str(ipaddress.IPv6Network((int(base.network_address) + ((first + position) << 64), 64)))


def pod_cidr_problem(cidr: str, vpc_cidr: str) -> str | None:
    """Say why pods cannot have a range of their own beside the VPC's, None if they can.

    AWS refuses some pairs of private ranges in one VPC; the shared address space goes with all of them (Amazon VPC
    User Guide, "IPv4 CIDR block association restrictions").
    """
    network, vpc = range_of(cidr), range_of(vpc_cidr)
    if network is None or not _LARGEST <= network.prefixlen <= _SMALLEST:
        return (
            f"must be an IPv4 range of /{_LARGEST} to /{_SMALLEST} whose host bits are zero, such as {POD_CIDR}, "
            f"found {cidr!r}"
        )
    if not network.subnet_of(_SHARED):
        return f"must lie in {_SHARED}, which AWS lets every VPC have in addition, such as {POD_CIDR}, found {cidr!r}"
    if vpc is not None and network.overlaps(vpc):
        return f"overlaps the range of the VPC ({vpc_cidr}), found {cidr!r}; use another, such as {POD_CIDR}"
    return None


def range_of(cidr: str) -> ipaddress.IPv4Network | None:
    """Return a range, None if the text is none."""
    try:
        return ipaddress.IPv4Network(cidr)
    except ValueError:
        return None


def cidr_problem(cidr: str) -> str | None:
    """Say why a VPC cannot have a range, None if it can."""
    network = range_of(cidr)
    if network is None:
        return f"must be an IPv4 range whose host bits are zero, such as {CIDR}, found {cidr!r}"
    if not _LARGEST <= network.prefixlen <= _SMALLEST_OF_AWS:
        return f"must be /{_LARGEST} to /{_SMALLEST_OF_AWS}, as AWS requires, such as {CIDR}, found {cidr!r}"
    if network.prefixlen > _SMALLEST:
        return (
            f"is too small for subnets in {MOST_ZONES} zones, found {cidr!r}; use /{_LARGEST} to /{_SMALLEST}, or "
            "pass an existing VPC as vpc_id"
        )
    return None
