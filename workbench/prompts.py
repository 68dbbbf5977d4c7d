"""Questions to the user, and what is shown while a command works."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

import typer

from .errors import WorkbenchError

_QUIET_SECONDS = 15.0


def agree(_: str) -> bool:
    """Say yes."""
    return True


def confirm(question: str) -> bool:
    """Ask.

    Raises:
        WorkbenchError: there is nobody to ask.
    """
    if not sys.stdin.isatty():
        raise WorkbenchError(f"{question} There is no terminal to confirm on; use --yes.")
    return typer.confirm(question)


@contextmanager
def progress(first: str, *, asking: bool = False) -> Iterator[Callable[[str], None]]:
    """Show progress on a terminal, and nothing elsewhere; a spinner would write over a question."""
    from rich.console import Console

    console = Console(stderr=True)
    if asking or not console.is_terminal:
        yield _now_and_then(console.file)
        return
    with console.status(first) as status:
        yield lambda text: status.update(text)


def _now_and_then(stream: IO[str]) -> Callable[[str], None]:
    """Return a progress function for logs: a line when nothing was heard for a while."""
    written = time.monotonic()

    def line(text: str) -> None:
        nonlocal written
        if time.monotonic() - written > _QUIET_SECONDS:
            written = time.monotonic()
            stream.write(text + "\n")
            stream.flush()

    return line
