"""Read single keys from a terminal, and restore its mode in any case."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from .viewport import END_OF_INPUT

_TERMINATION_SIGNALS = ("SIGTERM", "SIGHUP")
_SUSPEND_SIGNAL = "SIGTSTP"
Wait = Callable[[float], str]
"""Waits up to a number of seconds for a key, and returns it; empty on timeout."""


@contextmanager
def pressed_keys() -> Iterator[Wait]:
    """Yield a function that waits for a key. Ctrl-C still interrupts; without a terminal, no key ever arrives."""
    try:
        import termios
        import tty
    except ModuleNotFoundError:
        yield _no_key
        return
    if not sys.stdin.isatty():
        yield _no_key
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    with _restoring_exit():
        try:
            tty.setcbreak(descriptor)
            yield lambda seconds: _read_key(descriptor, seconds)
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read_key(descriptor: int, seconds: float) -> str:
    ready, _, _ = select.select([descriptor], [], [], max(seconds, 0.0))
    if not ready:
        return ""
    read = os.read(descriptor, 64)
    return read.decode(errors="replace") if read else END_OF_INPUT


def _no_key(seconds: float) -> str:
    time.sleep(max(seconds, 0.0))
    return ""


@contextmanager
def _restoring_exit() -> Iterator[None]:
    """Raise SystemExit on termination signals, and ignore Ctrl-Z, so that the terminal mode is restored."""

    def exit_process(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    handlers = {name: exit_process for name in _TERMINATION_SIGNALS if hasattr(signal, name)}
    before = {name: signal.signal(getattr(signal, name), handler) for name, handler in handlers.items()}
    if hasattr(signal, _SUSPEND_SIGNAL):
        before[_SUSPEND_SIGNAL] = signal.signal(getattr(signal, _SUSPEND_SIGNAL), signal.SIG_IGN)
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
