"""Images by way of ECR: which registries a pull-through cache can stand for, and references that lead to it.

A node behind a NAT gateway has the address of that gateway, and registries limit what one address may pull without
an account. With a rule for a registry, ECR pulls an image itself the first time, from addresses of AWS, and with the
account of the rule (ECR user guide, "Sync an upstream registry with an Amazon ECR private registry").
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from ...contract.tables import load_table
from ...engines.images import pull_reference
from .facts.iam import Document, Statement
from .prices.tables import AwsItem

ACCOUNT = re.compile(r"\d{12}", re.ASCII)
SECRET = re.compile(
    r"arn:aws[a-z-]*:secretsmanager:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):secret:"
    r"(?P<name>[A-Za-z0-9/_+=.@-]+)",
    re.ASCII,
)
_SECRET_NAME = "ecr-pullthroughcache/[A-Za-z0-9/_+=.@-]+"  # noqa: S105 - the form of a name
SECRET_PATTERN = rf"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{{12}}:secret:{_SECRET_NAME}$"
"""As settings describe it to editors."""
SECRET_PREFIX = "ecr-pullthroughcache/"  # noqa: S105 - the beginning of a name
"""How the name of a secret must begin (ECR user guide, "Storing your upstream repository credentials")."""
MOST_IMAGES = 100_000
"""Images that a repository has by default (ECR user guide, "Amazon ECR service quotas")."""
_SHORTEST, _LONGEST = 2, 30
"""Characters of a rule's prefix (API reference, CreatePullThroughCacheRule, "ecrRepositoryPrefix")."""
_PREFIX = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*", re.ASCII)
_OWN = ".dkr.ecr."
"""In the host of each private registry."""
_WITHOUT = ("cn-", "us-gov-")
"""Regions without repository creation templates, and long without rules (same guide, "Templates to control
repositories")."""


@dataclass(frozen=True, slots=True)
class CachedRegistry:
    """A registry that ECR can cache.

    Attributes:
        url: What the rule names.
        prefix: What the names of cached repositories begin with.
        credentials: Whether the rule must name a secret.
        pattern: Whether it is any registry below the domain.
    """

    url: str
    prefix: str
    credentials: bool = False
    pattern: bool = False


@functools.cache
def upstreams() -> Mapping[str, CachedRegistry]:
    """Return the registries that ECR can cache, as references name them."""
    rows: dict[str, dict[str, Any]] = load_table(f"{__package__}.facts", "registries.yaml")
    return MappingProxyType({name: CachedRegistry(**{"url": name, **row}) for name, row in rows.items()})


def upstream(registry: str) -> CachedRegistry | None:
    """Return what is known of a registry; None if ECR cannot cache it."""
    found = upstreams().get(registry)
    if found is not None:
        return None if found.pattern else found
    name, _, domain = registry.partition(".")
    of_many = upstreams().get(domain)
    if of_many is None or not of_many.pattern or not re.fullmatch(r"[a-z0-9]+", name):
        return None
    return replace(of_many, url=registry, prefix=f"{of_many.prefix}-{name}")


@dataclass(frozen=True, slots=True)
class RegistryCache:
    """The private registry of an account in a region, as a cache of others.

    Attributes:
        account: ID of the account.
        registries: Those with a rule, as references name them.
        prefix: What the names of all cached repositories begin with; empty for nothing.
    """

    account: str
    region: str
    registries: tuple[str, ...]
    prefix: str = ""

    service: ClassVar[str] = "ECR"
    price_item: ClassVar[str] = AwsItem.REGISTRY_GB

    @property
    def host(self) -> str:
        """Host of the private registry."""
        return f"{self.account}.dkr.ecr.{self.region}.amazonaws.com"

    @property
    def prefixes(self) -> dict[str, str]:
        """Prefix of the rule of each registry."""
        return {registry: self.prefix_of(registry) for registry in self.registries}

    def prefix_of(self, registry: str) -> str:
        """Return what the names of the repositories cached for a registry begin with, which is the rule's prefix."""
        found = upstream(registry)
        if found is None:
            raise ValueError(registry)
        return f"{self.prefix}/{found.prefix}" if self.prefix else found.prefix

    def can_cache(self, registry: str) -> bool:
        """Whether a rule could be made for a registry."""
        return upstream(registry) is not None

    def is_own(self, registry: str) -> bool:
        """Whether a registry is a private one of ECR, whose images need no cache."""
        return _OWN in registry

    def reference(self, image: str) -> str:
        """Return the reference by which the cache has an image; the image's own where no rule is for its registry."""
        place = pull_reference(image)
        if place is None or place.registry not in self.registries:
            return image
        return f"{self.host}/{self.prefix_of(place.registry)}/{place.path}"


def region_problem(region: str) -> str:
    """Say that a region has no caches; empty if it has."""
    return f"ECR has no pull-through cache in {region}; remove it" if region.startswith(_WITHOUT) else ""


def cache_problems(
    registries: Iterable[str], prefix: str, account: str | None
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what ECR would refuse of a cache's rules, by path of the setting."""
    known = ", ".join(f"<name>.{name}" if each.pattern else name for name, each in upstreams().items())
    if account is not None and not ACCOUNT.fullmatch(account):
        yield ("account",), f"must be the 12 digits of an account, in quotes, found {account!r}"
    if prefix and not _PREFIX.fullmatch(prefix):
        yield ("prefix",), f"must be lower-case letters, digits and '-', parted by slashes, found {prefix!r}"
        return
    for place, registry in enumerate(registries):
        found = upstream(registry)
        if found is None:
            yield ("registries", place), f"ECR cannot cache {registry!r}; it can cache {known}"
            continue
        whole = f"{prefix}/{found.prefix}" if prefix else found.prefix
        if not _SHORTEST <= len(whole) <= _LONGEST:
            yield ("prefix",), f"makes {whole!r}, of which ECR takes at most {_LONGEST} characters; shorten it"


def secret_problem(arn: str, account: str | None, region: str) -> str:
    """Say what is wrong with the ARN of a registry's credentials; empty if nothing is.

    Secret and rule are in one account and region, and the secret's name begins alike (ECR user guide, "Creating a
    pull through cache rule", Prerequisites).
    """
    found = SECRET.fullmatch(arn)
    if not found:
        # What stands there instead is not repeated: it may be the credentials themselves.
        return "must be the ARN of a secret in Secrets Manager; credentials themselves belong into that secret"
    if not found["name"].startswith(SECRET_PREFIX):
        return f"must be of a secret whose name begins with {SECRET_PREFIX}, found {found['name']!r}"
    if found["region"] != region:
        return f"must be of a secret in {region}, where the cache is, found {found['region']}"
    if account is not None and found["account"] != account:
        return f"must be of a secret in account {account}, where the cache is, found {found['account']}"
    return ""


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
