"""``workbench --version``."""

import sys
from pathlib import Path

import typer

_PACKAGE = "inference-platform"


def show_version(enabled: object) -> None:
    """Print the version and exit, if the flag is set."""
    if enabled:
        sys.stdout.write(f"{_PACKAGE} {version()}\n")
        raise typer.Exit


def version() -> str:
    """Return the version of this checkout, or of the installed package."""
    import importlib.metadata
    import tomllib

    project = Path(__file__).parents[1] / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    return importlib.metadata.version(_PACKAGE)
