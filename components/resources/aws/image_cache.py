"""A pull-through cache for images in the account's private registry (ECR).

ImageCache
├── iam.Role, iam.RolePolicy              <name>-repositories, if repositories have tags or a key
├── per registry, unless the rules exist
│   ├── ecr.RepositoryCreationTemplate    <name>-<registry's part of the prefix>
│   └── ecr.PullThroughCacheRule          <name>-<registry's part of the prefix>
└── iam.RolePolicy                        <name>-<node role>
"""

import json

import pulumi
from pulumi_aws import ecr, iam

from ...clouds.aws.facts.iam import service_trust
from ...clouds.aws.images import (
    MOST_IMAGES,
    RegistryCache,
    cache_problems,
    lifecycle_policy,
    node_policy,
    region_problem,
    secret_problem,
    template_policy,
    upstream,
)
from ...contract.problems import field_path
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import ImageCacheArgs
from .argument_problems import Problems, boundary_problems, region_problems, repeated
from .parts.common import partition, service_role


class ImageCache(pulumi.ComponentResource):
    """Creates pull-through cache rules, and grants nodes access to the cache.

    ECR pulls an image when a node first requests it, with the credentials of the rule, and stores it in a repository
    that it creates. Deleting the component retains these repositories; delete them manually. Image references must
    point to the cache: pass account, registries and prefix to ModelFleet as image_cache.
    """

    registry: pulumi.Output[str]
    """Host name of the registry."""
    node_policy: pulumi.Output[str]
    """IAM policy of the node roles in JSON, for roles that the component does not manage."""

    def __init__(self, name: str, args: ImageCacheArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create rules and policies.

        Raises:
            InvalidArguments: arguments are missing, unknown or wrong; every problem is listed.
        """
        args = checked_args(name, args, ImageCacheArgs, _problems)
        super().__init__(token("ImageCache"), name, {}, opts)
        self._name, self._args, self._tags = name, args, args.get("tags", {})
        region = args["region"]
        registries = tuple(dict.fromkeys(args["registries"]))
        self._cache = RegistryCache(args["account"], region, registries, args.get("prefix", ""))
        existing = args.get("existing", False)
        if not existing:
            self._rules()
        # Existing rules may tag the repositories.
        document = node_policy(self._cache, partition(region), tagged=bool(self._tags) or existing)
        for key, role in args.get("node_roles", {}).items():
            iam.RolePolicy(f"{name}-{key}", role=role, policy=json.dumps(document), opts=self._child())
        self.registry = pulumi.Output.from_input(self._cache.host)
        self.node_policy = pulumi.Output.from_input(json.dumps(document))
        self.register_outputs({"registry": self.registry, "nodePolicy": self.node_policy})

    def _child(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))

    def _rules(self) -> None:
        """Create a rule for each registry, after the template of its repositories."""
        key, keep = self._args.get("kms_key_arn", ""), self._args.get("keep_images")
        role = None
        if key or self._tags:
            # ECR assumes it to tag and encrypt the repositories that it creates.
            # ECR documents no conditions for this trust (ECR user guide, "Create an IAM role for repository creation
            # templates").
            trust, boundary = service_trust("ecr.amazonaws.com"), self._args.get("permissions_boundary_arn", "")
            role, _ = service_role(
                f"{self._name}-repositories", trust, policies=(), tags=self._tags, parent=self, boundary=boundary
            )
            document = template_policy(self._cache, partition(self._args["region"]), key)
            name = f"{self._name}-repositories"
            iam.RolePolicy(name, role=role.name, policy=json.dumps(document), opts=self._child())
        for registry, prefix in self._cache.prefixes.items():
            known = upstream(registry)
            assert known is not None  # noqa: S101  _problems rejects others
            name = f"{self._name}-{known.prefix}"
            template = ecr.RepositoryCreationTemplate(
                name,
                prefix=prefix,
                description=f"Images of {registry}",
                applied_fors=["PULL_THROUGH_CACHE"],
                # ECR cannot update cached images of immutable tags (ECR user guide, "Sync an upstream registry",
                # Considerations).
                image_tag_mutability="MUTABLE",
                encryption_configurations=[
                    {"encryption_type": "KMS", "kms_key": key} if key else {"encryption_type": "AES256"}
                ],
                lifecycle_policy=json.dumps(lifecycle_policy(keep)) if keep else None,
                custom_role_arn=role.arn if role else None,
                resource_tags=self._tags or None,
                opts=self._child(),
            )
            ecr.PullThroughCacheRule(
                name,
                ecr_repository_prefix=prefix,
                upstream_registry_url=known.url,
                credential_arn=self._args.get("credentials", {}).get(registry),
                opts=self._child(template),
            )


def _problems(args: ImageCacheArgs) -> Problems:
    yield from boundary_problems(args)
    region, account = args.get("region", ""), args.get("account")
    registries, prefix = args.get("registries", []), args.get("prefix", "")
    for key in ("account", "registries"):
        if not args.get(key):
            yield key, "is required"
    yield from region_problems(region)
    if wrong := region_problem(region):
        yield "region", wrong
    yield from repeated("registries", registries)
    for path, reason in cache_problems(registries, prefix, account or None):
        yield field_path(path), reason
    credentials, existing = args.get("credentials", {}), args.get("existing", False)
    for registry, arn in credentials.items():
        if registry not in registries:
            yield f"credentials[{registry}]", "is not among registries; add it there, or remove it here"
        elif wrong := secret_problem(arn, account, region):
            yield f"credentials[{registry}]", wrong
    for registry in dict.fromkeys(() if existing else registries):
        known = upstream(registry)
        if known and known.credentials and registry not in credentials:
            yield "credentials", f"must contain a secret for {registry}, which ECR can cache only with credentials"
    if not 1 <= args.get("keep_images", 1) <= MOST_IMAGES:
        yield "keep_images", f"must be between 1 and {MOST_IMAGES}, found {args['keep_images']}"
