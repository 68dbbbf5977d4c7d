"""The settings of a stack's cache of images."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import Field, WithJsonSchema

from components.clouds.aws.images import MOST_IMAGES, SECRET, SECRET_PATTERN, region_problem, secret_problem, upstream
from components.plan.section import Flag
from components.plan.sections.images import ImageCacheSettings
from components.resources.aws.node_settings import KMS_KEY

SecretArn = Annotated[str, WithJsonSchema({"type": "string", "pattern": SECRET_PATTERN})]
_OF_OWN_RULES = {"credentials": "credentials", "kms_key_arn": "kmsKeyArn", "keep_images": "keepImages"}


class CachePlace(NamedTuple):
    """Where a cache is: an AWS region, and the account, if anything says which."""

    region: str
    account: str | None


class StackImageCache(ImageCacheSettings):
    """Images by way of the account's private registry (ECR), which pulls them from others and keeps them."""

    credentials: dict[str, SecretArn] = Field(default_factory=dict)
    """ARN of the secret in Secrets Manager with the account at each registry that requires one: docker.io, ghcr.io,
    registry.gitlab.com, cgr.dev and <name>.azurecr.io. Its name begins with ecr-pullthroughcache/."""
    existing: Flag = False
    """Whether the rules are there already, such as those of another stack in the same account and region."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """KMS key of the cached repositories. Default: keys of S3 (AES-256)."""
    keep_images: int | None = Field(default=None, ge=1, le=MOST_IMAGES)
    """How many images are kept of each cached repository, the newest first; all parts of an image for several
    architectures count. Default: all."""

    @property
    def accounts(self) -> frozenset[str]:
        """The accounts that the secrets are in."""
        found = (SECRET.fullmatch(arn) for arn in self.credentials.values())
        return frozenset(match["account"] for match in found if match)

    @property
    def without_credentials(self) -> list[str]:
        """Registries that ECR pulls from with an account alone, and that have none."""
        known = ((name, upstream(name)) for name in self.registries)
        return [name for name, found in known if found and found.credentials and name not in self.credentials]


def placed_problems(wanted: StackImageCache, place: CachePlace | None) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with a stack's cache in its place, by path below the section.

    Args:
        wanted: The settings.
        place: Where it is; None where that is not AWS.
    """
    if place is None:
        yield (), "is a cache on AWS, and requires cloud: aws; remove it"
        return
    if not wanted.registries:
        yield ("registries",), "is required: name the registries to cache, such as [docker.io, ghcr.io]"
        return
    if wrong := region_problem(place.region):
        yield (), wrong
    if place.account is None:
        yield (
            ("account",),
            "is required, because nothing else says in which account the stack works; or name that one alone in "
            "credentials.allowedAccountIds",
        )
    yield from ((("credentials", registry), reason) for registry, reason in _of_credentials(wanted, place))
    if wanted.existing:
        for name, key in _OF_OWN_RULES.items():
            if getattr(wanted, name):
                yield (key,), "is for rules that are made here, and existing says that they are there; remove one"


def _of_credentials(wanted: StackImageCache, place: CachePlace) -> Iterator[tuple[str, str]]:
    for registry, arn in wanted.credentials.items():
        known = upstream(registry)
        if registry not in wanted.registries:
            yield registry, "is not among registries; add it there, or remove it here"
        elif known and not known.credentials:
            yield registry, "takes no credentials: ECR caches this registry without an account there; remove them"
        elif wrong := secret_problem(arn, place.account, place.region):
            yield registry, wrong
    for registry in () if wanted.existing else wanted.without_credentials:
        yield (
            registry,
            "is required: ECR caches this registry with an account there alone; name the ARN of its secret",
        )
