"""Settings of a stack's image cache."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import Field, WithJsonSchema

from components.clouds.aws.images import MOST_IMAGES, SECRET, SECRET_PATTERN, region_problem, secret_problem, upstream
from components.plan.section import Flag
from components.plan.sections.images import ImageCacheSettings
from components.resources.aws.node_settings import KMS_KEY

SecretArn = Annotated[str, WithJsonSchema({"type": "string", "pattern": SECRET_PATTERN})]
_NEW_RULES_ONLY = {"credentials": "credentials", "kms_key_arn": "kmsKeyArn", "keep_images": "keepImages"}


class CachePlace(NamedTuple):
    """Region and account of a cache; the account is None if unknown."""

    region: str
    account: str | None


class StackImageCache(ImageCacheSettings):
    """Pull-through cache for images in the account's private registry (ECR)."""

    credentials: dict[str, SecretArn] = Field(default_factory=dict)
    """ARNs of Secrets Manager secrets with the credentials of registries, by registry. Required for docker.io,
    ghcr.io, registry.gitlab.com, cgr.dev and <name>.azurecr.io. The name of each secret must begin with
    ecr-pullthroughcache/."""
    existing: Flag = False
    """Whether the pull-through cache rules already exist, such as those of another stack in the account and
    region."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """ARN of the KMS key that encrypts the cached repositories. Default: AES-256 with keys that Amazon S3 manages."""
    keep_images: int | None = Field(default=None, ge=1, le=MOST_IMAGES)
    """Number of newest images to keep in each cached repository; each part of a multi-architecture image counts.
    Default: all."""

    @property
    def accounts(self) -> frozenset[str]:
        """Accounts of the secrets."""
        matches = (SECRET.fullmatch(arn) for arn in self.credentials.values())
        return frozenset(match["account"] for match in matches if match)

    @property
    def without_credentials(self) -> list[str]:
        """Registries that require credentials and have none."""
        registries = ((name, upstream(name)) for name in self.registries)
        return [
            name
            for name, registry in registries
            if registry and registry.credentials and name not in self.credentials
        ]


def placed_problems(cache: StackImageCache, place: CachePlace | None) -> Iterator[tuple[tuple[str, ...], str]]:
    """Check a stack's cache in its region and account; yield problems by path below the section.

    Args:
        cache: The settings.
        place: Region and account; None outside AWS.
    """
    if place is None:
        yield (), "requires cloud: aws; remove it"
        return
    if not cache.registries:
        yield ("registries",), "is required; list the registries to cache, such as [docker.io, ghcr.io]"
        return
    if problem := region_problem(place.region):
        yield (), problem
    if place.account is None:
        yield (
            ("account",),
            "is required, because no other setting tells the account of the stack; set it, or list only that account "
            "in credentials.allowedAccountIds",
        )
    yield from ((("credentials", registry), reason) for registry, reason in _credential_problems(cache, place))
    if cache.existing:
        for name, key in _NEW_RULES_ONLY.items():
            if getattr(cache, name):
                yield (key,), "has no effect with existing, by which the rules already exist; remove one of the two"


def _credential_problems(cache: StackImageCache, place: CachePlace) -> Iterator[tuple[str, str]]:
    for registry, arn in cache.credentials.items():
        known = upstream(registry)
        if registry not in cache.registries:
            yield registry, "is not among registries; add it there, or remove it here"
        elif known and not known.credentials:
            yield registry, "accepts no credentials: ECR caches this registry anonymously; remove them"
        elif problem := secret_problem(arn, place.account, place.region):
            yield registry, problem
    for registry in () if cache.existing else cache.without_credentials:
        yield (
            registry,
            "is required: ECR caches this registry only with credentials; set the ARN of their secret",
        )
