"""``workbench plan``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import WorkbenchError
from ..subject import complete_stack
from .formats import SUFFIXES, ReviewFormat, format_of, write

Stack = Annotated[
    str,
    typer.Option(help="Stack to plan; Pulumi.<stack>.yaml holds its settings.", autocompletion=complete_stack),
]
Form = Annotated[ReviewFormat, typer.Option("--format", help="How the report is written to stdout.")]
Saved = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help=f"Write the report to a file as well; its suffix ({', '.join(SUFFIXES)}) says how. May be repeated.",
    ),
]
Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]


def register(app: typer.Typer) -> None:
    """Add the ``plan`` command."""
    app.command()(plan)


def plan(
    *,
    stack: Stack = "local",
    form: Form = ReviewFormat.TEXT,
    save: Saved = None,
    cwd: Cwd = Path(),
) -> None:
    """Say whether every model fits, what it costs, and what is wrong.

    Needs no cluster, no cloud and no credentials. Ends with 1 if there are errors.
    """
    from components.review.compare import review
    from components.review.review import Thresholds

    from .snapshot import take

    for path in save or ():
        if format_of(path) is None:
            raise WorkbenchError(f"--save: {path} must end in one of {', '.join(SUFFIXES)}", 2)
    found = review(take(cwd.resolve(), stack), None, Thresholds())
    sys.stdout.write(write(found, form))
    if found.failures:
        raise typer.Exit(1)
