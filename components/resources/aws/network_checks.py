"""Checks of the arguments of a Network."""

import re
from collections.abc import Iterable, Mapping, Sequence

from ...clouds.aws.facts.regions import REGION
from ...clouds.aws.logs import DEFAULT_DAYS, retention_problems
from ...clouds.aws.reach import interface_services
from ...clouds.aws.subnets import CIDR, MOST_ZONES, cidr_problem, placeless, pod_cidr_problem, range_of
from ...clouds.aws.words import NatGateways, Traffic
from .args import FlowLogsArgs, NetworkArgs
from .argument_problems import Problems, boundary_problems, place_problems, repeated, timeout_problems

ENDPOINT_SERVICES = interface_services()


def problems(args: NetworkArgs) -> Problems:
    region = args.get("region", "")
    yield from place_problems("cluster_name", args.get("cluster_name", ""), region)
    yield from timeout_problems(args)
    services = args.get("interface_endpoints", [])
    if services and region.startswith("cn-"):
        yield (
            "interface_endpoints",
            f"are not supported in {region}, where services have other names; remove them, and create your own",
        )
    for service in dict.fromkeys(services):
        if service not in ENDPOINT_SERVICES:
            yield (
                "interface_endpoints",
                f"unknown service {service!r}; known services: {', '.join(ENDPOINT_SERVICES)}",
            )
    yield from repeated("interface_endpoints", services)
    yield from boundary_problems(args)
    created = {*services, *(() if "vpc_id" in args else ("s3",))}
    for service, document in args.get("endpoint_policies", {}).items():
        key = f"endpoint_policies[{service}]"
        if service not in created:
            yield key, f"is of no endpoint that is created; it creates {', '.join(sorted(created)) or 'none'}"
        elif not isinstance(document, dict) or "Statement" not in document:
            yield key, "must be a policy document with Version and Statement"
    yield from _existing_problems(args) if "vpc_id" in args else _new_problems(args)


def _new_problems(args: NetworkArgs) -> Problems:
    for key in ("private_subnets", "public_subnets"):
        if key in args:
            yield key, "requires vpc_id; set it, or remove the subnets to have new ones created"
    zones = args.get("zones", [])
    if not 2 <= len(zones) <= MOST_ZONES:
        yield (
            "zones",
            f"found {len(zones)}; list 2 to {MOST_ZONES} zones, such as [us-east-1a, us-east-1b]: EKS requires "
            "subnets in at least two",
        )
    yield from _zone_problems("zones", zones, args)
    yield from repeated("zones", zones)
    first = args.get("control_plane_zones", [])
    yield from control_plane_problems("control_plane_zones", first, zones, "zones")
    yield from placement_problems("zones", zones, first)
    problem = cidr_problem(args.get("cidr", CIDR))
    if problem:
        yield "cidr", problem
    if "pod_cidr" in args:
        problem = pod_cidr_problem(args["pod_cidr"], args.get("cidr", CIDR))
        if problem:
            yield "pod_cidr", problem
    nat = args.get("nat_gateways", NatGateways.ONE)
    if nat not in list(NatGateways):
        yield "nat_gateways", f"must be one of {', '.join(NatGateways)}, found {nat!r}"
    if "flow_logs" in args:
        yield from _flow_log_problems(args["flow_logs"])


def control_plane_problems(key: str, zones: Sequence[str], known: Iterable[str], where: str) -> Problems:
    """Check the zones of a control plane.

    EKS: "All subnets that you add must be in the same set of AZs as originally provided" (EKS user guide, "VPC
    requirements and considerations"); UpdateClusterConfig refuses others, and fewer as well (aws/containers-roadmap
    #2258).

    Args:
        key: The argument with the zones.
        zones: Its value; empty if the control plane uses all zones.
        known: Zones with a private subnet.
        where: The argument that lists the known zones.
    """
    yield from repeated(key, zones)
    if len(zones) == 1:
        yield key, "found 1; EKS requires subnets in at least two zones"
    missing = [zone for zone in zones if zone not in known]
    if missing:
        yield (
            key,
            f"{', '.join(missing)}: not in {where}; EKS fixes the zones of a control plane when the cluster is "
            f"created, and has network interfaces there; add {'them' if len(missing) > 1 else 'it'} to {where}, and "
            "set zones for the nodes to place them elsewhere",
        )


def placement_problems(key: str, zones: Sequence[str], control_plane: Sequence[str]) -> Problems:
    """Yield the zones for which the VPC's range has no room besides the zones of the control plane."""
    for zone in placeless(zones, control_plane) if control_plane else ():
        yield (
            key,
            f"{zone}: the range has room only for the zones a to g besides those of the control plane; remove it",
        )


def _flow_log_problems(flow_logs: FlowLogsArgs) -> Problems:
    traffic = flow_logs.get("traffic")
    if traffic not in list(Traffic):
        yield "flow_logs.traffic", f"must be one of {', '.join(Traffic)}, found {traffic!r}"
    yield from retention_problems("flow_logs.retention_days", flow_logs.get("retention_days", DEFAULT_DAYS))


def _existing_problems(args: NetworkArgs) -> Problems:
    if not str(args["vpc_id"]).startswith("vpc-"):
        yield "vpc_id", f"must be the ID of a VPC (vpc-...), found {args['vpc_id']!r}"
    for key in ("zones", "nat_gateways", "pod_cidr", "ipv6", "flow_logs"):
        if key in args:
            yield key, "has no effect on an existing VPC; remove it, or remove vpc_id"
    yield from existing_cidr_problems(args.get("cidr"), args.get("interface_endpoints", ()))
    private, public = args.get("private_subnets", {}), args.get("public_subnets", {})
    if len(private) < 2:
        yield (
            "private_subnets",
            f"found {len(private)}; EKS requires subnets in at least two zones, as zone: subnet-...",
        )
    first = args.get("control_plane_zones", [])
    yield from control_plane_problems("control_plane_zones", first, private, "private_subnets")
    for key, subnets in (("private_subnets", private), ("public_subnets", public)):
        yield from _zone_problems(key, subnets, args)
        for zone, subnet in subnets.items():
            if not str(subnet).startswith("subnet-"):
                yield f"{key}[{zone}]", f"must be the ID of a subnet (subnet-...), found {subnet!r}"
    yield from repeated("private_subnets", [*private.values(), *public.values()])


def existing_cidr_problems(cidr: str | None, endpoints: Sequence[str]) -> Problems:
    """Check the range of an existing VPC, which only the interface endpoints use; None if it is not set."""
    if endpoints and cidr is None:
        reason = "is required with interface endpoints, which accept traffic from it; set it to the range of the VPC"
        yield "cidr", reason
    elif endpoints and cidr and range_of(cidr) is None:
        yield "cidr", f"must be the IPv4 range of the VPC, such as {CIDR}, found {cidr!r}"
    elif not endpoints and cidr is not None:
        yield "cidr", "has no effect on an existing VPC without interface endpoints; remove it"


def _zone_problems(key: str, zones: Sequence[str] | Mapping[str, str], args: NetworkArgs) -> Problems:
    region = args.get("region", "")
    for zone in zones:
        if REGION.fullmatch(region) and not re.fullmatch(f"{region}[a-z]", zone):
            yield key, f"must be availability zones of {region}, such as {region}a, found {zone!r}"
