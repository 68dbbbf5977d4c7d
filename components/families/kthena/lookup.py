"""What resources of Kthena refer to by name: what is written by hand, and what a ModelBooster becomes."""

from collections.abc import Iterator
from typing import TypeVar

from ...api.findings import Findings, Unrenderable
from ...api.load import Loaded
from ...api.meta import Resource
from ...fleet.library import Library
from .booster.expansion import Expansion, expand
from .booster.setup import Setup
from .kinds import MODEL_BOOSTER
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


def _found(kind: type[R], library: Library, namespace: str, name: str) -> R | None:
    written = library.all(kind, namespace).get(name)
    if written is not None:
        return written
    children = (each.resource for expansion in _boosters(library, namespace, name) for each in expansion)
    return next((each for each in children if isinstance(each, kind) and each.metadata.name == name), None)


def _boosters(library: Library, namespace: str, name: str) -> Iterator[Expansion]:
    """Yield what the boosters become whose resources may have the name: each begins with the booster's."""
    boosters = library.all(ModelBooster, namespace)
    ends = [place for place, letter in enumerate(name) if letter == "-"]
    for end in (*ends, len(name)):
        booster = boosters.get(name[:end])
        if booster is None:
            continue
        source = Loaded.of(booster, MODEL_BOOSTER)
        try:
            # What is wrong with it is reported where it is rendered itself.
            yield expand(source, Findings(source), Setup(namespace=namespace))
        except Unrenderable:
            continue


def servings(library: Library, namespace: str) -> Iterator[list[ModelServing]]:
    """Yield the ModelServings of a namespace: first what is written, then what each booster becomes."""
    yield list(library.all(ModelServing, namespace).values())
    for name in library.all(ModelBooster, namespace):
        for expansion in _boosters(library, namespace, name):
            yield [each.resource for each in expansion.servings if isinstance(each.resource, ModelServing)]
