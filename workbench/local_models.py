"""Models on this machine: configurations in the format of the transformers library, and GGUF files."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import WorkbenchError

if TYPE_CHECKING:
    from components.checks.memory.shapes import Shape
    from components.checks.memory.workloads.known import OwnShape

_CONFIG, _INDEX = "config.json", "model.safetensors.index.json"
_GGUF = ".gguf"
_MOST_LISTED = 5
"""Missing files that a message lists."""
_PART = re.compile(r"(?P<name>.+)-(?P<number>[0-9]{5})-of-(?P<parts>[0-9]{5})\.gguf", re.IGNORECASE)
"""The name of a part of a split model (ggml-org/llama.cpp, ``llama_split_path``)."""
_ADDRESS = re.compile(r"^(?:host|file|hostpath)://(?=/)")
_MAX_BYTES = 2**50


def shapes_in(options: Sequence[str]) -> "dict[str, OwnShape]":
    """Read the models passed with ``--config``: ``MODEL=PATH`` or ``PATH`` of a config.json, its folder, a GGUF file.

    A GGUF file without a model name describes the model that is loaded from a file of its name. Another path without
    one gets an empty key: it describes the only model whose shape is unknown.

    Raises:
        WorkbenchError: a path cannot be read, or is not a model configuration.
    """
    shapes: dict[str, OwnShape] = {}
    for option in options:
        name, equals, path = option.partition("=")
        file = Path(path if equals else option)
        file = file / _CONFIG if file.is_dir() else gguf_parts(file)[0] if is_gguf(file) else file
        name = name if equals else file.name if is_gguf(file) else ""
        if (equals and not name) or not (path if equals else option) or name in shapes:
            raise WorkbenchError(f"--config {option!r}: must be MODEL=PATH or PATH, once for each model", 2)
        shapes[name] = own_shape(file, name)
    return shapes


def own_shape(file: Path, name: str) -> "OwnShape":
    """Read a config.json or a GGUF file.

    Raises:
        WorkbenchError: it cannot be read, or does not describe a model.
    """
    from components.checks.memory.workloads.known import OwnShape

    try:
        shape = _read_gguf(file) if is_gguf(file) else _read(file, name or str(file))
    except OSError as error:
        raise WorkbenchError(f"{file}: cannot be read: {error.strerror or error}; correct the path", 2) from None
    except UnicodeDecodeError:
        raise WorkbenchError(f"{file}: is not a text file; pass the {_CONFIG} of the model", 2) from None
    except ValueError as error:
        # The error names the model, which may be the file.
        reason = str(error).removeprefix(f"{file}: ")
        raise WorkbenchError(reason if is_gguf(file) else f"{file}: {reason}", 2) from None
    return OwnShape(shape, is_sized=shape.weights_bytes is not None)


def is_gguf(path: Path) -> bool:
    """Whether a path is that of a GGUF file."""
    return path.suffix.lower() == _GGUF


def gguf_parts(path: Path) -> list[Path]:
    """Return all parts of a split model, of which the first has the header; the file itself if it is not split.

    Raises:
        WorkbenchError: parts are missing beside it.
    """
    match = _PART.fullmatch(path.name)
    if not match:
        return [path]
    number, count = int(match["number"]), int(match["parts"])
    if not 1 <= number <= count:
        raise WorkbenchError(f"{path}: is part {number} of {count}; rename it to one from 1 to {count}", 2)
    parts = [path.with_name(f"{match['name']}-{each:05}-of-{count:05}{path.suffix}") for each in range(1, count + 1)]
    if missing := [part.name for part in parts if not part.is_file()]:
        names = ", ".join(missing[:_MOST_LISTED]) + (", ..." if len(missing) > _MOST_LISTED else "")
        raise WorkbenchError(
            f"{path}: {len(missing)} of {count} parts of the model are missing beside it: {names}; download them", 2
        )
    return parts


def _read_gguf(file: Path) -> "Shape":
    from components.checks.memory.gguf import read_gguf

    with file.open("rb") as stream:
        shape = read_gguf(stream, file.name, sum(part.stat().st_size for part in gguf_parts(file)))
    return replace(shape, source=f"{file}")


def local_shape(name: str) -> "Shape | None":
    """Read a model from the path that its server loads, if it exists on this machine; else return None.

    Unreadable files count as missing, because pods have file systems of their own.
    """
    path = _ADDRESS.sub("", name)
    if not path.startswith(("/", "./", "../")) or "\0" in path:
        return None
    try:
        return _read(Path(path) / _CONFIG, name)
    except (OSError, ValueError):
        return None


def _read(file: Path, name: str) -> "Shape":
    from components.resources.serving.fleet.files import read_text

    text = read_text(file)
    # Imported after reading, because the paths of most servers exist only in their pods.
    from components.checks.memory.config import read_config

    shape, size = read_config(text, name), _weights_of(file.parent)
    return replace(shape, weights_bytes=size, source=f"{file}") if size else replace(shape, source=f"{file}")


def _weights_of(folder: Path) -> int | None:
    """Return the size of the weights next to a configuration, in bytes; None without an index or weight files."""
    files = [path.stat().st_size for path in sorted(folder.glob("*.safetensors")) if path.is_file()]
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        size = index["metadata"]["total_size"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        size = sum(files)
    is_size = isinstance(size, int | float) and not isinstance(size, bool) and 0 < size < _MAX_BYTES
    return int(size) if is_size else None
