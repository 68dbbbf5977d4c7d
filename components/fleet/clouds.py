"""Registry of the clouds whose nodes models can run on.

The package registers its clouds in its own ``__init__.py``. Python runs that before any module of the package, so
what is known does not depend on which modules are imported, or in which order. A cloud is loaded when its facts are
first needed. Every import of the package runs this module, so it imports nothing that takes time.
"""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from .cloud import CloudProvider
    from .cloud_facts import CloudFacts


class _Cache(Protocol):
    def cache_clear(self) -> None: ...


Cached = TypeVar("Cached", bound=_Cache)

_loaders: dict[str, "tuple[Callable[[], CloudFacts], Callable[[], CloudProvider] | None]"] = {}
_caches: list[Callable[[], None]] = []


def register(
    name: str, facts: "Callable[[], CloudFacts]", provider: "Callable[[], CloudProvider] | None" = None
) -> None:
    """Add a cloud.

    Args:
        name: Name of the cloud, such as ``aws``.
        facts: Returns what the fleet has to know of it; called when that is first needed.
        provider: Returns what the plan has to know of it, likewise; None where no environment is on it.

    Raises:
        ValueError: A cloud of this name is registered already.
    """
    if name in _loaders:
        raise ValueError(f"cloud {name!r} is registered already; choose another name")
    _loaders[name] = facts, provider
    _forget()


def unregister(name: str) -> None:
    """Remove a cloud; tests do, after they have added one.

    Raises:
        KeyError: No cloud of this name is registered.
    """
    del _loaders[name]
    _forget()


def cleared_with_clouds(cached: Cached) -> Cached:
    """Clear a cache whenever a cloud is added or removed.

    Every cached function whose values depend on what clouds have needs this above its ``functools.cache``; it would
    keep answers from before the registration otherwise.
    """
    _caches.append(cached.cache_clear)
    return cached


@cleared_with_clouds
@functools.cache
def clouds() -> "Mapping[str, CloudFacts]":
    """Return the registered clouds by name, in the order of their registration."""
    return MappingProxyType({name: facts() for name, (facts, _) in _loaders.items()})


@cleared_with_clouds
@functools.cache
def providers() -> "Mapping[str, CloudProvider]":
    """Return what the plan has to know of the registered clouds by name, in the order of their registration."""
    return MappingProxyType({name: load() for name, (_, load) in _loaders.items() if load is not None})


def _forget() -> None:
    for clear in _caches:
        clear()
