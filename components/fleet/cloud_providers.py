"""Queries over all registered clouds, for environments that may run on any of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .cloud import CloudProvider, ImageCaching
from .clouds import providers
from .nodes.groups import NodeGroupDemand
from .prices import Per
from .transitions import Need, RefusedChange, Store, Transition

NONE = "none"
"""Value of the setting ``cloud`` for an existing cluster on a cloud that this package does not know."""


def default_provider() -> CloudProvider:
    """Return the cloud whose prices apply to environments without a cloud, such as simulated nodes."""
    return next(iter(providers().values()))


def provider_named(name: str) -> CloudProvider | None:
    """Return the cloud that settings name; None for an unknown name."""
    return providers().get(name)


def node_charts(group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
    """Yield the charts that nodes need for cloud-specific devices, each with the reason."""
    for cloud in providers().values():
        yield from cloud.node_charts(group)


def names() -> tuple[str, ...]:
    """Return the values of the setting ``cloud``."""
    return (NONE, *providers())


def node_images() -> Mapping[str, frozenset[str]]:
    """Return the node images that settings may name, with the capabilities that each includes."""
    return {name: provided for cloud in providers().values() for name, provided in cloud.node_images.items()}


def caching_cloud() -> CloudProvider:
    """Return the first cloud whose registry service can cache other registries."""
    return next(cloud for cloud in providers().values() if cloud.caching)


def caching() -> ImageCaching:
    """Return the rules of that registry service."""
    return next(cloud.caching for cloud in providers().values() if cloud.caching)


def balancer_controllers() -> frozenset[str]:
    """Return the charts that create load balancers, one per cloud."""
    return frozenset(cloud.balancers.controller for cloud in providers().values() if cloud.balancers)


def region_pattern() -> str:
    """Return a regular expression for region names of any cloud."""
    return "|".join(cloud.regions.pattern for cloud in providers().values())


def is_region(name: str) -> bool:
    return any(re.fullmatch(cloud.regions, name) for cloud in providers().values())


def flat_items() -> Mapping[str, Per]:
    """Return every item that a cloud sells at a flat price, with the unit of that price."""
    return {item: per for cloud in providers().values() for item, per in cloud.prices.items.items()}


def replaced_fields(type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a resource whose change replaces it; see ``ResourceUpdates``."""
    return tuple(
        field for cloud in providers().values() for field in cloud.updates.replaced_fields(type_token, before, after)
    )


def known_arguments(type_token: str) -> frozenset[str] | None:
    """Return the arguments of a resource whose updates are known; see ``ResourceUpdates``."""
    known = (cloud.updates.known_arguments(type_token) for cloud in providers().values())
    return next((arguments for arguments in known if arguments is not None), None)


def replacing_provider_input(type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the changed input of its provider that replaces a resource; see ``ResourceUpdates``."""
    names = (cloud.updates.replacing_provider_input(type_token, before, after) for cloud in providers().values())
    return next(filter(None, names), "")


def needs(type_token: str) -> tuple[Need, ...]:
    """Return the fields through which a resource needs another one; see ``ResourceTransitions``."""
    return tuple(need for cloud in providers().values() for need in cloud.transitions.needs(type_token))


def store(type_token: str) -> Store | None:
    """Return what is lost with a resource; see ``ResourceTransitions``."""
    return next(filter(None, (cloud.transitions.store(type_token) for cloud in providers().values())), None)


def removal(type_token: str, id_: str) -> str:
    """Return what a retained resource costs, and how to delete it; see ``ResourceTransitions``."""
    return next(filter(None, (cloud.transitions.removal(type_token, id_) for cloud in providers().values())), "")


def refusals(transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
    """Yield the changes that a cloud refuses; see ``ResourceTransitions``."""
    for cloud in providers().values():
        yield from cloud.transitions.refusals(transitions)


def order_free_fields(type_token: str) -> tuple[str, ...]:
    """Return the list fields of a resource whose order is irrelevant; see ``ResourceUpdates``."""
    return tuple(field for cloud in providers().values() for field in cloud.updates.order_free_fields(type_token))


def rolling_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource whose change replaces nodes; see ``ResourceUpdates``."""
    return tuple(field for cloud in providers().values() for field in cloud.updates.rolling_fields(type_token))


def update_effects(type_token: str) -> Mapping[str, str]:
    """Return what else an update in place does; see ``ResourceUpdates``."""
    clouds = providers().values()
    return {field: text for cloud in clouds for field, text in cloud.updates.update_effects(type_token).items()}


def rolling_on_removal(type_token: str) -> tuple[str, ...]:
    """Return the rolling fields that replace only nodes whose value is removed; see ``ResourceUpdates``."""
    return tuple(field for cloud in providers().values() for field in cloud.updates.rolling_on_removal(type_token))


def renewed_outputs(type_token: str) -> Mapping[str, tuple[str, ...]]:
    """Return the outputs of a resource that an in-place update changes; see ``ResourceUpdates``."""
    return {
        key: value
        for cloud in providers().values()
        for key, value in cloud.updates.renewed_outputs(type_token).items()
    }


def deletes_first(type_token: str, inputs: Mapping[str, Any]) -> bool:
    """Return whether a replacement deletes the old resource first; see ``ResourceUpdates``."""
    return any(cloud.updates.deletes_first(type_token, inputs) for cloud in providers().values())
