"""The outermost layer of the command line: turns every exception into a message and an exit code."""

import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from components.contract.texts.printable import printable, printable_lines

from .errors import WorkbenchError

STATE_DIR = ".workbench"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
INTERRUPTED = 130
UNFORESEEN = 70
"""Exit code of an internal error (``EX_SOFTWARE``); 1 stands for wrong manifests or settings."""


def run(command: Callable[[], None], error_code: int = 1) -> None:
    """Run a command, and exit the process if it raises.

    Args:
        command: The command.
        error_code: The lowest exit code of an error, where a lower one has another meaning.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # the terminal's encoding may lack a character
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            with _interrupts_raise():
                command()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe, as ``| head`` does
        _discard_output()
        sys.exit(error_code)
    except WorkbenchError as error:
        _end(str(error), max(error.exit_code, error_code))
    except KeyboardInterrupt:
        _end("cancelled", INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # click converts a KeyboardInterrupt
            _end("cancelled", INTERRUPTED)
        raise
    except MemoryError:
        _end("not enough memory; pass fewer or smaller files at a time", error_code)
    except Exception as error:
        if isinstance(error, OSError) and (message := _system_error(error)):
            _end(message, error_code)
        from components.contract.texts.crash_report import report_unexpected_error

        _end(report_unexpected_error(error, Path(STATE_DIR)), UNFORESEEN)


@contextmanager
def _interrupts_raise() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT while a command runs, unless SIGINT is ignored."""
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):
        yield
        return
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _system_error(error: OSError) -> str:
    """Return a message about a file or the output; empty for other errors, such as those of connections."""
    if error.filename is not None and error.strerror:
        return f"{printable(os.fsdecode(error.filename))}: {error.strerror}"
    if error.errno in _FULL:
        _discard_output()
        return f"the output cannot be written: {error.strerror}"
    return ""


def _end(message: str, code: int) -> NoReturn:
    from components.contract.texts.secrets import masked_text

    print(printable_lines(masked_text(message)), file=sys.stderr)  # noqa: T201
    sys.exit(code)


def _discard_output() -> None:
    # Python flushes stdout again at exit, and would report the same error there.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
