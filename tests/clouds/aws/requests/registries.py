"""The requests of pull-through caches of ECR."""

import json
from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import choice_problems
from tests.clouds.aws.requests.identity import role_exists
from tests.clouds.aws.requests.plan import From, Given, Plan, Planner, Request, drop_empty, key_values, known, lookup

WITHOUT_CREDENTIALS = ("public.ecr.aws", "quay.io", "registry.k8s.io")
"""ECR user guide, "Sync an upstream registry with an Amazon ECR private registry": no authentication."""
WITH_CREDENTIALS = ("cgr.dev", "ghcr.io", "registry-1.docker.io", "registry.gitlab.com")
"""Same page: authentication with a secret; registries of Azure, which need it too, have names of their own."""


def _ecr(operation: str, **params: Any) -> Request:
    return Request("ecr", operation, drop_empty(params))


def pull_through_cache_rule(given: Given) -> Plan:
    prefix, url, secret = given.id("ecrRepositoryPrefix", "upstreamRegistryUrl", "credentialArn")
    return Plan(
        create=_ecr(
            "CreatePullThroughCacheRule", ecrRepositoryPrefix=prefix, upstreamRegistryUrl=url, credentialArn=secret
        ),
        id=prefix,
        outputs={"registryId": From("registryId")},
        find=lookup("ecr", "DescribePullThroughCacheRules", "pullThroughCacheRules", ecrRepositoryPrefixes=[prefix]),
        delete=[_ecr("DeletePullThroughCacheRule", ecrRepositoryPrefix=prefix)],
        problems=list(_rule_problems(url, secret)) if isinstance(url, str) and known(secret) else [],
        answer={"registryId": "123456789012", "ecrRepositoryPrefix": prefix},
    )


def _rule_problems(url: str, secret: str | None) -> list[str]:
    if url in WITHOUT_CREDENTIALS:
        return ["credentialArn: this registry takes none"] if secret else []
    if url not in WITH_CREDENTIALS and not url.endswith(".azurecr.io"):
        return [f"upstreamRegistryUrl: found {url}, which ECR cannot cache"]
    return [] if secret else [f"credentialArn: is required for {url}"]


def repository_creation_template(given: Given) -> Plan:
    prefix, key, lifecycle = given.id("prefix", "customRoleArn", "lifecyclePolicy")
    tags = given.get("resourceTags")
    encryption = given.blocks(
        "encryptionConfigurations", lambda block: block.members(encryptionType="encryptionType", kmsKey="kmsKey")
    )
    first = encryption[0] if isinstance(encryption, list) and encryption else encryption or None
    problems = []
    if (tags or (isinstance(first, dict) and first.get("encryptionType") == "KMS")) and key is None:
        problems.append("customRoleArn: is required with tags or a KMS key")
    mutability = given.get("imageTagMutability")
    problems += choice_problems("imageTagMutability", mutability, ("MUTABLE", "IMMUTABLE"))
    if isinstance(lifecycle, str) and known(lifecycle):
        problems += _lifecycle_problems(json.loads(lifecycle))
    return Plan(
        create=_ecr(
            "CreateRepositoryCreationTemplate",
            prefix=prefix,
            encryptionConfiguration=first,
            resourceTags=key_values(tags),
            imageTagMutability=mutability,
            lifecyclePolicy=lifecycle,
            customRoleArn=key,
            **given.members(description="description", appliedFor="appliedFors", repositoryPolicy="repositoryPolicy"),
        ),
        id=prefix,
        find=lookup("ecr", "DescribeRepositoryCreationTemplates", "repositoryCreationTemplates", prefixes=[prefix]),
        delete=[_ecr("DeleteRepositoryCreationTemplate", prefix=prefix)],
        needs=role_exists(key),
        problems=problems,
        answer={"registryId": "123456789012"},
    )


def _lifecycle_problems(policy: Mapping[str, Any]) -> list[str]:
    """ECR user guide, "Lifecycle policy properties in Amazon ECR": what each rule must have."""
    found = []
    for rule in policy.get("rules", [{}]):
        selection = rule.get("selection", {})
        if not {"rulePriority", "selection", "action"} <= rule.keys():
            found.append("lifecyclePolicy: a rule has a priority, a selection and an action")
        found += choice_problems("tagStatus", selection.get("tagStatus"), ("tagged", "untagged", "any"))
        found += choice_problems("countType", selection.get("countType"), ("imageCountMoreThan", "sinceImagePushed"))
        if selection.get("countNumber", 0) < 1:
            found.append("lifecyclePolicy: countNumber is at least 1")
    return found


KINDS: Mapping[str, Planner] = {
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": pull_through_cache_rule,
    "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate": repository_creation_template,
}
