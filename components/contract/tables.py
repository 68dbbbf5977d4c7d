"""Reads data tables: YAML files next to the modules that use them."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from .collection import paused_collection
from .documents.reader import read_documents


def load_table(package: str | None, *path: str) -> Any:  # noqa: ANN401 - any YAML value
    """Read a YAML file of a package, such as ``load_table(__package__, "eks.yaml")``."""
    return read_table(files(package or "").joinpath(*path))


def read_table(file: Traversable) -> Any:  # noqa: ANN401
    return parse_table(file.read_text(encoding="utf-8"))


def parse_table(text: str) -> Any:  # noqa: ANN401
    """Return the value of a table, or of a part of one."""
    # Collection is paused because every command reads a few tables, some of them long.
    with paused_collection():
        return next(read_documents(text)).value
