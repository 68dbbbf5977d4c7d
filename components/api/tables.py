"""Reads tables of facts: YAML files beside the modules that know them."""

from importlib.resources import files
from typing import Any

import yaml

_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, in C where there is one: some tables are long, and every command reads a few."""


def table(package: str | None, *path: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file of a package holds, such as ``table(__package__, "eks.yaml")``."""
    text = files(package or "").joinpath(*path).read_text(encoding="utf-8")
    return yaml.load(text, Loader=_LOADER)  # noqa: S506  it is a safe one
