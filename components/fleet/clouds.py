"""Registry of the clouds that models can run on.

The package registers its clouds in its ``__init__.py``, which Python runs before any other module of the package, so
that the registry does not depend on import order. A cloud is loaded when its facts are first needed. Every import of
the package runs this module, so it must not import anything slow.
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
        facts: Returns its facts; called when they are first needed.
        provider: Returns its provider, likewise; None if no environment can run on it.

    Raises:
        ValueError: A cloud of this name is registered already.
    """
    if name in _loaders:
        raise ValueError(f"cloud {name!r} is registered already; choose another name")
    _loaders[name] = facts, provider
    _clear_caches()


def unregister(name: str) -> None:
    """Remove a cloud that a test has registered.

    Raises:
        KeyError: No cloud of this name is registered.
    """
    del _loaders[name]
    _clear_caches()


def cleared_with_clouds(cached: Cached) -> Cached:
    """Clear a cached function whenever a cloud is added or removed.

    Apply this above ``functools.cache`` to every function whose result depends on the facts of clouds; it would
    return results from before the registration otherwise.
    """
    _caches.append(cached.cache_clear)
    return cached


@cleared_with_clouds
@functools.cache
def clouds() -> "Mapping[str, CloudFacts]":
    """Return the facts of the registered clouds by name, in registration order."""
    return MappingProxyType({name: facts() for name, (facts, _) in _loaders.items()})


@cleared_with_clouds
@functools.cache
def providers() -> "Mapping[str, CloudProvider]":
    """Return the providers of the registered clouds by name, in registration order."""
    return MappingProxyType({name: load() for name, (_, load) in _loaders.items() if load is not None})


def _clear_caches() -> None:
    for clear in _caches:
        clear()
