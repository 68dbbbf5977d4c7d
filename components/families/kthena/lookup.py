"""What resources of Kthena refer to by name."""

from typing import TypeVar

from ...api.meta import Resource
from ...fleet.library import Library
from .types import AutoscalingPolicy, ModelServer, ModelServing

R = TypeVar("R", bound=Resource)


def serving(library: Library, namespace: str, name: str) -> ModelServing | None:
    """Return the ModelServing of a name; None if there is none."""
    return _found(ModelServing, library, namespace, name)


def server(library: Library, namespace: str, name: str) -> ModelServer | None:
    """Return the ModelServer of a name; None if there is none."""
    return _found(ModelServer, library, namespace, name)


def policy(library: Library, namespace: str, name: str) -> AutoscalingPolicy | None:
    """Return the AutoscalingPolicy of a name; None if there is none."""
    return _found(AutoscalingPolicy, library, namespace, name)


def _found(kind: type[R], library: Library, namespace: str, name: str) -> R | None:
    return library.all(kind, namespace).get(name)
