"""The requests of who may reach a cluster of EKS, and of what its pods may do."""

from collections.abc import Mapping

from tests.clouds.aws.models.documented import choice_problems
from tests.clouds.aws.models.policies import IDENTITY, policy_problems
from tests.clouds.aws.requests.clusters import cluster_exists, request
from tests.clouds.aws.requests.identity import role_exists
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Plan,
    Planner,
    Text,
    drop_empty,
    listed,
    lookup,
)
from workbench.engine.values import UNKNOWN

ACCESS_ENTRY_TYPES = (
    "STANDARD",
    "EC2_LINUX",
    "EC2_WINDOWS",
    "FARGATE_LINUX",
    "EC2",
    "HYBRID_LINUX",
    "HYPERPOD_LINUX",
)
_RESERVED_GROUPS = ("system:", "eks:", "aws:", "amazon:", "iam:")


def access_entry(given: Given) -> Plan:
    cluster, principal = given.id("clusterName", "principalArn")
    kind, groups = given.get("type"), given.get("kubernetesGroups")
    which = {"clusterName": cluster, "principalArn": principal}
    reserved = [group for group in listed(groups, str) if group.startswith(_RESERVED_GROUPS)]
    problems = choice_problems("access entry type", kind, ACCESS_ENTRY_TYPES)
    problems += [f"Kubernetes group {group!r} is reserved" for group in reserved]
    if kind not in (None, "STANDARD", UNKNOWN) and groups:
        problems.append(f"an access entry of type {kind} has no groups of its own")
    return Plan(
        create=request(
            "CreateAccessEntry",
            **which,
            **drop_empty({"type": kind, "kubernetesGroups": groups}),
            **given.members(username="userName", tags="tags"),
        ),
        id=f"{cluster}:{principal}",
        outputs={
            "accessEntryArn": Text(f"arn:{{partition}}:eks:{{region}}:{{account}}:access-entry/{cluster}/role/0")
        },
        find=lookup("eks", "DescribeAccessEntry", "accessEntry", **which),
        delete=[request("DeleteAccessEntry", **which)],
        needs=cluster_exists(cluster),  # the principal may well be from outside the program
        problems=problems,
    )


def access_policy_association(given: Given) -> Plan:
    cluster, principal, policy = given.id("clusterName", "principalArn", "policyArn")
    scope = given.block("accessScope", lambda block: block.same("type", "namespaces"))
    which = {"clusterName": cluster, "principalArn": principal}
    problems = []
    if isinstance(policy, str) and ":eks::aws:cluster-access-policy/" not in policy:
        problems.append(f"access policy: found {policy!r}, allowed is arn:aws:eks::aws:cluster-access-policy/...")
    if isinstance(scope, dict) and (scope.get("type") == "namespace") != bool(scope.get("namespaces")):
        problems.append(f"access scope: found {scope}, namespaces go with the type namespace")
    return Plan(
        create=request("AssociateAccessPolicy", **which, policyArn=policy, accessScope=scope),
        id=f"{cluster}#{principal}#{policy}",
        find=lookup(
            "eks", "ListAssociatedAccessPolicies", f"associatedAccessPolicies[?policyArn=='{policy}']", **which
        ),
        delete=[request("DisassociateAccessPolicy", **which, policyArn=policy)],
        needs=cluster_exists(cluster),  # the principal may well be from outside the program
        problems=problems,
    )


def pod_identity_association(given: Given) -> Plan:
    made = From("association.associationId")
    cluster, role = given.get("clusterName"), given.get("roleArn")
    policy = given.get("policy")
    return Plan(
        create=request(
            "CreatePodIdentityAssociation",
            clusterName=cluster,
            roleArn=role,
            **given.same("namespace", "serviceAccount", "disableSessionTags", "targetRoleArn", "tags"),
            **drop_empty({"policy": policy}),
        ),
        id=made,
        outputs={"associationId": made, "associationArn": From("association.associationArn")},
        find=lookup("eks", "DescribePodIdentityAssociation", "association", clusterName=cluster, associationId=made),
        delete=[request("DeletePodIdentityAssociation", clusterName=cluster, associationId=made)],
        needs=[*cluster_exists(cluster), *role_exists(role)],
        problems=policy_problems(IDENTITY, policy),
        answer={"association": {"associationId": "a-0123456789abcdef0", "associationArn": "arn:of-association"}},
    )


KINDS: Mapping[str, Planner] = {
    "aws:eks/accessEntry:AccessEntry": access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": access_policy_association,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": pod_identity_association,
}
