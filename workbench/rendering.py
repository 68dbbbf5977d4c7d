"""Commands (placeholder until the module's first version)."""

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
