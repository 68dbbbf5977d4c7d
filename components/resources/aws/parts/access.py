"""Who may do what in a cluster: an access entry for each role, and the policies associated with it."""

from collections.abc import Iterator

import pulumi
from pulumi_aws import eks

from ....clouds.aws.access import Grant, grants
from ..args import ClusterArgs
from ..cluster_checks import namespaces_of
from .roles import named, partition


def grant_access(
    prefix: str, cluster: eks.Cluster, args: ClusterArgs, parent: pulumi.Resource
) -> Iterator[pulumi.Resource]:
    """Register an entry for each role, and yield what gives it its rights.

    Args:
        prefix: Logical names begin with it.
        cluster: The cluster.
        args: Arguments of the component.
        parent: The component.
    """
    wanted = grants(args.get("admin_role_arns", []), args.get("viewer_role_arns", []), namespaces_of(args))
    entries: dict[str, eks.AccessEntry] = {}
    for grant in wanted:
        if grant.role not in entries:
            entries[grant.role] = _entry(prefix, cluster, grant, args, parent)
        yield _association(prefix, cluster, grant, args, parent, entries[grant.role])


def _entry(
    prefix: str, cluster: eks.Cluster, grant: Grant, args: ClusterArgs, parent: pulumi.Resource
) -> eks.AccessEntry:
    name = f"{prefix}-{grant.entry}"
    return eks.AccessEntry(
        name,
        cluster_name=cluster.name,
        principal_arn=grant.role,
        tags=named(name, args.get("tags", {})),
        opts=pulumi.ResourceOptions(parent=parent, aliases=_former(prefix, grant)),
    )


def _association(
    prefix: str,
    cluster: eks.Cluster,
    grant: Grant,
    args: ClusterArgs,
    parent: pulumi.Resource,
    entry: eks.AccessEntry,
) -> eks.AccessPolicyAssociation:
    """Associate a policy; deleted first when its namespaces change, since the new one would be the one deleted."""
    return eks.AccessPolicyAssociation(
        f"{prefix}-{grant.name}",
        cluster_name=cluster.name,
        principal_arn=grant.role,
        policy_arn=f"arn:{partition(args['region'])}:eks::aws:cluster-access-policy/{grant.policy}",
        access_scope=_scope(grant),
        opts=pulumi.ResourceOptions(
            parent=parent, depends_on=[entry], aliases=_former(prefix, grant), delete_before_replace=True
        ),
    )


def _scope(grant: Grant) -> eks.AccessPolicyAssociationAccessScopeArgs:
    if grant.namespaces:
        return eks.AccessPolicyAssociationAccessScopeArgs(type="namespace", namespaces=list(grant.namespaces))
    return eks.AccessPolicyAssociationAccessScopeArgs(type="cluster")


def _former(prefix: str, grant: Grant) -> list[pulumi.Alias] | None:
    """EKS refuses a second entry for a role, so one that is there must go on under its new name."""
    return [pulumi.Alias(name=f"{prefix}-{grant.formerly}")] if grant.formerly else None
