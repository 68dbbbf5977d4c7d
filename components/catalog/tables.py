"""Reads tables of facts that are YAML files of this package."""

from importlib.resources import files
from typing import Any

import yaml

_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, in C where there is one: some tables are long, and every command reads a few."""


def table(*path: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file holds, such as ``table("flags", "vllm.yaml")``; the path is below ``catalog``."""
    text = files(__package__).joinpath(*path).read_text(encoding="utf-8")
    return yaml.load(text, Loader=_LOADER)  # noqa: S506  it is a safe one
