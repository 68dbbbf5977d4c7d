"""Address ranges of a cluster's subnets."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CIDR = "10.0.0.0/16"
POD_CIDR = "100.64.0.0/16"
MOST_ZONES = 7
"""No region has more than six; the last eighth of the VPC is for the public subnets."""
_LARGEST, _SMALLEST, _SMALLEST_OF_AWS = 16, 21, 28
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")
"""RFC 6598."""
_FIRST_PUBLIC_IPV6 = 8
_SMALLEST_PUBLIC = 27  # a load balancer refuses smaller subnets
_LETTERS = "abcdefg"
"""Of zones: no region has more than six, us-east-1a to us-east-1f."""


@dataclass(frozen=True, slots=True)
class ZoneSubnets:
    """The address ranges of one zone."""

    zone: str
    private: str
    public: str
    position: int


def in_order(zones: Iterable[str], control_plane: Sequence[str] = ()) -> list[str]:
    """Return zones in an order that no edit of their list changes: those of the control plane, then the others.

    Without the zones of the control plane there is nothing to hold on to, and the order is that of the list.
    """
    if not control_plane:
        return list(zones)
    known = {*zones}
    return [*(zone for zone in control_plane if zone in known), *sorted(known - {*control_plane})]


def positions(zones: Iterable[str], control_plane: Sequence[str] = ()) -> dict[str, int]:
    """Return the position of each zone, which decides about the addresses of its subnets.

    Where the zones of the control plane are given, they come first, in their order, and every other zone has the
    place of its letter among the letters that are left: which other zones there are does not matter, so that zones
    can be added, removed and listed in any order. Otherwise the place in the list counts, and only appending a zone
    leaves the others where they are.
    """
    if not control_plane:
        return {zone: index for index, zone in enumerate(zones)}
    taken = {zone[-1:] for zone in control_plane}
    free = [letter for letter in _LETTERS if letter not in taken]
    fixed = {zone: index for index, zone in enumerate(control_plane)}
    by_letter = {letter: len(control_plane) + index for index, letter in enumerate(free)}
    return {
        zone: fixed[zone] if zone in fixed else by_letter.get(zone[-1:], MOST_ZONES)
        for zone in in_order(zones, control_plane)
    }


def placeless(zones: Iterable[str], control_plane: Sequence[str]) -> list[str]:
    """Return the zones that do not fit the VPC."""
    return [zone for zone, position in positions(zones, control_plane).items() if position >= MOST_ZONES]


def plan_subnets(cidr: str, zones: Sequence[str], control_plane: Sequence[str] = ()) -> list[ZoneSubnets]:
    """Return the address ranges of each zone, by its position alone (see :func:`positions`).

    The VPC is always divided into eight parts, so that a zone added later does not move the others. A private subnet,
    from which pods take their addresses, has an eighth; the public ones share the last: /24 each in a /16, and never
    less than a load balancer takes.

    Raises:
        ValueError: the range is malformed or not /16 to /21, or there is no room for a zone.
    """
    problem = cidr_problem(cidr) or (f"at most {MOST_ZONES} zones" if len(zones) > MOST_ZONES else "")
    if problem:
        raise ValueError(problem)
    if placeless(zones, control_plane):
        raise ValueError(f"no room for {', '.join(placeless(zones, control_plane))}")
    *private, last = map(str, ipaddress.IPv4Network(cidr).subnets(prefixlen_diff=3))
    rest = ipaddress.IPv4Network(last)
    public = [str(range_) for range_ in rest.subnets(new_prefix=min(rest.prefixlen + 5, _SMALLEST_PUBLIC))]
    return [
        ZoneSubnets(zone, private[index], public[index], index)
        for zone, index in positions(zones, control_plane).items()
    ]


def ipv6_subnet(cidr: str, position: int, *, public: bool) -> str:
    """Return the /64 of a zone's subnet in the /56 that AWS gives a VPC, by the zone's position alone.

    Private subnets come first, public ones from the eighth on: no zone added later moves another.
    """
    first = _FIRST_PUBLIC_IPV6 if public else 0
    base = ipaddress.IPv6Network(cidr)
    return str(ipaddress.IPv6Network((int(base.network_address) + ((first + position) << 64), 64)))


def pod_cidr_problem(cidr: str, vpc_cidr: str) -> str | None:
    """Return why a range is invalid for pods, None if it is valid.

    AWS rejects some pairs of private ranges in one VPC; the shared address space can be combined with all of them
    (Amazon VPC User Guide, "IPv4 CIDR block association restrictions").
    """
    network, vpc = range_of(cidr), range_of(vpc_cidr)
    if network is None or not _LARGEST <= network.prefixlen <= _SMALLEST:
        return (
            f"must be an IPv4 range of /{_LARGEST} to /{_SMALLEST} whose host bits are zero, such as {POD_CIDR}, "
            f"found {cidr!r}"
        )
    if not network.subnet_of(_SHARED):
        return f"must lie in {_SHARED}, which any VPC can add as a range, such as {POD_CIDR}, found {cidr!r}"
    if vpc is not None and network.overlaps(vpc):
        return f"overlaps the range of the VPC ({vpc_cidr}), found {cidr!r}; use another, such as {POD_CIDR}"
    return None


def range_of(cidr: str) -> ipaddress.IPv4Network | None:
    """Parse an IPv4 range; None if it is invalid."""
    try:
        return ipaddress.IPv4Network(cidr)
    except ValueError:
        return None


def cidr_problem(cidr: str) -> str | None:
    """Return why a range is invalid for a VPC; None if it is valid."""
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
