"""ECR as a cache of other registries: what nodes pull comes from the account's own registry.

ImageCache
├── iam.Role, iam.RolePolicy              <name>-repositories, where repositories have tags or a key
├── per registry, unless the rules exist
│   ├── ecr.RepositoryCreationTemplate    <name>-<registry's part of the prefix>
│   └── ecr.PullThroughCacheRule          <name>-<registry's part of the prefix>
└── iam.RolePolicy                        <name>-<node role>, each
"""

import json

import pulumi
from pulumi_aws import ecr, iam

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
from .argument_problems import Problems, region_problems, repeated
from .parts.roles import partition, service_role


class ImageCache(pulumi.ComponentResource):
    """Creates pull-through cache rules, and lets nodes use them.

    ECR pulls an image when a node first asks for it, with the credentials of the rule, and keeps it in a repository
    that it creates. These repositories stay when the component goes; delete them by hand. References must name the
    cache: pass account, registries and prefix to a ModelFleet as image_cache.
    """

    registry: pulumi.Output[str]
    """Host of the registry."""
    node_policy: pulumi.Output[str]
    """Policy that the roles of nodes have, in JSON, for roles of your own."""

    def __init__(self, name: str, args: ImageCacheArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register rules and rights.

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
        # Whether rules that others made give tags is not known.
        document = node_policy(self._cache, partition(region), tagged=bool(self._tags) or existing)
        for key, role in args.get("node_roles", {}).items():
            iam.RolePolicy(f"{name}-{key}", role=role, policy=json.dumps(document), opts=self._child())
        self.registry = pulumi.Output.from_input(self._cache.host)
        self.node_policy = pulumi.Output.from_input(json.dumps(document))
        self.register_outputs({"registry": self.registry, "nodePolicy": self.node_policy})

    def _child(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))

    def _rules(self) -> None:
        """Register a rule for each registry, after the template by which its repositories are created."""
        key, keep = self._args.get("kms_key_arn", ""), self._args.get("keep_images")
        role = self._repository_role(key) if key or self._tags else None
        for registry, prefix in self._cache.prefixes.items():
            known = upstream(registry)
            assert known is not None  # noqa: S101  _problems has been asked
            name = f"{self._name}-{known.prefix}"
            template = ecr.RepositoryCreationTemplate(
                name,
                prefix=prefix,
                description=f"Images of {registry}",
                applied_fors=["PULL_THROUGH_CACHE"],
                # Tags must move: ECR cannot update what it has cached of an immutable one (ECR user guide, "Sync an
                # upstream registry", Considerations).
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

    def _repository_role(self, key: str) -> iam.Role:
        """Register the role by which ECR gives repositories tags and a key."""
        name = f"{self._name}-repositories"
        role, _ = service_role(name, "ecr.amazonaws.com", (), self._tags, self)
        document = template_policy(self._cache, partition(self._args["region"]), key)
        iam.RolePolicy(name, role=role.name, policy=json.dumps(document), opts=self._child())
        return role


def _problems(args: ImageCacheArgs) -> Problems:
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
            yield "credentials", f"must name a secret for {registry}, which ECR caches with an account there alone"
    if not 1 <= args.get("keep_images", 1) <= MOST_IMAGES:
        yield "keep_images", f"must be between 1 and {MOST_IMAGES}, found {args['keep_images']}"
