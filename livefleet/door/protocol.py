"""Envoy's messages, in a descriptor pool of their own.

The modules that ``xds-protos`` generated put their files into protobuf's default pool, ``google/rpc/status.proto``
among them. Pulumi has a copy of that file under another name (``pulumi/runtime/proto/status_pb2.py``), and a pool
takes no symbol twice: one process cannot import both. So none of the generated modules is imported here: what they
would add is read from their source, and added to a pool that nobody else uses.
"""

import ast
import contextlib
import functools
import importlib.util
import re
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
)

from ..fleet import Object

Message = Any
"""A message of the protocol: the classes have no types."""
_DESCRIPTOR = re.compile(r"^ *DESCRIPTOR = .*\.AddSerializedFile\((b'.*')\)$", re.MULTILINE)
_POOL = descriptor_pool.DescriptorPool()
_LOCK = threading.Lock()
_added: set[str] = set()
"""Files that are in the pool; changes under the lock."""


class Package:
    """A package of the protocol: its messages are its attributes, as they are those of a generated module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # the classes have no types
        return message(f"{self._name}.{name}")


@functools.cache
def message(name: str) -> Any:  # noqa: ANN401  # the classes have no types
    """Return the class of a message by its full name, such as ``envoy.config.core.v3.HeaderValue``.

    Raises:
        AttributeError: There is no such message.
    """
    with _LOCK:
        try:
            return message_factory.GetMessageClass(_found(name))
        except KeyError:
            raise AttributeError(f"there is no message {name}") from None


def packed(resource: Object) -> Message:
    """Return a resource, in JSON with its ``@type``, as an ``Any``.

    Raises:
        json_format.ParseError: It is not what its type says, or a type is not known.
    """
    for name in set(_types(resource)):
        with contextlib.suppress(AttributeError):  # a value that merely looks like a type, or the parser says so
            message(name)
    return json_format.ParseDict(resource, message("google.protobuf.Any")(), descriptor_pool=_POOL)


def _types(value: object) -> Iterator[str]:
    """Yield the names of the messages that a resource holds, at any depth: what is not in the pool cannot be read."""
    if isinstance(value, list):
        for each in value:
            yield from _types(each)
    elif isinstance(value, dict):
        if name := str(value.get("@type", "")).rpartition("/")[2]:
            yield name
        for each in value.values():
            yield from _types(each)


def _found(name: str) -> Any:  # noqa: ANN401  # descriptors have no types
    """Return the descriptor of a message; where it is not known yet, all files of its package are added."""
    try:
        return _POOL.FindMessageTypeByName(name)
    except KeyError:
        package = name.rpartition(".")[0].replace(".", "/")
        spec = _spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            for file in sorted(Path(folder).glob("*_pb2.py")):
                _add(f"{package}/{file.name.removesuffix('_pb2.py')}.proto")
        return _POOL.FindMessageTypeByName(name)


def _add(file: str) -> None:
    """Add a file to the pool, after those that it imports."""
    if file in _added:
        return
    serialized = _serialized(file)
    for each in descriptor_pb2.FileDescriptorProto.FromString(serialized).dependency:
        _add(each)
    _POOL.AddSerializedFile(serialized)
    _added.add(file)


def _serialized(file: str) -> bytes:
    """Return the descriptor of a file, from the source of the module that was generated of it."""
    spec = _spec(file.removesuffix(".proto").replace("-", "_") + "_pb2")
    if spec is None or spec.origin is None:
        raise ImportError(f"nothing was generated of {file}")
    found = _DESCRIPTOR.search(Path(spec.origin).read_text(encoding="utf-8"))
    if found is None:
        raise ImportError(f"{spec.origin} holds no descriptor")
    serialized: bytes = ast.literal_eval(found[1])
    return serialized


def _spec(path: str) -> ModuleSpec | None:
    """Look a module up without importing it; the packages that it is in are empty."""
    try:
        return importlib.util.find_spec(path.replace("/", "."))
    except (ModuleNotFoundError, ValueError):
        return None
