"""The command line: one module per group of commands, each importing what is heavy only when it runs."""

import sys

import typer

from . import explaining, manifests, rendering, stack
from .cluster import commands as cluster
from .errors import WorkbenchError

app = typer.Typer(
    name="workbench",
    help="Validate, render and try out model fleets without a cloud account or a GPU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (stack, manifests, rendering, explaining, cluster):
    module.register(app)


def main() -> None:
    """Run a command; a problem the user can act on is a message and an exit code, never a traceback."""
    try:
        app()
    except WorkbenchError as error:
        print(error, file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
