"""Envoy's messages, in a separate descriptor pool.

The generated modules of ``xds-protos`` register their files in protobuf's default pool, among them
``google/rpc/status.proto``. Pulumi has a copy of that file under another name
(``pulumi/runtime/proto/status_pb2.py``), and a pool rejects a symbol that it already has: one process cannot import
both. Therefore the generated modules are not imported. The serialized descriptors are read from their source, and
added to a private pool.
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
"""A message of the protocol, whose classes are untyped."""
_DESCRIPTOR = re.compile(r"""^ *DESCRIPTOR = .*\.AddSerializedFile\(\s*(b'.*'|b".*")\s*\)$""", re.MULTILINE)
"""On one line or, as in googleapis-common-protos, which contains some of the files too, on three."""
_POOL = descriptor_pool.DescriptorPool()
_LOCK = threading.Lock()
_added: set[str] = set()
"""Files in the pool. Guarded by the lock."""


class Package:
    """A package of the protocol, with its messages as attributes, like a generated module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # the classes have no types
        return message(f"{self._name}.{name}")


@functools.cache
def message(name: str) -> Any:  # noqa: ANN401  # the classes have no types
    """Return the class of a message by its full name, such as ``envoy.config.core.v3.HeaderValue``.

    Raises:
        AttributeError: the message does not exist.
    """
    with _LOCK:
        try:
            return message_factory.GetMessageClass(_descriptor(name))
        except KeyError:
            raise AttributeError(f"there is no message {name}") from None


def packed(resource: Object) -> Message:
    """Return a resource, in JSON with its ``@type``, as an ``Any``.

    Raises:
        json_format.ParseError: it does not match its type, or a type is unknown.
    """
    for name in set(_types(resource)):
        with contextlib.suppress(
            AttributeError
        ):  # a value that looks like a type; if it is one, the parser reports it
            message(name)
    return json_format.ParseDict(resource, message("google.protobuf.Any")(), descriptor_pool=_POOL)


def _types(value: object) -> Iterator[str]:
    """Yield the names of the messages in a resource, at any depth: the parser needs all of them in the pool."""
    if isinstance(value, list):
        for item in value:
            yield from _types(item)
    elif isinstance(value, dict):
        if name := str(value.get("@type", "")).rpartition("/")[2]:
            yield name
        for item in value.values():
            yield from _types(item)


def _descriptor(name: str) -> Any:  # noqa: ANN401  # descriptors have no types
    """Return the descriptor of a message; add all files of its package if it is not in the pool."""
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
    """Add a file to the pool, after the files that it imports."""
    if file in _added:
        return
    serialized = _serialized(file)
    for dependency in descriptor_pb2.FileDescriptorProto.FromString(serialized).dependency:
        _add(dependency)
    _POOL.AddSerializedFile(serialized)
    _added.add(file)


def _serialized(file: str) -> bytes:
    """Return the serialized descriptor of a file, from the source of its generated module."""
    spec = _spec(file.removesuffix(".proto").replace("-", "_") + "_pb2")
    if spec is None or spec.origin is None:
        raise ImportError(f"xds-protos has no module for {file}")
    match = _DESCRIPTOR.search(Path(spec.origin).read_text(encoding="utf-8"))
    if match is None:
        raise ImportError(f"{spec.origin} has no serialized descriptor")
    serialized: bytes = ast.literal_eval(match[1])
    return serialized


def _spec(path: str) -> ModuleSpec | None:
    """Find a module without importing it. Only its parent packages are imported, which are empty."""
    try:
        return importlib.util.find_spec(path.replace("/", "."))
    except (ModuleNotFoundError, ValueError):
        return None
