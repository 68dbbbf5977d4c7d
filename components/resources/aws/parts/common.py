"""Helpers of all AWS components: names, tags, IAM roles, and outputs with further dependencies."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import iam

from ....clouds.aws.facts.eks import limits
from ....clouds.aws.facts.iam import Document, service_trust
from ....clouds.aws.nodes.policies import JOIN_AND_PULL

NODE_POLICIES = ("AmazonSSMManagedInstanceCore",)
"""Default additional policies of nodes. Session Manager gives access without SSH keys and open ports (EKS best
practices, "Minimize access to worker nodes")."""
_DIGEST = 6
_PARTITIONS = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}


def partition(region: str) -> str:
    """Return the partition of a region, the second part of every ARN in it."""
    return next((name for prefix, name in _PARTITIONS.items() if region.startswith(prefix)), "aws")


def managed_policy(name: str, region: str) -> str:
    """Return the ARN of an AWS managed policy."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"


def node_role(
    name: str,
    policies: Iterable[str],
    region: str,
    tags: Mapping[str, str],
    parent: pulumi.Resource,
    boundary: str = "",
) -> tuple[iam.Role, list[iam.RolePolicyAttachment]]:
    """Create the IAM role of nodes, with the policies to join the cluster and pull images, and `further` ones.

    Args:
        name: Logical name.
        policies: Names of AWS managed policies, or ARNs.
        region: AWS region.
        tags: Tags of the stack.
        parent: The component.
        boundary: ARN of the permissions boundary; empty for none.
    """
    policies = [policy if policy.startswith("arn:") else managed_policy(policy, region) for policy in policies]
    always = [managed_policy(policy, region) for policy in JOIN_AND_PULL]
    return service_role(
        name,
        service_trust("ec2.amazonaws.com"),
        policies=[*always, *policies],
        tags=tags,
        parent=parent,
        boundary=boundary,
    )


def named(name: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of a resource: the stack's tags and its ``Name``."""
    return {**tags, "Name": name}


def replaceable_name(name: str, *fixed: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return a node group name with a digest of the properties that force a replacement.

    The replacement then has another name, so that it can be created before the old group is deleted.

    Args:
        name: Beginning of the name.
        fixed: Properties that EKS cannot change in place.
    """

    def digested(values: Sequence[str]) -> str:
        digest = hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()[:_DIGEST]
        return f"{name[: limits().name - _DIGEST - 1]}-{digest}"

    return pulumi.Output.all(*fixed).apply(digested)


def service_role(
    name: str,
    trust: Document,
    policies: Iterable[str],
    tags: Mapping[str, str],
    parent: pulumi.Resource,
    boundary: str = "",
) -> tuple[iam.Role, list[iam.RolePolicyAttachment]]:
    """Create an IAM role that an AWS service assumes, and attach policies.

    Args:
        name: Logical name; Pulumi derives the physical name from it.
        trust: Trust policy.
        policies: ARNs of managed policies.
        tags: Tags of the stack.
        parent: The component.
        boundary: ARN of the permissions boundary; empty for none.
    """
    role = iam.Role(
        name,
        assume_role_policy=json.dumps(trust),
        permissions_boundary=boundary or None,
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


def after(required: Sequence[pulumi.Resource], *outputs: pulumi.Output[str]) -> list[pulumi.Output[str]]:
    """Return outputs whose users also depend on other resources, which are then deleted after those users.

    Args:
        required: Resources that must exist for as long as an output is used.
        outputs: Properties of other resources.
    """
    # URNs are known at preview, so outputs that are known remain known.
    urns = [resource.urn for resource in required]
    return [pulumi.Output.all(output, *urns).apply(lambda known: str(known[0])) for output in outputs]


@dataclass(frozen=True, slots=True)
class Labels:
    """Logical names and tags of the resources of one component.

    Attributes:
        name: Logical name of the component.
        cluster: Name of the cluster, with which the tag ``Name`` begins.
        stack: Tags of the stack.
        parent: The component.
    """

    name: str
    cluster: str
    stack: Mapping[str, str]
    parent: pulumi.Resource

    def logical(self, suffix: str = "") -> str:
        return f"{self.name}-{suffix}" if suffix else self.name

    def tags(self, suffix: str = "", **more: str) -> dict[str, str]:
        return named(f"{self.cluster}-{suffix}" if suffix else self.cluster, {**self.stack, **more})

    def child(self, *depends_on: pulumi.Resource, protect: bool | None = None) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self.parent, depends_on=list(depends_on), protect=protect)
