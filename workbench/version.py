"""``workbench --version``."""

import sys
from pathlib import Path

import typer

_PACKAGE = "inference-platform"


def show_version(wanted: object) -> None:
    """Print the version and exit, if that is wanted."""
    if wanted:
        sys.stdout.write(f"{_PACKAGE} {version()}\n")
        raise typer.Exit


def version() -> str:
    """Return the version of the package that is installed, or of the checkout that this is."""
    import importlib.metadata
    import tomllib

    project = Path(__file__).parents[1] / "pyproject.toml"
    if project.is_file():
        found: str = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
        return found
    return importlib.metadata.version(_PACKAGE)
