"""Checks of where images are pulled from: rate limits of registries, and images that bypass the cache."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity
from ..engines.images import DOCKER_HUB, parse_image, pull_reference
from ..fleet.images import PullThroughCache, images_in, uncached_operated
from ..fleet.objects import Object
from ..fleet.rendered import Fleet
from .environment import Environment
from .prerequisites.images import chart_images, uncached_images
from .prerequisites.needed import Prerequisite

ANONYMOUS_PULLS = 100
"""Anonymous pulls from Docker Hub per IPv4 address in 6 hours (docs.docker.com, "Docker Hub pull
usage and limits": "Unauthenticated Users: 100 per IPv4 address or IPv6 /64 subnet")."""
_SETTING = "imageCache"
_SHOWN = 3
"""Images that a message names."""


def check_images(
    fleet: Fleet, others: Iterable[Object], needed: Iterable[Prerequisite], environment: Environment
) -> Iterator[Problem]:
    """Report anonymous pulls above the limit of Docker Hub, and images that bypass the cache; only on a cloud.

    Args:
        fleet: The fleet, with the original image references.
        others: Objects that are passed through.
        needed: The charts to install.
        environment: The environment.
    """
    cloud = environment.cloud
    if cloud is None:
        return
    cache = environment.image_cache
    if cache is None or DOCKER_HUB not in cache.registries:
        yield from _anonymous(fleet, environment, cloud.addresses)
    if cache is None:
        return
    yield from cloud.check_image_cache(environment.file)
    yield from _uncached(fleet, list(others), list(needed), cache, environment)


def _problem(environment: Environment, reason: str, severity: Severity, rule: RuleId) -> Problem:
    return Problem(file=environment.file, path=_SETTING, reason=reason, severity=severity, rule=rule)


def _anonymous(fleet: Fleet, environment: Environment, addresses: int | None) -> Iterator[Problem]:
    """Warn about more anonymous pulls from Docker Hub than one address is allowed."""
    if environment.options.overrides.image_pull_secrets or addresses == 0:
        return
    references, pulls = 0, 0
    for _, workload in fleet.workloads:
        replicas = max(workload.replicas, workload.most or 0)
        for template in workload.pod_templates:
            images = frozenset(images_in(template.body))
            hub_images = {image for image in images if _registry(image) == DOCKER_HUB}
            references += len(hub_images)
            pulls += len(hub_images) * replicas * template.pods
    if pulls <= ANONYMOUS_PULLS:
        return
    shared = "an unknown number of addresses" if addresses is None else f"{addresses} address{'es' * (addresses > 1)}"
    reason = (
        f"{references} image references point to {DOCKER_HUB} without credentials. With every model at its maximum, "
        f"and each pod on a node of its own, they are pulled {pulls} times; Docker Hub allows {ANONYMOUS_PULLS} "
        f"anonymous pulls per address in 6 hours, and all nodes share {shared}. Above that, pods stay in "
        f"ImagePullBackOff. Add {DOCKER_HUB} to imageCache.registries, or set pods.imagePullSecrets"
    )
    yield _problem(environment, reason, Severity.WARNING, RuleId.IMAGES_ANONYMOUS)


def _uncached(
    fleet: Fleet,
    others: list[Object],
    needed: list[Prerequisite],
    cache: PullThroughCache,
    environment: Environment,
) -> Iterator[Problem]:
    """Report images that are not pulled through the cache, by registry."""
    direct: dict[str, Counter[str]] = {}
    bodies = [*(body for item in fleet.rendered for body in item.objects), *others]
    for image in (image for body in bodies for image in images_in(body)):
        registry = _registry(image)
        if registry and registry not in cache.registries and not cache.is_own(registry):
            direct.setdefault(registry, Counter())[parse_image(image).repository] += 1
    fixed: list[str] = []
    charts = [prerequisite.chart.name for prerequisite in needed] if environment.install else []
    for chart in charts:
        for row in uncached_images(chart, cache):
            if row.registry not in cache.registries:
                direct.setdefault(row.registry, Counter())[f"{row.image} (chart {chart})"] += 1
            else:
                fixed.append(f"{row.image} (chart {chart}: {row.why})")
    for registry, repositories in sorted(direct.items()):
        remedy = (
            "add it to imageCache.registries" if cache.can_cache(registry) else f"{cache.service} cannot cache it"
        )
        names, more = sorted(repositories)[:_SHOWN], len(repositories) - _SHOWN
        images = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        reason = f"{registry} is not cached, and nodes pull from it directly: {images}; {remedy}"
        yield _problem(environment, reason, Severity.NOTE, RuleId.IMAGES_UNCACHED)
    by_charts = {row.image for chart in charts for row in chart_images()[chart] if row.path}
    fixed += [
        f"{image} (an operator adds it to pods)"
        for image in uncached_operated(fleet, cache)
        if parse_image(image).repository not in by_charts
    ]
    if fixed:
        reason = f"the registry of these images is not configurable, so nodes pull them directly: {', '.join(fixed)}"
        yield _problem(environment, reason, Severity.NOTE, RuleId.IMAGES_UNCACHED)


def _registry(image: str) -> str:
    reference = pull_reference(image)
    return reference.registry if reference else ""
