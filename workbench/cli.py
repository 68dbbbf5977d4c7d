"""The command line: one module per group of commands, which is imported when one of them runs."""

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .edge import run
from .helping import GROUPS, PROGRAM, CommandGroup, arrange
from .version import show_version

_ALLOCATIONS = 50_000
"""Allocations between two garbage collections. Almost every object lives until the command exits."""
_BRIEF = ("validate", "render")
"""Short commands, which run without garbage collection."""
MODULES = {
    "creating": ("init",),
    "adopting": ("adopt", "eject"),
    "stack": ("up", "preview", "destroy", "outputs"),
    "planning": ("plan",),
    "manifests": ("validate", "defaults", "crds", "schema"),
    "rendering": ("render",),
    "explaining": ("explain",),
    "inspecting.command": ("inspect",),
    "drifting.command": ("diff",),
    "migration": ("migrate",),
    "simulation": ("simulate",),
    "fitting_models": ("fit",),
    "sizing": ("size",),
    "fitting": ("fit-profile",),
    "live": ("load", "watch", "fault", "speed"),
    "cluster.commands": ("cluster",),
    "capacity": ("capacity",),
    "building": ("build-pulumi",),
}
"""The commands of each module, in the order of their help."""
_INSTALL_COMPLETION = "--install-completion"
_ERROR_CODES = {"diff": 2}
"""The exit code of errors, for commands in which 1 is a result."""

if TYPE_CHECKING:
    app: typer.Typer


def command_line(name: str = "") -> typer.Typer:
    """Return the command line.

    Args:
        name: First word of the command line. If it is a command, only its module is imported, because importing all
            of them takes longer than ``validate`` itself; otherwise, as for ``--help``, all are.
    """
    line = typer.Typer(
        name=PROGRAM,
        cls=CommandGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    line.callback()(_workbench)
    wanted = {name, *(GROUPS[name][1] if name in GROUPS else ())}
    modules = () if name == "--version" else [key for key, names in MODULES.items() if wanted & {*names}] or MODULES
    for module in modules:
        importlib.import_module(f".{module}", __package__).register(line)
    arrange(line)
    return line


def _workbench(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Validate, render and try out model fleets without a cloud account or a GPU."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  the command line, the same one each time
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault("app", command_line())


def main() -> None:
    """Run a command. Errors that users can fix end in a message and an exit code, never in a traceback."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    gc.set_threshold(_ALLOCATIONS)
    if command in _BRIEF:
        # pydantic searches all installed distributions for plugins before it builds its first model.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    else:
        gc.enable()
    try:
        if _INSTALL_COMPLETION in sys.argv[1:]:
            from .completion import unchanged_if_installed

            with unchanged_if_installed(Path.home()):
                run(lambda: command_line(command)(prog_name=PROGRAM))
            return
        run(lambda: command_line(command)(prog_name=PROGRAM), _ERROR_CODES.get(command, 1))
    finally:
        # The process is about to exit: skip the final collection.
        gc.freeze()
