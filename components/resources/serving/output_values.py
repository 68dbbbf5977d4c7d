"""Outputs among arguments: where plain values are wanted, those that are known are read, and the others are told.

An argument decides what is created, or it is a value that is handed on to what is created. Its type says which:

- a plain type decides, and takes plain values;
- ``Input`` of a map, or of maps, is a manifest: it decides as well, but may come from a component, so that outputs in
  it are read;
- ``Input`` of anything else is handed on, and may stay an output.

Programs in other languages have hardly anything but outputs; all that are known when they arrive are read.
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


def deciding(typed: object) -> object | None:
    """Return the type of what is plain in an argument that decides what is created; None of one that does not."""
    if get_origin(typed) not in (typing.Union, types.UnionType):
        return typed
    return next((each for each in get_args(typed) if _holds_maps(each)), None)


def _holds_maps(typed: object) -> bool:
    return get_origin(typed) is dict or (get_origin(typed) is list and _holds_maps(get_args(typed)[0]))


def resolve_outputs(value: object, typed: object, *, remote: bool = False, read: bool = False) -> Any:  # noqa: ANN401  JSON
    """Return an argument with the values of outputs that are known, where it decides what is created.

    Secrets stay outputs: read, they would stand in the clear in what is created.

    Args:
        value: What was given.
        typed: Type of the argument.
        remote: Whether it comes from another language: every output is read, and keys become those of Python.
        read: Whether the value is in a manifest.
    """
    plain = deciding(typed)
    if plain is None:
        return value
    read = read or remote or plain is not typed
    value = _known(value) if read else value
    if rpc.is_rpc_secret(value):  # one that the SDK left inside of an output
        return value
    if isinstance(value, Mapping):
        known = keys_of(plain) if is_typeddict(plain) else {}
        names = {camel(key): key for key in known} if remote else {}
        given = {names.get(key, key): inner for key, inner in value.items()}
        types_ = {str(key): type_ for key, _, type_ in below(given, plain)}
        return {
            key: resolve_outputs(inner, types_[str(key)], remote=remote, read=read) for key, inner in given.items()
        }
    if isinstance(value, list | tuple):
        return [resolve_outputs(inner, type_, remote=remote, read=read) for _, inner, type_ in below(value, plain)]
    return value


def unresolved_outputs(value: object, typed: object, path: Parts = ()) -> Found:
    """Yield the path of every output in an argument that decides what is created, and must be known before."""
    typed = deciding(typed)
    if typed is None:
        return
    reason = _why_not_plain(value)
    if reason:
        yield field_path(path), reason
    for key, inner, type_ in below(value, typed):
        yield from unresolved_outputs(inner, type_, (*path, key))


def holds_secret(value: object, name: str = "") -> bool:
    """Whether a secret is anywhere in an argument that has arrived: marked as one, or plain text that looks like one.

    What is not known yet holds none that could be shown.
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

    plain = opened(value)
    return marked or bool(secret_texts(plain, name))


def _why_not_plain(value: object) -> str | None:
    """Say why a value cannot decide what is created; None if it can."""
    if rpc.is_rpc_secret(value) or (isinstance(value, pulumi.Output) and _now(value.is_secret())):
        return (
            "must be a plain value, found a secret, which would stand in the clear in what is created; put it "
            "into a Secret of Kubernetes and refer to that"
        )
    if isinstance(value, pulumi.Output) and _now(value.is_known()) is False:
        return "must be a plain value, found an output that is not known yet; it decides what is created"
    if isinstance(value, Unknown):
        return "must be a plain value, found an output that is not known yet; it decides what is created"
    if isinstance(value, pulumi.Output) or inspect.isawaitable(value):
        return "must be a plain value, found an output of a resource; it decides what is created"
    return None


def _known(value: object) -> object:
    if not isinstance(value, pulumi.Output) or _now(value.is_secret()) or not _now(value.is_known()):
        return value
    return _now(value.future(with_unknowns=True))


def _now(answer: Coroutine[Any, Any, _Value]) -> _Value | None:
    """Return what an output says at once; None where that would have to be waited for.

    Outputs that a remote caller passes are complete when they arrive. Those of this very program are not.
    """
    try:
        waiting = answer.send(None)
    except StopIteration as done:
        found: _Value = done.value
        return found
    waiting._asyncio_future_blocking = False  # noqa: SLF001  as an event loop marks what it was handed to wait for
    answer.close()
    return None
