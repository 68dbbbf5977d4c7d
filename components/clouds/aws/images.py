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
from typing import Any

from ...contract.tables import table
from ...engines.images import image_of, located
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload

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
_WITHOUT = ("cn-", "us-gov-")
"""Regions without repository creation templates, and long without rules (same guide, "Templates to control
repositories")."""
_POD_LISTS = ("initContainers", "containers", "ephemeralContainers")


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
    rows: dict[str, dict[str, Any]] = table(f"{__package__}.facts", "registries.yaml")
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

    def reference(self, image: str) -> str:
        """Return the reference by which the cache has an image; the image's own where no rule is for its registry."""
        place = located(image)
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


def images_in(body: Any) -> Iterator[str]:  # noqa: ANN401  any part of an object
    """Yield the images of every pod that an object describes, whatever its kind.

    Pods are found by their form: a map with ``containers``. Volumes with the files of an image count.
    """
    if isinstance(body, list):
        for each in body:
            yield from images_in(each)
    elif isinstance(body, dict):
        for place, key in _image_fields(body):
            yield place[key]
        for value in body.values():
            yield from images_in(value)


def _image_fields(pod: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield where a pod's images stand; nothing of what is no pod."""
    if not isinstance(pod.get("containers"), list):
        return
    containers = [each for key in _POD_LISTS if isinstance(pod.get(key), list) for each in pod[key]]
    found = [(each, "image") for each in containers if isinstance(each, dict)]
    volumes = pod.get("volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        image = volume.get("image") if isinstance(volume, dict) else None
        if isinstance(image, dict):
            found.append((image, "reference"))
    yield from ((place, key) for place, key in found if isinstance(place.get(key), str))


def cached_object(body: Object, cache: RegistryCache) -> Object:
    """Return an object whose pods pull by way of a cache; the same one where nothing changes."""
    if all(cache.reference(image) == image for image in images_in(body)):
        return body
    changed: Object = _cached(body, cache)
    return changed


def _cached(value: Any, cache: RegistryCache) -> Any:  # noqa: ANN401  any part of an object
    if isinstance(value, list):
        return [_cached(each, cache) for each in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _cached(inner, cache) for key, inner in value.items()}
    for place, key in _image_fields(copy):
        place[key] = cache.reference(place[key])
    return copy


def cached_fleet(fleet: Fleet, cache: RegistryCache) -> Fleet:
    """Return a fleet whose pods pull by way of a cache.

    A workload keeps what was read of its image before: the engine and its version are the image's, wherever it is
    pulled from. What an operator makes of a resource is not ours to change, but the fields that it takes images from
    are.
    """
    operated = frozenset(_operated_images(fleet))
    named = operated | {image_of(image).repository for image in operated}
    return replace(fleet, rendered=tuple(_cached_item(item, named, cache) for item in fleet.rendered))


def uncached_operated(fleet: Fleet, cache: RegistryCache) -> Iterator[str]:
    """Yield the images of pods that operators make, and that no field of a resource leads to a cache."""
    given = {text for item in fleet.rendered for body in item.others for text in _texts(body)}
    for image in dict.fromkeys(_operated_images(fleet)):
        if cache.reference(image) != image and given.isdisjoint({image, image_of(image).repository}):
            yield image


def _operated_images(fleet: Fleet) -> Iterator[str]:
    """Yield the images of the pods that operators make."""
    return (image for _, workload in fleet.workloads if workload.operated for image in images_in(workload.body))


def _cached_item(item: Rendered, named: frozenset[str], cache: RegistryCache) -> Rendered:
    workloads = tuple(w if w.operated else _cached_workload(w, cache) for w in item.workloads)
    others = tuple(_cached_fields(cached_object(body, cache), named, cache) for body in item.others)
    shared = tuple(cached_object(body, cache) for body in item.shared)
    return replace(item, workloads=workloads, others=others, shared=shared)


def _cached_fields(body: Object, named: frozenset[str], cache: RegistryCache) -> Object:
    """Return a resource for an operator in which fields lead to a cache: those that pods have their images from.

    Such a field is called ``image``; it may hold the repository alone, with the tag beside it.
    """
    changed: Object = _with_fields(body, named, cache) if named else body
    return body if changed == body else changed


def _with_fields(value: Any, named: frozenset[str], cache: RegistryCache) -> Any:  # noqa: ANN401  any part of an object
    if isinstance(value, list):
        return [_with_fields(each, named, cache) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: cache.reference(inner)
        if key == "image" and isinstance(inner, str) and inner in named
        else _with_fields(inner, named, cache)
        for key, inner in value.items()
    }


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401  any part of an object
    """Yield what fields named ``image`` hold."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "image" and isinstance(inner, str):
                yield inner
            else:
                yield from _texts(inner)


def cached_objects(objects: Iterable[Object], cache: RegistryCache) -> tuple[Object, ...]:
    """Return objects whose pods pull by way of a cache."""
    return tuple(cached_object(body, cache) for body in objects)


def _cached_workload(workload: Workload, cache: RegistryCache) -> Workload:
    body = cached_object(workload.body, cache)
    return workload if body is workload.body else replace(workload, body=body)
