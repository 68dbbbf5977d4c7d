"""Arguments with keys of their own all the way down: unknown ones are found, and known ones get their wire names.

What to look into is said by the argument's type alone: a TypedDict has keys that are known, and everything else, such
as a manifest or a core Kubernetes type, is taken as it is.
"""

import functools
import typing
from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, Required, get_args, get_origin, is_typeddict

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from ...contract.problems import did_you_mean, field_path

Parts = tuple[str | int, ...]
Found = Iterator[tuple[str, str]]
"""Path of an argument, and what is wrong there."""


@functools.cache
def keys_of(typed: Any) -> Mapping[str, Any]:  # noqa: ANN401  a TypedDict is no type to type checkers
    """Return the keys of a TypedDict, inherited ones too, each with the type of its value."""
    return {key: _unwrapped(value) for key, value in typed.__annotations__.items()}


def _unwrapped(annotation: object) -> object:
    """Return what is required, or is not."""
    return get_args(annotation)[0] if get_origin(annotation) in (Required, NotRequired) else annotation


def wire(value: object, typed: object, model: type[BaseModel] | None = None) -> Any:  # noqa: ANN401  JSON
    """Return an argument in wire form; keys that its type does not have are left out.

    Args:
        value: What was given.
        typed: Type of the argument.
        model: The contract's type behind it, whose aliases are the names on the wire. Without one they are in
            camelCase, as Kubernetes' own types have them.
    """
    if is_typeddict(typed) and isinstance(value, Mapping):
        fields = model.model_fields if model else {}
        inside = {key: model_in(field.annotation) for key, field in fields.items()}
        return {
            wire_name(key, model): wire(inner, type_, inside.get(key)) for key, inner, type_ in _known(value, typed)
        }
    return _each(value, typed, lambda inner, type_: wire(inner, type_, model))


def known_keys(value: object, typed: object) -> Any:  # noqa: ANN401  JSON
    """Return an argument without the keys that its type does not have."""
    if is_typeddict(typed) and isinstance(value, Mapping):
        return {key: known_keys(inner, type_) for key, inner, type_ in _known(value, typed)}
    return _each(value, typed, known_keys)


def _known(value: Mapping[str, object], typed: object) -> Iterator[tuple[str, object, object]]:
    """Yield the keys that a type has, each with its value and the value's type."""
    known = keys_of(typed)
    return ((key, inner, known[key]) for key, inner in value.items() if key in known)


def _each(value: object, typed: object, change: typing.Callable[[object, object], object]) -> object:
    """Return a list or map with each of its values changed; everything else as it is."""
    if get_origin(typed) is list and isinstance(value, list | tuple):
        return [change(item, get_args(typed)[0]) for item in value]
    if get_origin(typed) is dict and isinstance(value, Mapping):
        return {key: change(inner, get_args(typed)[1]) for key, inner in value.items()}
    return value


def wire_name(key: str, model: type[BaseModel] | None) -> str:
    """Return the name of a key on the wire."""
    field = model.model_fields.get(key) if model else None
    return (field.alias if field else None) or camel(key)


def camel(key: str) -> str:
    """Return a key as other languages have it: one that would be a word of Python ends in an underscore here."""
    return to_camel(key.removesuffix("_"))


def model_in(annotation: object) -> type[BaseModel] | None:
    """Return the pydantic type that a field holds, be it in a list or optional; None of any other field."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for found in map(model_in, get_args(annotation)) if found), None)


def unknown_keys(value: object, typed: object, path: Parts = ()) -> Found:
    """Yield the path of every key that an argument's type does not have, and what may have been meant."""
    if is_typeddict(typed) and isinstance(value, Mapping):
        known = keys_of(typed)
        for key in (key for key in value if key not in known):
            hint = did_you_mean(str(key), known) or f"; known arguments: {', '.join(known)}"
            yield field_path((*path, str(key))), f"unknown argument{hint}"
    for key, inner, type_ in below(value, typed):
        yield from unknown_keys(inner, type_, (*path, key))


def below(value: object, typed: object) -> Iterator[tuple[str | int, object, object]]:
    """Yield what a map or list holds, each with its key and its type; what the type does not know is anything."""
    if isinstance(value, Mapping):
        known = keys_of(typed) if is_typeddict(typed) else {}
        other = get_args(typed)[1] if get_origin(typed) is dict else Any
        yield from ((str(key), inner, known.get(key, other)) for key, inner in value.items())
    elif isinstance(value, list | tuple):
        item = get_args(typed)[0] if get_origin(typed) is list else Any
        yield from ((position, inner, item) for position, inner in enumerate(value))


def keys_below(typed: object) -> frozenset[str]:
    """Return the keys of a type and of all types in it."""
    inner = frozenset[str]().union(*map(keys_below, get_args(typed)))
    if not is_typeddict(typed):
        return inner
    known = keys_of(typed)
    return frozenset(known).union(*map(keys_below, known.values()))
