"""Model configurations on this machine, in the format of the transformers library."""

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
_ADDRESS = re.compile(r"^(?:host|file|hostpath)://(?=/)")
_MAX_BYTES = 2**50


def shapes_in(options: Sequence[str]) -> "dict[str, OwnShape]":
    """Read the models passed with ``--config``, as ``MODEL=PATH`` or ``PATH`` of a config.json or its folder.

    A path without a model name gets an empty key; it describes the only model whose shape is unknown.

    Raises:
        WorkbenchError: a path cannot be read, or is not a model configuration.
    """
    from components.checks.memory.workloads.known import OwnShape

    shapes: dict[str, OwnShape] = {}
    for option in options:
        name, equals, path = option.partition("=")
        file = Path(path if equals else option)
        file = file / _CONFIG if file.is_dir() else file
        name = name if equals else ""
        if (equals and not name) or not (path if equals else option) or name in shapes:
            raise WorkbenchError(f"--config {option!r}: must be MODEL=PATH or PATH, once for each model", 2)
        try:
            shape = _read(file, name or str(file))
        except OSError as error:
            raise WorkbenchError(f"{file}: cannot be read: {error.strerror or error}; correct the path", 2) from None
        except UnicodeDecodeError:
            raise WorkbenchError(f"{file}: is not a text file; pass the {_CONFIG} of the model", 2) from None
        except ValueError as error:
            raise WorkbenchError(f"{file}: {error}", 2) from None
        shapes[name] = OwnShape(shape, is_sized=shape.weights_bytes is not None)
    return shapes


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
