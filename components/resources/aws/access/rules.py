"""Rules that let more than the nodes reach the API server inside the network."""

import ipaddress
from collections.abc import Iterator

import pulumi
from pulumi_aws import vpc

from ....clouds.aws.api_server import HTTPS
from ..args import ClusterArgs
from ..parts.roles import named


def admit(
    prefix: str, group_id: pulumi.Input[str], args: ClusterArgs, parent: pulumi.Resource
) -> Iterator[pulumi.Resource]:
    """Register and yield a rule for each range and each security group that may reach the API server.

    Args:
        prefix: Logical names begin with it.
        group_id: Security group of the API server, which EKS made; it keeps rules that others add.
        args: Arguments of the cluster.
        parent: The component.
    """
    for cidr in args.get("private_access_cidrs", []):
        version = ipaddress.ip_network(cidr).version
        source = {"cidr_ipv4" if version == 4 else "cidr_ipv6": cidr}
        yield _rule(f"{prefix}-api-{cidr}", group_id, args, parent, **source)
    for name, group in args.get("private_access_security_groups", {}).items():
        yield _rule(f"{prefix}-api-{name}", group_id, args, parent, referenced_security_group_id=group)


def _rule(
    name: str, group_id: pulumi.Input[str], args: ClusterArgs, parent: pulumi.Resource, **source: pulumi.Input[str]
) -> vpc.SecurityGroupIngressRule:
    return vpc.SecurityGroupIngressRule(
        name,
        security_group_id=group_id,
        ip_protocol="tcp",
        from_port=HTTPS,
        to_port=HTTPS,
        description="API server",
        tags=named(name, args.get("tags", {})),
        opts=pulumi.ResourceOptions(parent=parent),
        **source,
    )
