"""Ctrl-C and SIGTERM during an operation on a stack: the process exits within a second.

Raising an exception is not enough: an event loop may wait for a response that never comes, a finalizer or a library
may swallow the exception, and a worker thread may block in a request. The signal handler therefore raises, and a
thread exits the process if it is still running after a grace period. Exiting at any point is safe: the intent of
every step is in the state before it begins, and the operating system releases the lock of the stack.
"""

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from ..errors import WorkbenchError

_GRACE = 0.7
"""Grace period in seconds."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\033[?25h"


class Cancelled(SystemExit):
    """A signal has arrived. A SystemExit, because event loops and the command line do not swallow it."""


@contextmanager
def cancellable(summary: Callable[[], str]) -> Iterator[None]:
    """Cancel the block on SIGINT and SIGTERM.

    Args:
        summary: Returns the message to print, which says what was done so far.

    Raises:
        WorkbenchError: the block was cancelled within the grace period.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch = _Watch(summary)
    previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in previous_handlers.items():
        if handler is not signal.SIG_IGN:  # keep ignoring signals under nohup
            signal.signal(number, watch.signalled)
    previous_hook = sys.unraisablehook
    # The signal may arrive in a finalizer, which cannot raise: Python would print the exception instead.
    sys.unraisablehook = lambda event: None if event.exc_type is Cancelled else previous_hook(event)
    try:
        yield
    except (Cancelled, KeyboardInterrupt):
        watch.number = watch.number or signal.SIGINT
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
        sys.unraisablehook = previous_hook
        watch.close()
        if watch.number:
            raise WorkbenchError(summary(), _code(watch.number))


class _Watch:
    """A thread that exits the process if it survives a signal for longer than the grace period."""

    def __init__(self, summary: Callable[[], str]) -> None:
        self.number = 0
        self._summary = summary
        self._reader, self._writer = os.pipe()
        # Not started by the signal handler: the interrupted main thread may hold the locks that this takes.
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def signalled(self, number: int, _: FrameType | None) -> None:
        """Wake the thread, and raise in the main thread."""
        self.number = number
        os.write(self._writer, b"!")
        raise Cancelled(_code(number))

    def close(self) -> None:
        """Stop the thread."""
        os.close(self._writer)

    def _watch(self) -> None:
        if os.read(self._reader, 1):
            # A second signal exits immediately; the end of the pipe means that the block has ended.
            readable, _, _ = select.select([self._reader], [], [], _GRACE)
            if not readable or os.read(self._reader, 1):
                self._exit()
        os.close(self._reader)

    def _exit(self) -> NoReturn:
        def flush() -> None:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()

        # Not in this thread: another thread may hold the lock of stdout forever.
        flushing = threading.Thread(target=flush, daemon=True)
        flushing.start()
        flushing.join(0.1)
        prefix = _SHOW_CURSOR if sys.stderr.isatty() else ""
        with contextlib.suppress(OSError):
            os.write(2, f"{prefix}{self._summary()}\n".encode())
        os._exit(_code(self.number))


def _code(number: int) -> int:
    """Return the exit code that shells use for a process killed by a signal."""
    return 128 + number
