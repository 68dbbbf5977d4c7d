"""Who reaches the API server of a cluster.

The security group that EKS makes guards the private endpoint, and lets in itself alone, which is the nodes (EKS's
user guide, "View Amazon EKS security group requirements for clusters"). Everybody else in the network, or connected
with it, needs a rule for port 443 ("Cluster API server endpoint", under "Accessing a private only API server"; under
"CIDR blocks in the public endpoint (IPv4 cluster)", which ranges EKS refuses).
"""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

HTTPS = 443
TUNNEL_PORT = 8443
SSM_ENDPOINTS = ("ssm", "ssmmessages")
"""Services by which the agent of Session Manager reaches it, where there is no other way out (Systems Manager's user
guide, "Reference: ec2messages, ssmmessages, and other API operations"; agents need no ec2messages since 3.3.40.0)."""
_THREE_WAYS = (
    "is empty, and nobody could reach the API server, whose security group lets in the nodes alone; choose one of: "
    "(1) public_access_cidrs with the range that you connect from, for good or until you are in the network and have "
    "set private_access_cidrs; (2) a VPC that exists and in which you run Pulumi, with private_access_cidrs or "
    "private_access_security_groups; (3) bastion: true, without a tunnel_port of 0"
)


def endpoint_access_problems(
    public: Sequence[str], private: Sequence[str], groups: Mapping[str, object], *, tunnel: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the ways to the API server, by argument; that there is none among them.

    Args:
        public: Ranges that reach it over the internet.
        private: Ranges that reach it inside the network.
        groups: Security groups that reach it, by any name.
        tunnel: Whether provider and kubeconfig go through a bastion.
    """
    for key, ranges in (("public_access_cidrs", public), ("private_access_cidrs", private)):
        for cidr in dict.fromkeys(ranges):
            version = _version(cidr)
            if version is None:
                yield key, f"must be ranges whose host bits are zero, such as 203.0.113.0/24, found {cidr!r}"
            elif version == 6 and ranges is public:
                yield key, f"must be IPv4 ranges: the public endpoint of an IPv4 cluster has no IPv6, found {cidr!r}"
            elif list(ranges).count(cidr) > 1:
                yield key, f"{cidr!r} is listed {list(ranges).count(cidr)} times; list it once"
    for name, group in groups.items():
        if isinstance(group, str) and not group.startswith("sg-"):
            yield (
                f"private_access_security_groups[{name}]",
                f"must be the ID of a security group (sg-...), found {group!r}",
            )
    if not (public or private or groups or tunnel):
        yield "public_access_cidrs", _THREE_WAYS


def _version(cidr: str) -> int | None:
    try:
        return ipaddress.ip_network(cidr).version
    except ValueError:
        return None
