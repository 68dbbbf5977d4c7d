"""What the plan asks of all registered clouds together, for environments that may be on any of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .cloud import CloudProvider, ImageCaching
from .clouds import providers
from .nodes.groups import NodeGroupDemand
from .prices import Per

NONE = "none"
"""In settings, a cluster that is there already, on no cloud that this package knows."""


def default_provider() -> CloudProvider:
    """Return the cloud whose prices are shown where an environment is on none, such as with simulated nodes."""
    return next(iter(providers().values()))


def provider_named(name: str) -> CloudProvider | None:
    """Return the cloud of a name in settings; None for a name that is not that of a cloud."""
    return providers().get(name)


def node_charts(group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
    """Yield the charts that make usable what only nodes of one cloud have, wherever these are."""
    for cloud in providers().values():
        yield from cloud.node_charts(group)


def names() -> tuple[str, ...]:
    """Return what settings may say of where a cluster is: on no cloud, or on one of these."""
    return (NONE, *providers())


def node_images() -> Mapping[str, frozenset[str]]:
    """Return the images of nodes that settings may name, and what each brings."""
    return {name: things for cloud in providers().values() for name, things in cloud.node_images.items()}


def caching_cloud() -> CloudProvider:
    """Return the cloud whose registry service the settings of an image cache are about."""
    return next(cloud for cloud in providers().values() if cloud.caching)


def caching() -> ImageCaching:
    """Return the rules of the registry service that settings of an image cache are about."""
    return next(cloud.caching for cloud in providers().values() if cloud.caching)


def balancer_controllers() -> frozenset[str]:
    """Return the charts that make load balancers, each on its own cloud alone."""
    return frozenset(cloud.balancers.controller for cloud in providers().values() if cloud.balancers)


def region_pattern() -> str:
    """Return a regular expression of the names of all regions."""
    return "|".join(cloud.regions.pattern for cloud in providers().values())


def is_region(name: str) -> bool:
    """Whether a text has the form of a region's name."""
    return any(re.fullmatch(cloud.regions, name) for cloud in providers().values())


def flat_items() -> Mapping[str, Per]:
    """Return everything with a flat price that some cloud sells, and what the price is for."""
    return {item: per for cloud in providers().values() for item, per in cloud.prices.items.items()}


def is_further_type(instance_type: str) -> bool:
    """Whether some cloud has a price of an instance type that models do not run on."""
    return any(instance_type in cloud.prices.further_types for cloud in providers().values())


def replaced_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource that only a new one can have; see ``ResourceUpdates``."""
    return tuple(field for cloud in providers().values() for field in cloud.updates.replaced_fields(type_token))


def order_free_fields(type_token: str) -> tuple[str, ...]:
    """Return the lists of a resource whose order has no meaning; see ``ResourceUpdates``."""
    return tuple(field for cloud in providers().values() for field in cloud.updates.order_free_fields(type_token))


def rolling_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource whose change replaces nodes; see ``ResourceUpdates``."""
    return tuple(field for cloud in providers().values() for field in cloud.updates.rolling_fields(type_token))


def renewed_outputs(type_token: str) -> Mapping[str, tuple[str, ...]]:
    """Return the outputs of a resource that an update in place changes; see ``ResourceUpdates``."""
    return {
        key: value
        for cloud in providers().values()
        for key, value in cloud.updates.renewed_outputs(type_token).items()
    }


def deletes_first(type_token: str, inputs: Mapping[str, Any]) -> bool:
    """Whether a replacement deletes a resource before the new one is there; see ``ResourceUpdates``."""
    return any(cloud.updates.deletes_first(type_token, inputs) for cloud in providers().values())
