"""What resources of Kthena refer to by name: what is written by hand, and what a ModelBooster becomes."""

from collections.abc import Iterator
from typing import TypeVar

from ...contract.findings.collector import Findings, Unrenderable
from ...contract.load import LoadedResource
from ...contract.meta import Resource
from ...fleet.library import Library
from .booster.expansion import Expansion, expand
from .booster.setup import Setup
from .made import Made
from .types import AutoscalingPolicy, ModelBooster, ModelServer, ModelServing

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


def loaded(kind: type[Resource], library: Library, namespace: str, name: str) -> LoadedResource | None:
    """Return a resource of a name with its place, or with that of the booster it is made for; None without one."""
    written = library.source(kind, namespace, name)
    if written is not None:
        return written
    children = (each for expansion in _boosters(library, namespace, name) for each in expansion)
    return next((each for each in children if type(each.resource) is kind and each.name == name), None)


def _found(kind: type[R], library: Library, namespace: str, name: str) -> R | None:
    found = loaded(kind, library, namespace, name)
    return found.resource if found and isinstance(found.resource, kind) else None


def _boosters(library: Library, namespace: str, name: str) -> Iterator[Expansion]:
    """Yield what the boosters become whose resources may have the name: each begins with the booster's."""
    ends = [place for place, letter in enumerate(name) if letter == "-"]
    for end in (*ends, len(name)):
        source = library.source(ModelBooster, namespace, name[:end])
        if source is None:
            continue
        try:
            # What is wrong with it is reported where it is rendered itself.
            yield expand(source, Findings(source), Setup(namespace=namespace))
        except Unrenderable:
            continue


def made_servings(library: Library, namespace: str) -> Iterator[list[Made]]:
    """Yield the ModelServings that each booster of a namespace becomes."""
    for name in library.all(ModelBooster, namespace):
        for expansion in _boosters(library, namespace, name):
            yield expansion.servings
