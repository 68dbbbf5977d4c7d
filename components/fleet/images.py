"""Images of rendered objects, and rewriting them to pull through a cache."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ..engines.images import parse_image
from .objects import Object
from .rendered import Fleet
from .workloads import Workload

_POD_LISTS = ("initContainers", "containers", "ephemeralContainers")


class PullThroughCache(Protocol):
    """A cloud's private registry that caches images of other registries."""

    @property
    def service(self) -> str:
        """Name of the registry service for messages, such as ``ECR``."""

    @property
    def price_item(self) -> str:
        """The price list's item for a GB of images."""

    @property
    def host(self) -> str:
        """Host of the private registry."""

    @property
    def registries(self) -> tuple[str, ...]:
        """The cached registries, as image references name them."""

    def prefix_of(self, registry: str) -> str:
        """Return the prefix of the repositories that are cached for a registry."""

    def reference(self, image: str) -> str:
        """Return the cached reference of an image; the image itself if its registry is not cached."""

    def can_cache(self, registry: str) -> bool:
        """Whether the service supports caching a registry."""

    def is_own(self, registry: str) -> bool:
        """Whether a registry belongs to the same service, so that its images need no cache."""


def images_in(body: Any) -> Iterator[str]:  # noqa: ANN401  any part of an object
    """Yield the images of every pod in an object of any kind.

    Pods are recognized by their form, a map with ``containers``. Image volumes count.
    """
    if isinstance(body, list):
        for item in body:
            yield from images_in(item)
    elif isinstance(body, dict):
        for parent, key in _image_fields(body):
            yield parent[key]
        for value in body.values():
            yield from images_in(value)


def _image_fields(pod: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield parent and key of each image field of a pod; nothing for a map that is not a pod."""
    if not isinstance(pod.get("containers"), list):
        return
    containers = [container for key in _POD_LISTS if isinstance(pod.get(key), list) for container in pod[key]]
    fields = [(container, "image") for container in containers if isinstance(container, dict)]
    volumes = pod.get("volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        image = volume.get("image") if isinstance(volume, dict) else None
        if isinstance(image, dict):
            fields.append((image, "reference"))
    yield from ((parent, key) for parent, key in fields if isinstance(parent.get(key), str))


def cached_object(body: Object, cache: PullThroughCache) -> Object:
    """Return an object whose pods pull through a cache; the same object if nothing changes."""
    if all(cache.reference(image) == image for image in images_in(body)):
        return body
    changed: Object = _cached(body, cache)
    return changed


def _cached(value: Any, cache: PullThroughCache) -> Any:  # noqa: ANN401  any part of an object
    if isinstance(value, list):
        return [_cached(item, cache) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _cached(inner, cache) for key, inner in value.items()}
    for parent, key in _image_fields(copy):
        parent[key] = cache.reference(parent[key])
    return copy


def cached_fleet(fleet: Fleet, cache: PullThroughCache) -> Fleet:
    """Return a fleet whose pods pull through a cache.

    Workloads keep the engine and version that were parsed from the original image. Objects that an operator creates
    cannot be changed here, but the fields of the resource from which the operator takes images can.
    """
    operated = frozenset(_operated_images(fleet))
    named = operated | {parse_image(image).repository for image in operated}
    items = []
    for item in fleet.rendered:
        workloads = tuple(_cached_workload(workload, cache) for workload in item.workloads)
        others = tuple(_with_cached_fields(cached_object(body, cache), named, cache) for body in item.others)
        shared = tuple(cached_object(body, cache) for body in item.shared)
        items.append(replace(item, workloads=workloads, others=others, shared=shared))
    return replace(fleet, rendered=tuple(items))


def uncached_operated(fleet: Fleet, cache: PullThroughCache) -> Iterator[str]:
    """Yield the images of operators' pods that bypass the cache because no field of a resource sets them."""
    configured = {text for item in fleet.rendered for body in item.others for text in _image_texts(body)}
    for image in dict.fromkeys(_operated_images(fleet)):
        if cache.reference(image) != image and configured.isdisjoint({image, parse_image(image).repository}):
            yield image


def _operated_images(fleet: Fleet) -> Iterator[str]:
    return (image for _, workload in fleet.workloads if workload.operated for image in images_in(workload.body))


def _with_cached_fields(value: Any, named: frozenset[str], cache: PullThroughCache) -> Any:  # noqa: ANN401  any part of an object
    """Rewrite the ``image`` fields of a custom resource from which its operator takes the images of pods.

    Such a field may hold the repository alone, with the tag in a field beside it.
    """
    if not named:
        return value
    if isinstance(value, list):
        return [_with_cached_fields(item, named, cache) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: cache.reference(inner)
        if key == "image" and isinstance(inner, str) and inner in named
        else _with_cached_fields(inner, named, cache)
        for key, inner in value.items()
    }


def _image_texts(value: Any) -> Iterator[str]:  # noqa: ANN401  any part of an object
    """Yield the values of all fields named ``image``."""
    if isinstance(value, list):
        for item in value:
            yield from _image_texts(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "image" and isinstance(inner, str):
                yield inner
            else:
                yield from _image_texts(inner)


def cached_objects(objects: Iterable[Object], cache: PullThroughCache) -> tuple[Object, ...]:
    """Return objects whose pods pull through a cache."""
    return tuple(cached_object(body, cache) for body in objects)


def _cached_workload(workload: Workload, cache: PullThroughCache) -> Workload:
    body = workload.body if workload.operated else cached_object(workload.body, cache)
    return workload if body is workload.body else replace(workload, body=body)
