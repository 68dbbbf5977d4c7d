"""The command line: one module per group of commands, each importing what is heavy only when it runs."""

import gc
import sys
from typing import Annotated

import typer

from livefleet import register_commands

from . import capacity, explaining, fitting, manifests, planning, rendering, simulation, sizing, stack
from .cluster import commands as cluster
from .edge import run
from .helping import arrange
from .version import show_version

_ALLOCATIONS = 50_000
"""Objects between two runs of the cyclic garbage collector: what a command reads and makes lives until it ends."""
_BRIEF = ("validate", "render")
"""Commands that end as soon as they have said what they read and planned: they need no collector at all."""

app = typer.Typer(
    name="workbench",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _workbench(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Validate, render and try out model fleets without a cloud account or a GPU."""


_ALL = (
    stack.register,
    planning.register,
    manifests.register,
    rendering.register,
    explaining.register,
    simulation.register,
    sizing.register,
    fitting.register,
    register_commands,
    cluster.register,
    capacity.register,
)
for register in _ALL:
    register(app)
arrange(app)


def main() -> None:
    """Run a command; a problem the user can act on is a message and an exit code, never a traceback."""
    gc.set_threshold(_ALLOCATIONS)
    if sys.argv[1:2] and sys.argv[1] in _BRIEF:
        gc.disable()
    try:
        run(app)
    finally:
        # The process ends with all that it made: nobody needs the garbage in it.
        gc.freeze()
