"""Images in rendered objects, and pulling them through a registry that caches others."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ..engines.images import parse_image
from .objects import Object
from .rendered import Fleet, Rendered
from .workloads import Workload

_POD_LISTS = ("initContainers", "containers", "ephemeralContainers")


class PullThroughCache(Protocol):
    """A private registry of a cloud that caches other registries: images are pulled through it."""

    @property
    def service(self) -> str:
        """Name of the cloud's registry service, for messages, such as ``ECR``."""

    @property
    def price_item(self) -> str:
        """What a GB of images is in the price list of the cloud."""

    @property
    def host(self) -> str:
        """Host of the private registry."""

    @property
    def registries(self) -> tuple[str, ...]:
        """Registries that it caches, as image references name them."""

    def prefix_of(self, registry: str) -> str:
        """Return the first part of the names of all repositories that are cached for a registry."""

    def reference(self, image: str) -> str:
        """Return the reference of an image in the cache; the image itself if its registry is not cached."""

    def can_cache(self, registry: str) -> bool:
        """Whether a registry could be added to those that are cached."""

    def is_own(self, registry: str) -> bool:
        """Whether a registry is one of the same service, so that its images need no cache."""


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


def cached_object(body: Object, cache: PullThroughCache) -> Object:
    """Return an object whose pods pull by way of a cache; the same one where nothing changes."""
    if all(cache.reference(image) == image for image in images_in(body)):
        return body
    changed: Object = _cached(body, cache)
    return changed


def _cached(value: Any, cache: PullThroughCache) -> Any:  # noqa: ANN401  any part of an object
    if isinstance(value, list):
        return [_cached(each, cache) for each in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _cached(inner, cache) for key, inner in value.items()}
    for place, key in _image_fields(copy):
        place[key] = cache.reference(place[key])
    return copy


def cached_fleet(fleet: Fleet, cache: PullThroughCache) -> Fleet:
    """Return a fleet whose pods pull by way of a cache.

    A workload keeps what was read of its image before: the engine and its version are the image's, wherever it is
    pulled from. What an operator makes of a resource is not ours to change, but the fields that it takes images from
    are.
    """
    operated = frozenset(_operated_images(fleet))
    named = operated | {parse_image(image).repository for image in operated}
    return replace(fleet, rendered=tuple(_cached_item(item, named, cache) for item in fleet.rendered))


def uncached_operated(fleet: Fleet, cache: PullThroughCache) -> Iterator[str]:
    """Yield the images of pods that operators make, and that no field of a resource leads to a cache."""
    given = {text for item in fleet.rendered for body in item.others for text in _texts(body)}
    for image in dict.fromkeys(_operated_images(fleet)):
        if cache.reference(image) != image and given.isdisjoint({image, parse_image(image).repository}):
            yield image


def _operated_images(fleet: Fleet) -> Iterator[str]:
    """Yield the images of the pods that operators make."""
    return (image for _, workload in fleet.workloads if workload.operated for image in images_in(workload.body))


def _cached_item(item: Rendered, named: frozenset[str], cache: PullThroughCache) -> Rendered:
    workloads = tuple(w if w.operated else _cached_workload(w, cache) for w in item.workloads)
    others = tuple(_cached_fields(cached_object(body, cache), named, cache) for body in item.others)
    shared = tuple(cached_object(body, cache) for body in item.shared)
    return replace(item, workloads=workloads, others=others, shared=shared)


def _cached_fields(body: Object, named: frozenset[str], cache: PullThroughCache) -> Object:
    """Return a resource for an operator in which fields lead to a cache: those that pods have their images from.

    Such a field is called ``image``; it may hold the repository alone, with the tag beside it.
    """
    changed: Object = _with_fields(body, named, cache) if named else body
    return body if changed == body else changed


def _with_fields(value: Any, named: frozenset[str], cache: PullThroughCache) -> Any:  # noqa: ANN401  any part of an object
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


def cached_objects(objects: Iterable[Object], cache: PullThroughCache) -> tuple[Object, ...]:
    """Return objects whose pods pull by way of a cache."""
    return tuple(cached_object(body, cache) for body in objects)


def _cached_workload(workload: Workload, cache: PullThroughCache) -> Workload:
    body = cached_object(workload.body, cache)
    return workload if body is workload.body else replace(workload, body=body)
