"""Nested typed arguments: find unknown keys, and convert known keys to wire names.

Only the argument's type matters: the keys of a TypedDict are checked and converted, and everything else, such as a
manifest or a core Kubernetes type, is left unchanged.
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
"""Pairs of the path of an argument and what is wrong with it."""


@functools.cache
def keys_of(typed: Any) -> Mapping[str, Any]:  # noqa: ANN401  a TypedDict is no type to type checkers
    """Return the types of a TypedDict's values by key, including inherited keys."""
    return {
        key: get_args(value)[0] if get_origin(value) in (Required, NotRequired) else value
        for key, value in typed.__annotations__.items()
    }


def wire(value: object, typed: object, model: type[BaseModel] | None = None) -> Any:  # noqa: ANN401  JSON
    """Convert an argument to wire form; drops keys that its type does not declare.

    Args:
        value: The argument.
        typed: Its type.
        model: The contract's type of it, whose aliases are the wire names. Default: camelCase, as in Kubernetes.
    """
    if is_typeddict(typed) and isinstance(value, Mapping):
        fields = model.model_fields if model else {}
        nested = {key: model_in(field.annotation) for key, field in fields.items()}
        return {
            wire_name(key, model): wire(inner, type_, nested.get(key)) for key, inner, type_ in _known(value, typed)
        }
    return _map_items(value, typed, lambda inner, type_: wire(inner, type_, model))


def known_keys(value: object, typed: object) -> Any:  # noqa: ANN401  JSON
    """Drop keys that the argument's type does not declare."""
    if is_typeddict(typed) and isinstance(value, Mapping):
        return {key: known_keys(inner, type_) for key, inner, type_ in _known(value, typed)}
    return _map_items(value, typed, known_keys)


def _known(value: Mapping[str, object], typed: object) -> Iterator[tuple[str, object, object]]:
    """Yield declared keys with value and type."""
    known = keys_of(typed)
    return ((key, inner, known[key]) for key, inner in value.items() if key in known)


def _map_items(value: object, typed: object, change: typing.Callable[[object, object], object]) -> object:
    """Apply a function to the values of a list or map; return anything else unchanged."""
    if get_origin(typed) is list and isinstance(value, list | tuple):
        return [change(item, get_args(typed)[0]) for item in value]
    if get_origin(typed) is dict and isinstance(value, Mapping):
        return {key: change(inner, get_args(typed)[1]) for key, inner in value.items()}
    return value


def wire_name(key: str, model: type[BaseModel] | None) -> str:
    field = model.model_fields.get(key) if model else None
    return (field.alias if field else None) or camel(key)


def camel(key: str) -> str:
    """Convert a key to camelCase. A trailing underscore distinguishes keys from keywords of Python."""
    return to_camel(key.removesuffix("_"))


def model_in(annotation: object) -> type[BaseModel] | None:
    """Return the pydantic type in a field's annotation, including in lists and optional fields; None without one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for model in map(model_in, get_args(annotation)) if model), None)


def unknown_keys(value: object, typed: object, path: Parts = ()) -> Found:
    """Yield the path of every undeclared key, with a suggestion."""
    if is_typeddict(typed) and isinstance(value, Mapping):
        known = keys_of(typed)
        for key in (key for key in value if key not in known):
            hint = did_you_mean(str(key), known) or f"; known arguments: {', '.join(known)}"
            yield field_path((*path, str(key))), f"unknown argument{hint}"
    for key, inner, type_ in below(value, typed):
        yield from unknown_keys(inner, type_, (*path, key))


def below(value: object, typed: object) -> Iterator[tuple[str | int, object, object]]:
    """Yield the items of a map or list with key and type; undeclared keys have type Any."""
    if isinstance(value, Mapping):
        known = keys_of(typed) if is_typeddict(typed) else {}
        other = get_args(typed)[1] if get_origin(typed) is dict else Any
        yield from ((str(key), inner, known.get(key, other)) for key, inner in value.items())
    elif isinstance(value, list | tuple):
        item = get_args(typed)[0] if get_origin(typed) is list else Any
        yield from ((position, inner, item) for position, inner in enumerate(value))


def keys_below(typed: object) -> frozenset[str]:
    """Return the keys of a type and of its nested types."""
    inner = frozenset[str]().union(*map(keys_below, get_args(typed)))
    if not is_typeddict(typed):
        return inner
    known = keys_of(typed)
    return frozenset(known).union(*map(keys_below, known.values()))
