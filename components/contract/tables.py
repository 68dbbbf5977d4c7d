"""Reads tables of facts: YAML files beside the modules that know them."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from .collection import paused_collection
from .documents.reader import read_documents


def load_table(package: str | None, *path: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file of a package holds, such as ``table(__package__, "eks.yaml")``."""
    return read_table(files(package or "").joinpath(*path))


def read_table(file: Traversable) -> Any:  # noqa: ANN401
    """Return what a file holds; some tables are long, and every command reads a few."""
    with paused_collection():
        return next(read_documents(file.read_text(encoding="utf-8"))).value
