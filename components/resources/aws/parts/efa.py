"""The security group of nodes with EFA."""

from collections.abc import Mapping

import pulumi
from pulumi_aws import ec2, vpc

from .order import after
from .roles import named

_ALL_PROTOCOLS = "-1"


def efa_security_group(
    name: str, vpc_id: pulumi.Input[str], tags: Mapping[str, str], parent: pulumi.Resource
) -> pulumi.Output[str]:
    """Register a group that lets its members say everything to each other and nothing to others; return its ID.

    EFA needs that in both directions, beside the cluster's own security group (aws-gpu spec 8). Whatever uses the ID
    goes before the rules do.
    """
    group = ec2.SecurityGroup(
        name,
        description="EFA traffic among the nodes of a model",
        vpc_id=vpc_id,
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )
    rules = [
        rule(
            f"{name}-{suffix}",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol=_ALL_PROTOCOLS,
            tags=named(name, tags),
            opts=pulumi.ResourceOptions(parent=parent),
        )
        for rule, suffix in ((vpc.SecurityGroupIngressRule, "in"), (vpc.SecurityGroupEgressRule, "out"))
    ]
    (id_,) = after(rules, group.id)
    return id_
