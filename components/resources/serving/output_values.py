"""Outputs in arguments: resolve known ones where plain values are required, and report the others.

An argument either determines which resources are created, or is passed on to them. The type distinguishes them:

- A plain type determines resources and requires plain values. - ``Input`` of a map, or of lists of maps, is a
manifest. It determines resources too, but may come from a component, so known outputs in it are resolved. - ``Input``
of anything else is passed on and may remain an output.

Remote callers (programs in other languages) pass almost only outputs; all that are known on arrival are resolved.
"""

import inspect
import types
import typing
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar, get_args, get_origin, is_typeddict

import pulumi
from pulumi.output import Unknown
from pulumi.runtime import rpc

from ...contract.problems import field_path
from ...contract.texts.secrets import secret_texts
from .typed_args import Found, Parts, below, camel, keys_of

_Value = TypeVar("_Value")


def determining(typed: object) -> object | None:
    """Return the plain type of an argument that determines which resources are created; None for others."""
    if get_origin(typed) not in (typing.Union, types.UnionType):
        return typed
    return next((argument for argument in get_args(typed) if _holds_maps(argument)), None)


def _holds_maps(typed: object) -> bool:
    return get_origin(typed) is dict or (get_origin(typed) is list and _holds_maps(get_args(typed)[0]))


def resolve_outputs(value: object, typed: object, *, remote: bool = False, read: bool = False) -> Any:  # noqa: ANN401  JSON
    """Resolve known outputs in an argument that determines which resources are created.

    Secrets remain outputs; resolved, they would be stored in plaintext in the created resources.

    Args:
        value: The argument.
        typed: Its type.
        remote: Whether it is from a remote caller: resolve every known output, and convert keys to snake_case.
        read: Whether the value is part of a manifest.
    """
    mapping_type = determining(typed)
    if mapping_type is None:
        return value
    read = read or remote or mapping_type is not typed
    value = _known(value) if read else value
    if rpc.is_rpc_secret(value):  # the SDK leaves secrets inside of outputs in this form
        return value
    if isinstance(value, Mapping):
        known = keys_of(mapping_type) if is_typeddict(mapping_type) else {}
        names = {camel(key): key for key in known} if remote else {}
        given = {names.get(key, key): inner for key, inner in value.items()}
        types_ = {str(key): type_ for key, _, type_ in below(given, mapping_type)}
        return {
            key: resolve_outputs(inner, types_[str(key)], remote=remote, read=read) for key, inner in given.items()
        }
    if isinstance(value, list | tuple):
        return [
            resolve_outputs(inner, type_, remote=remote, read=read) for _, inner, type_ in below(value, mapping_type)
        ]
    return value


def unresolved_outputs(value: object, typed: object, path: Parts = ()) -> Found:
    """Yield path and problem of every output in an argument that determines which resources are created."""
    typed = determining(typed)
    if typed is None:
        return
    reason = _why_not_plain(value)
    if reason:
        yield field_path(path), reason
    for key, inner, type_ in below(value, typed):
        yield from unresolved_outputs(inner, type_, (*path, key))


def holds_secret(value: object, name: str = "") -> bool:
    """Return whether a remote argument contains a secret: a value marked as one, or text that looks like one.

    Unknown values contain none that could be printed.
    """
    marked = False

    def opened(part: object) -> object:
        nonlocal marked
        if isinstance(part, pulumi.Output):
            if _now(part.is_secret()):
                marked = True
                return None
            return opened(_now(part.future(with_unknowns=True))) if _now(part.is_known()) else None
        if rpc.is_rpc_secret(part):
            marked = True
            return None
        if isinstance(part, Mapping):
            return {str(key): opened(inner) for key, inner in part.items()}
        if isinstance(part, list | tuple):
            return [opened(inner) for inner in part]
        return part if isinstance(part, str | int | float) else None

    current = opened(value)
    return marked or bool(secret_texts(current, name))


def _why_not_plain(value: object) -> str | None:
    if rpc.is_rpc_secret(value) or (isinstance(value, pulumi.Output) and _now(value.is_secret())):
        return (
            "must be a plain value, found a secret, which would be stored in plaintext in the created resources; put "
            "it into a Kubernetes Secret, and refer to that"
        )
    if isinstance(value, pulumi.Output) and _now(value.is_known()) is False:
        return (
            "must be a plain value, found an output that is not known yet; it determines which resources are created"
        )
    if isinstance(value, Unknown):
        return (
            "must be a plain value, found an output that is not known yet; it determines which resources are created"
        )
    if isinstance(value, pulumi.Output) or inspect.isawaitable(value):
        return "must be a plain value, found an output of a resource; it determines which resources are created"
    return None


def _known(value: object) -> object:
    if not isinstance(value, pulumi.Output) or _now(value.is_secret()) or not _now(value.is_known()):
        return value
    return _now(value.future(with_unknowns=True))


def _now(answer: Coroutine[Any, Any, _Value]) -> _Value | None:
    """Return the result of a coroutine that does not block; None if it would have to wait.

    Outputs of remote callers are complete on arrival. Those of this program are not.
    """
    try:
        waiting = answer.send(None)
    except StopIteration as done:
        result: _Value = done.value
        return result
    waiting._asyncio_future_blocking = False  # noqa: SLF001  acknowledges the future, as an event loop does
    answer.close()
    return None
