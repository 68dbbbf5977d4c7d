"""What nodes and pods of a plan download: images and weights."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ..checks.front_door.proxy_image import PROXY_IMAGE
from ..checks.front_door.settings import ENVOY_GATEWAY
from ..engines.memory_settings.reader import memory_settings_of
from ..fleet.downloads import Download
from ..fleet.images import images_in, uncached_operated
from ..fleet.objects import Object
from ..fleet.rendered import Fleet
from ..fleet.workloads import Workload
from .prerequisites.images import chart_images, uncached_images

if TYPE_CHECKING:
    from .environment import Environment
    from .prerequisites.needed import Prerequisite

_HUB_VARIABLE = "HF_ENDPOINT"
"""Address of a mirror of Hugging Face (huggingface_hub, "Environment variables")."""


def downloads(
    fleet: Fleet, others: Iterable[Object], needed: "Iterable[Prerequisite]", environment: "Environment"
) -> tuple[Download, ...]:
    """Return the images that nodes pull, through the cache of the environment if it has one, and the weights.

    Args:
        fleet: The fleet, with the original image references.
        others: Objects that are passed through.
        needed: The charts that models need.
        environment: The environment.
    """
    found = [*_images(fleet, others, needed, environment), *_weights(fleet)]
    return tuple({(download.address, download.by): download for download in found}.values())


def _images(
    fleet: Fleet, others: Iterable[Object], needed: "Iterable[Prerequisite]", environment: "Environment"
) -> Iterator[Download]:
    cache = environment.image_cache
    # An operator creates pods with the images that it was built with.
    fixed = frozenset(uncached_operated(fleet, cache)) if cache else frozenset()

    def pulled(image: str) -> str:
        return image if cache is None or image in fixed else cache.reference(image)

    for item in fleet.rendered:
        bodies = chain(item.objects, item.shared, (w.body for w in item.workloads if w.operated))
        for image in chain.from_iterable(map(images_in, bodies)):
            yield Download(pulled(image), item.title, item.source, is_image=True)
    for body in others:
        title = f"{body.get('kind')}/{body.get('metadata', {}).get('name')}"
        yield from (Download(pulled(image), title, is_image=True) for image in images_in(body))
    for prerequisite in needed if environment.install else ():
        chart = prerequisite.chart.name
        uncached = uncached_images(chart, cache) if cache else ()
        for row in chart_images().get(chart, ()):
            image = row.image if cache is None or row in uncached else cache.reference(row.image)
            yield Download(image, f"chart {chart}", is_image=True)
        if chart == ENVOY_GATEWAY:
            yield Download(pulled(PROXY_IMAGE), f"proxies of chart {chart}", is_image=True)


def _weights(fleet: Fleet) -> Iterator[Download]:
    for item, workload in fleet.workloads:
        mirror = _mirror(workload)
        for address in weight_addresses(workload) or ():
            of_hub = "://" not in address and not address.startswith(("/", "./"))
            yield Download(mirror if of_hub and mirror else address, item.title, item.source)


def _mirror(workload: Workload) -> str:
    """Return the mirror of Hugging Face that containers of the pods use; empty for the hub itself."""
    spec = workload.front["spec"]
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        for variable in container.get("env") or ():
            if variable.get("name") == _HUB_VARIABLE:
                return str(variable.get("value") or "")
    return ""


def weight_addresses(workload: Workload) -> tuple[str, ...] | None:
    """Return the origins of the weights that a server loads; None if they are unknown."""
    if workload.server.weights:
        return tuple(source.name for source in workload.server.weights)
    # The server downloads the models of its command line.
    variables = tuple((variable["name"], variable.get("value")) for variable in workload.container.get("env") or ())
    server = memory_settings_of(workload.server.line, variables)
    if isinstance(server, str):
        return None
    return tuple(name for name in (server.model, server.draft) if name)
