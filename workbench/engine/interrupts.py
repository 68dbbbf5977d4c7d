"""Ctrl-C and SIGTERM while a stack is at work: the command ends within a second, whatever it is doing.

An exception alone is not enough: an event loop may wait for an answer that will not come any more, a finalizer or
a library may swallow it, and a worker may sit in a request. The signal therefore raises, and a thread ends the
process if that has not helped in time. Ending anywhere is safe: every step is in the state before it begins, and the
system gives the lock of the stack back.
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
"""Seconds for what is running to end by itself."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\033[?25h"


class Cancelled(SystemExit):
    """A signal has arrived. Event loops and the command line let this through, as they do ``sys.exit()``."""


@contextmanager
def cancellable(summary: Callable[[], str]) -> Iterator[None]:
    """Let signals end what is inside; ``summary`` says what was done until then.

    Raises:
        WorkbenchError: a signal came, and everything has ended by itself.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch = _Watch(summary)
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, watch.signalled)
    unraisable = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is Cancelled else unraisable(lost)
    try:
        yield
    except (Cancelled, KeyboardInterrupt):
        watch.number = watch.number or signal.SIGINT
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = unraisable
        watch.close()
        if watch.number:
            raise WorkbenchError(summary(), _code(watch.number))


class _Watch:
    """Waits for a signal, and then for the end of the process."""

    def __init__(self, summary: Callable[[], str]) -> None:
        self.number = 0
        self._summary = summary
        self._reader, self._writer = os.pipe()
        # Started now: a signal may arrive while the main thread holds what starting one takes.
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def signalled(self, number: int, _: FrameType | None) -> None:
        """Wake the thread, and try the gentle way."""
        self.number = number
        os.write(self._writer, b"!")
        raise Cancelled(_code(number))

    def close(self) -> None:
        """Let the thread go: everything has ended by itself."""
        os.close(self._writer)

    def _watch(self) -> None:
        if os.read(self._reader, 1):
            # A second signal means at once; the end of the pipe, that nobody has to be ended.
            readable, _, _ = select.select([self._reader], [], [], _GRACE)
            if not readable or os.read(self._reader, 1):
                self._end()
        os.close(self._reader)

    def _end(self) -> NoReturn:
        # Another thread may hold the stream, and for good.
        flushing = threading.Thread(target=_flush, daemon=True)
        flushing.start()
        flushing.join(0.1)
        shown = _SHOW_CURSOR if sys.stderr.isatty() else ""
        with contextlib.suppress(OSError):
            os.write(2, f"{shown}{self._summary()}\n".encode())
        os._exit(_code(self.number))


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()


def _code(number: int) -> int:
    """Return the exit code that shells give to a process ended by a signal."""
    return 128 + number
