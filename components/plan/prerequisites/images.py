"""Images of charts, and the values that redirect them to a pull-through cache."""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...contract.tables import load_table
from ...contract.words import Word
from ...engines.images import pull_reference
from ...fleet.images import PullThroughCache


class Takes(Word):
    """Meaning of a chart's value for an image."""

    REPOSITORY = "repository"
    """The whole repository, without tag and digest."""
    REGISTRY = "registry"
    """Only the registry."""


class ChartImage(NamedTuple):
    """An image of a chart.

    Attributes:
        image: Its repository, with the registry.
        path: Path of the chart's value for it, such as ``image.repository``; empty without one.
        takes: Meaning of that value.
        why: Why there is no path.
    """

    image: str
    path: str = ""
    takes: Takes = Takes.REPOSITORY
    why: str = ""

    @property
    def registry(self) -> str:
        reference = pull_reference(self.image)
        return reference.registry if reference else ""

    def value(self, cache: PullThroughCache) -> str:
        """Return the value for pulling through a cache with a rule for its registry."""
        if self.takes is Takes.REGISTRY:
            return f"{cache.host}/{cache.prefix_of(self.registry)}"
        return cache.reference(self.image)


@functools.cache
def chart_images() -> Mapping[str, tuple[ChartImage, ...]]:
    """Return the images of each chart, as configured here, by name of the chart."""
    rows: dict[str, dict[str, Any]] = load_table(__package__, "chart_images.yaml")
    return MappingProxyType(
        {
            name: tuple(
                ChartImage(
                    image["image"],
                    image.get("path", ""),
                    Takes(image.get("takes", Takes.REPOSITORY)),
                    image.get("why", ""),
                )
                for image in row["images"]
            )
            for name, row in rows.items()
        }
    )


def image_values(chart: str, cache: PullThroughCache | None) -> dict[str, Any]:
    """Return the values that redirect the images of a chart to a cache; none without one."""
    values: dict[str, Any] = {}
    for image in chart_images().get(chart, ()) if cache else ():
        if cache is None or not image.path or image.registry not in cache.registries:
            continue
        *sections, key = image.path.split(".")
        section = values
        for step in sections:
            section = section.setdefault(step, {})
        section[key] = image.value(cache)
    return values


def uncached_images(chart: str, cache: PullThroughCache) -> tuple[ChartImage, ...]:
    """Return the images of a chart that bypass a cache."""
    return tuple(
        image for image in chart_images().get(chart, ()) if not image.path or image.registry not in cache.registries
    )
