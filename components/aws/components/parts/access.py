"""Who may do what in a cluster: access entries, and the policies that they bring."""

from collections.abc import Iterator

import pulumi
from pulumi_aws import eks

from ..cluster_args import ClusterArgs
from .roles import named, partition

_ADMIN, _VIEWER = "AmazonEKSClusterAdminPolicy", "AmazonEKSAdminViewPolicy"


def grant_access(
    prefix: str, cluster: eks.Cluster, args: ClusterArgs, parent: pulumi.Resource
) -> Iterator[pulumi.Resource]:
    """Register an entry for each administrator and viewer, and yield what gives them their rights.

    Args:
        prefix: Logical names begin with it.
        cluster: The cluster.
        args: Arguments of the component.
        parent: The component.
    """
    people = {
        "admin": (_ADMIN, args.get("admin_role_arns", [])),
        "viewer": (_VIEWER, args.get("viewer_role_arns", [])),
    }
    arn = f"arn:{partition(args['region'])}:eks::aws:cluster-access-policy"
    for role, (policy, principals) in people.items():
        for principal in principals:
            name = f"{prefix}-{role}-{principal.rpartition('/')[2]}"
            entry = eks.AccessEntry(
                name,
                cluster_name=cluster.name,
                principal_arn=principal,
                tags=named(name, args.get("tags", {})),
                opts=pulumi.ResourceOptions(parent=parent),
            )
            yield eks.AccessPolicyAssociation(
                name,
                cluster_name=cluster.name,
                principal_arn=principal,
                policy_arn=f"{arn}/{policy}",
                access_scope=eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                opts=pulumi.ResourceOptions(parent=parent, depends_on=[entry]),
            )
