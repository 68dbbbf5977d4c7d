"""Confirmation prompts and progress display."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

import typer

from .errors import WorkbenchError

_QUIET_SECONDS = 15.0


def agree(_: str) -> bool:
    """Confirm without a prompt, for ``--yes``."""
    return True


def confirm(question: str) -> bool:
    """Ask for confirmation.

    Raises:
        WorkbenchError: stdin is not a terminal.
    """
    if not sys.stdin.isatty():
        raise WorkbenchError(f"{question} Cannot ask for confirmation without a terminal; use --yes.")
    return typer.confirm(question)


@contextmanager
def progress(first: str, *, prompts: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a spinner on a terminal; elsewhere log a line every 15 seconds.

    Args:
        first: The initial status.
        prompts: Whether the command asks for confirmation: a spinner would overwrite the question.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if prompts or not console.is_terminal:
        yield _throttled(console.file)
        return
    with console.status(first) as status:
        yield lambda text: status.update(text)


def _throttled(stream: IO[str]) -> Callable[[str], None]:
    written = time.monotonic()

    def line(text: str) -> None:
        nonlocal written
        if time.monotonic() - written > _QUIET_SECONDS:
            written = time.monotonic()
            stream.write(text + "\n")
            stream.flush()

    return line
