"""What every AWS component does the same way: names of policies and of what is replaced, roles of services, tags."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pulumi
from pulumi_aws import iam

from ....clouds.aws.facts.eks import limits

NODE_POLICIES = ("AmazonSSMManagedInstanceCore",)
"""Of nodes, unless others are asked for: Session Manager is a way in without keys and open ports (EKS best practices,
"Minimize access to worker nodes")."""
_JOIN_AND_PULL = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
_POLICY = re.compile(r"(arn:aws[a-z-]*:iam::(aws|\d{12}):policy/)?[\w+=,.@/-]+", re.ASCII)
_DIGEST = 6
_PARTITIONS = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}


def partition(region: str) -> str:
    """Return the partition of a region, the second part of every ARN in it."""
    return next((name for prefix, name in _PARTITIONS.items() if region.startswith(prefix)), "aws")


def managed_policy(name: str, region: str) -> str:
    """Return the ARN of a policy that AWS keeps."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"


def node_role(
    name: str, further: Iterable[str], region: str, tags: Mapping[str, str], parent: pulumi.Resource
) -> tuple[iam.Role, list[iam.RolePolicyAttachment]]:
    """Register the role of nodes: they join the cluster, pull images, and may do what further policies say.

    Args:
        name: Logical name.
        further: Names of policies that AWS keeps, or ARNs.
        region: AWS region.
        tags: Tags of the stack.
        parent: The component.
    """
    policies = [policy if policy.startswith("arn:") else managed_policy(policy, region) for policy in further]
    always = [managed_policy(policy, region) for policy in _JOIN_AND_PULL]
    return service_role(name, "ec2.amazonaws.com", [*always, *policies], tags, parent)


def node_policy_problems(further: Sequence[str]) -> Iterator[str]:
    """Say what is wrong with further policies of nodes."""
    for policy in further:
        if not _POLICY.fullmatch(policy):
            yield (
                "must be names of policies that AWS manages, such as AmazonSSMManagedInstanceCore, or ARNs of "
                f"policies, found {policy!r}"
            )
    names = [policy.rpartition("/")[2] for policy in (*_JOIN_AND_PULL, *further)]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            always = "; every node has it" if name in _JOIN_AND_PULL else ""
            yield f"{name} is listed more than once{always}"


def named(name: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of a resource: those of the stack and its name."""
    return {**tags, "Name": name}


def replaceable_name(name: str, *fixed: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the name of a node group that is replaced if any of some values changes.

    The new group then has another name, and is there before the old one goes.

    Args:
        name: What the name begins with.
        fixed: What EKS cannot change in place.
    """
    return pulumi.Output.all(*fixed).apply(lambda known: digested(name, known))


def digested(name: str, facts: Iterable[str]) -> str:
    """Return a name of a node group with a digest of some facts."""
    digest = hashlib.sha256(json.dumps(list(facts)).encode()).hexdigest()[:_DIGEST]
    return f"{name[: limits().name - _DIGEST - 1]}-{digest}"


def service_role(
    name: str,
    service: str,
    policies: Iterable[str],
    tags: Mapping[str, str],
    parent: pulumi.Resource,
    actions: tuple[str, ...] = ("sts:AssumeRole",),
) -> tuple[iam.Role, list[iam.RolePolicyAttachment]]:
    """Register a role that an AWS service takes, and its policies.

    Args:
        name: Logical name; the role's name is made of it by Pulumi.
        service: Principal, such as ``eks.amazonaws.com``.
        policies: ARNs of managed policies.
        tags: Tags of the stack.
        parent: The component.
        actions: What the service may do to take the role.
    """
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
    role = iam.Role(
        name,
        assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )
    attachments = [
        iam.RolePolicyAttachment(
            f"{name}-{arn.rpartition('/')[2]}",
            role=role.name,
            policy_arn=arn,
            opts=pulumi.ResourceOptions(parent=parent),
        )
        for arn in policies
    ]
    return role, attachments
