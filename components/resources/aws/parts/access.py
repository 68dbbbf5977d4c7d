"""Access to a cluster: access entries of IAM roles, and network access to the API server."""

import ipaddress
from collections.abc import Iterator

import pulumi
from pulumi_aws import eks, vpc

from ....clouds.aws.access import grants
from ....clouds.aws.api_server import HTTPS
from ..args import ClusterArgs
from ..cluster_checks import namespaces_of
from .common import named, partition


def grant_access(
    prefix: str, cluster: eks.Cluster, args: ClusterArgs, parent: pulumi.Resource
) -> Iterator[pulumi.Resource]:
    """Create an access entry per role, and yield the associations of its access policies.

    Args:
        prefix: Prefix of logical names.
        cluster: The cluster.
        args: Arguments of the component.
        parent: The component.
    """
    entries: dict[str, eks.AccessEntry] = {}
    for grant in grants(args.get("admin_role_arns", []), args.get("viewer_role_arns", []), namespaces_of(args)):
        # EKS rejects a second entry for a role, so an entry of an earlier release continues under its new name.
        aliases = [pulumi.Alias(name=f"{prefix}-{grant.formerly}")] if grant.formerly else None
        if grant.role not in entries:
            name = f"{prefix}-{grant.entry}"
            entries[grant.role] = eks.AccessEntry(
                name,
                cluster_name=cluster.name,
                principal_arn=grant.role,
                tags=named(name, args.get("tags", {})),
                opts=pulumi.ResourceOptions(parent=parent, aliases=aliases),
            )
        yield eks.AccessPolicyAssociation(
            f"{prefix}-{grant.name}",
            cluster_name=cluster.name,
            principal_arn=grant.role,
            policy_arn=f"arn:{partition(args['region'])}:eks::aws:cluster-access-policy/{grant.policy}",
            access_scope=eks.AccessPolicyAssociationAccessScopeArgs(
                type="namespace" if grant.namespaces else "cluster", namespaces=list(grant.namespaces) or None
            ),
            opts=pulumi.ResourceOptions(
                parent=parent,
                depends_on=[entries[grant.role]],
                aliases=aliases,
                # An association is identified by role and policy: deleting the old one after a change of its
                # namespaces would delete the new one.
                delete_before_replace=True,
            ),
        )


def api_server_rules(
    prefix: str, group_id: pulumi.Input[str], args: ClusterArgs, parent: pulumi.Resource
) -> Iterator[pulumi.Resource]:
    """Create and yield an ingress rule per CIDR range and security group that may reach the API server.

    Args:
        prefix: Prefix of logical names.
        group_id: Security group of the API server. EKS created it, and keeps rules that others add.
        args: Arguments of the cluster.
        parent: The component.
    """
    sources: dict[str, dict[str, pulumi.Input[str]]] = {
        cidr: {"cidr_ipv4" if ipaddress.ip_network(cidr).version == 4 else "cidr_ipv6": cidr}
        for cidr in args.get("private_access_cidrs", [])
    }
    sources |= {
        key: {"referenced_security_group_id": group}
        for key, group in args.get("private_access_security_groups", {}).items()
    }
    for key, source in sources.items():
        name = f"{prefix}-api-{key}"
        yield vpc.SecurityGroupIngressRule(
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
