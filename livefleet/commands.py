"""The commands ``load``, ``watch``, ``fault`` and ``speed``, for the command line that offers them."""

import typer

from .load import command as load
from .watching import command as watching


def register_commands(app: typer.Typer) -> None:
    """Add the commands to a command line."""
    load.register(app)
    watching.register(app)
