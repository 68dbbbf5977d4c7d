"""ECR pull-through caches: the registries that they support, image references through them, and their policies.

All nodes behind a NAT gateway share its address, and registries limit anonymous pulls per address. With a rule for a
registry, ECR pulls an image itself the first time, from AWS addresses and with the credentials of the rule (ECR user
guide, "Sync an upstream registry with an Amazon ECR private registry").
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
"""ARN of a secret, as a pattern for the JSON schema of the settings."""
SECRET_PREFIX = "ecr-pullthroughcache/"  # noqa: S105 - the beginning of a name
"""Required prefix of the secret's name (ECR user guide, "Storing your upstream repository credentials")."""
MOST_IMAGES = 100_000
"""Default quota of images per repository (ECR user guide, "Amazon ECR service quotas")."""
_SHORTEST, _LONGEST = 2, 30
"""Length of a rule's prefix (API reference, CreatePullThroughCacheRule, "ecrRepositoryPrefix")."""
_PREFIX = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*", re.ASCII)
_OWN = ".dkr.ecr."
"""Part of the host name of every private registry."""
_WITHOUT = ("cn-", "us-gov-")
"""Regions without repository creation templates, which got rules late (same guide, "Templates to control
repositories")."""


@dataclass(frozen=True, slots=True)
class CachedRegistry:
    """A registry that ECR can cache.

    Attributes:
        url: Upstream URL of the rule.
        prefix: Prefix of the names of cached repositories.
        credentials: Whether the rule requires a secret.
        pattern: Whether it matches every registry in a subdomain of the URL.
    """

    url: str
    prefix: str
    credentials: bool = False
    pattern: bool = False


@functools.cache
def upstreams() -> Mapping[str, CachedRegistry]:
    rows: dict[str, dict[str, Any]] = load_table(f"{__package__}.facts", "registries.yaml")
    return MappingProxyType({name: CachedRegistry(**{"url": name, **row}) for name, row in rows.items()})


def upstream(registry: str) -> CachedRegistry | None:
    """Return the entry for a registry, by its host name in image references; None if ECR cannot cache it."""
    entry = upstreams().get(registry)
    if entry is not None:
        return None if entry.pattern else entry
    name, _, domain = registry.partition(".")
    parent = upstreams().get(domain)
    if parent is None or not parent.pattern or not re.fullmatch(r"[a-z0-9]+", name):
        return None
    return replace(parent, url=registry, prefix=f"{parent.prefix}-{name}")


@dataclass(frozen=True, slots=True)
class RegistryCache:
    """The private registry of an account in a region, used as a cache of other registries.

    Attributes:
        account: ID of the account.
        registries: Host names of the registries with a rule.
        prefix: Common prefix of all cached repositories; may be empty.
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
        """Prefix of each registry's rule."""
        return {registry: self.prefix_of(registry) for registry in self.registries}

    def prefix_of(self, registry: str) -> str:
        """Return the prefix of a registry's rule, with which the names of its cached repositories begin."""
        entry = upstream(registry)
        if entry is None:
            raise ValueError(registry)
        return f"{self.prefix}/{entry.prefix}" if self.prefix else entry.prefix

    def can_cache(self, registry: str) -> bool:
        """Whether ECR supports a rule for a registry."""
        return upstream(registry) is not None

    def is_own(self, registry: str) -> bool:
        """Whether a registry is a private ECR registry, whose images need no cache."""
        return _OWN in registry

    def reference(self, image: str) -> str:
        """Return the reference of an image in the cache; unchanged if its registry has no rule."""
        original = pull_reference(image)
        if original is None or original.registry not in self.registries:
            return image
        return f"{self.host}/{self.prefix_of(original.registry)}/{original.path}"


def region_problem(region: str) -> str:
    """Return a message if a region has no pull-through caches; otherwise empty."""
    return f"ECR has no pull-through cache in {region}; remove it" if region.startswith(_WITHOUT) else ""


def cache_problems(
    registries: Iterable[str], prefix: str, account: str | None
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Report rules that ECR would reject, by path of the setting."""
    known = ", ".join(f"<name>.{name}" if entry.pattern else name for name, entry in upstreams().items())
    if account is not None and not ACCOUNT.fullmatch(account):
        yield ("account",), f"must be the 12 digits of an account, in quotes, found {account!r}"
    if prefix and not _PREFIX.fullmatch(prefix):
        yield ("prefix",), f"must be lower-case letters, digits and '-', separated by slashes, found {prefix!r}"
        return
    for index, registry in enumerate(registries):
        entry = upstream(registry)
        if entry is None:
            yield ("registries", index), f"ECR cannot cache {registry!r}; it can cache {known}"
            continue
        full_prefix = f"{prefix}/{entry.prefix}" if prefix else entry.prefix
        if not _SHORTEST <= len(full_prefix) <= _LONGEST:
            yield ("prefix",), f"makes {full_prefix!r}, of which ECR takes at most {_LONGEST} characters; shorten it"


def secret_problem(arn: str, account: str | None, region: str) -> str:
    """Return why the ARN of a registry's credentials is invalid; empty if it is valid.

    Secret and rule must be in the same account and region, and the secret's name must have a fixed prefix (ECR user
    guide, "Creating a pull through cache rule", Prerequisites).
    """
    secret = SECRET.fullmatch(arn)
    if not secret:
        # The message does not repeat the value, which may be the credentials themselves.
        return "must be the ARN of a secret in Secrets Manager; credentials themselves belong into that secret"
    if not secret["name"].startswith(SECRET_PREFIX):
        return f"must be of a secret whose name begins with {SECRET_PREFIX}, found {secret['name']!r}"
    if secret["region"] != region:
        return f"must be of a secret in {region}, where the cache is, found {secret['region']}"
    if account is not None and secret["account"] != account:
        return f"must be of a secret in account {account}, where the cache is, found {secret['account']}"
    return ""


_VERSION = "2012-10-17"


def node_policy(cache: RegistryCache, partition: str, *, tagged: bool) -> Document:
    """Return the permissions that nodes need in addition to pulling, limited to the repositories of the cache.

    Source: ECR user guide, "IAM permissions required to sync an upstream registry with an Amazon ECR private
    registry". AmazonEC2ContainerRegistryPullOnly, which nodes have, does not allow creating repositories.

    Args:
        cache: The cache.
        partition: Partition of its region.
        tagged: Whether the repositories are tagged.
    """
    tag = ("ecr:TagResource",) if tagged else ()
    actions = ("ecr:BatchImportUpstreamImage", "ecr:CreateRepository", *tag)
    statement = Statement(actions, tuple(_repositories(cache, partition)), sid="CacheImages")
    return {"Version": _VERSION, "Statement": [statement.document()]}


def template_policy(cache: RegistryCache, partition: str, kms_key_arn: str = "") -> Document:
    """Return the permissions that ECR needs to create repositories with tags or a KMS key.

    Source: ECR user guide, "Create a custom policy for repository creation templates", without the permissions for
    replication.
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
    """Return a policy that keeps only the newest images of a repository (ECR user guide, "Lifecycle policies")."""
    selection = {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": keep}
    rule = {
        "rulePriority": 1,
        "description": f"Keep the {keep} newest images",
        "selection": selection,
        "action": {"type": "expire"},
    }
    return {"rules": [rule]}


def _repositories(cache: RegistryCache, partition: str) -> Iterator[str]:
    """Yield a pattern of the repositories' ARNs for each rule."""
    for prefix in cache.prefixes.values():
        yield f"arn:{partition}:ecr:{cache.region}:{cache.account}:repository/{prefix}/*"
