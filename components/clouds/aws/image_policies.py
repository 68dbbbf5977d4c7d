"""What a cache of images needs to be allowed, and how its repositories are made."""

from collections.abc import Iterator
from typing import Any

from .facts.iam import Document, Statement
from .images import RegistryCache

_VERSION = "2012-10-17"


def node_policy(cache: RegistryCache, partition: str, *, tagged: bool) -> Document:
    """Return what nodes need beside pulling, to have images cached: in the repositories of the cache alone.

    Source: ECR user guide, "IAM permissions required to sync an upstream registry with an Amazon ECR private
    registry". AmazonEC2ContainerRegistryPullOnly, which nodes have, lacks the right to create a repository.

    Args:
        cache: The cache.
        partition: Partition of its region.
        tagged: Whether the repositories get tags.
    """
    tag = ("ecr:TagResource",) if tagged else ()
    actions = ("ecr:BatchImportUpstreamImage", "ecr:CreateRepository", *tag)
    statement = Statement(actions, tuple(_repositories(cache, partition)), sid="CacheImages")
    return {"Version": _VERSION, "Statement": [statement.document()]}


def template_policy(cache: RegistryCache, partition: str, kms_key_arn: str = "") -> Document:
    """Return what ECR needs to create repositories with tags or a key.

    Source: ECR user guide, "Create a custom policy for repository creation templates", without what replication
    needs.
    """
    create = Statement(
        ("ecr:CreateRepository", "ecr:TagResource"), tuple(_repositories(cache, partition)), sid="CreateRepositories"
    )
    statements = [create.document()]
    if kms_key_arn:
        actions = ("kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant")
        statements.append(Statement(actions, (kms_key_arn,), sid="UseKey").document())
    return {"Version": _VERSION, "Statement": statements}


def lifecycle_policy(keep: int) -> dict[str, Any]:
    """Return the policy by which the oldest images of a repository go (ECR user guide, "Lifecycle policies")."""
    selection = {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": keep}
    rule = {
        "rulePriority": 1,
        "description": f"Keep the {keep} newest images",
        "selection": selection,
        "action": {"type": "expire"},
    }
    return {"rules": [rule]}


def _repositories(cache: RegistryCache, partition: str) -> Iterator[str]:
    """Yield the ARNs of what may be cached, by rule."""
    for prefix in cache.prefixes.values():
        yield f"arn:{partition}:ecr:{cache.region}:{cache.account}:repository/{prefix}/*"
