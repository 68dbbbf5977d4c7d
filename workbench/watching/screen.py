"""The live view: the fleet as it is, each second, until somebody leaves."""

import sys
import time

from rich.console import Console
from rich.live import Live

from ..live.control import LiveState
from ..live.reach import LiveControl, UnreachableError
from .keys import Wait, pressed_keys
from .view import view

_EVERY = 1.0
_LEAVING = frozenset("qQ")
_HELP = "q leaves"
_WIDE = 240


def show_once(state: LiveState) -> None:
    """Print the fleet as it is now."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE  # a log has no edge to cut names at
    console.print(view(state, None))


def show(control: LiveControl) -> None:
    """Show the fleet until ``q`` or Ctrl-C.

    Raises:
        WorkbenchError: it did not answer when this began.
    """
    state = control.state()
    console = Console(highlight=False, markup=False)
    keys = _HELP if sys.stdin.isatty() else "Ctrl-C leaves"
    try:
        with pressed_keys() as wait, Live(console=console, screen=True, auto_refresh=False) as live:
            _follow(control, state, live, wait, keys)
    except KeyboardInterrupt:
        return


def _size(live: Live) -> tuple[int, int]:
    size = live.console.size
    return size.width, size.height


def _follow(control: LiveControl, state: LiveState, live: Live, wait: Wait, keys: str) -> None:
    below, failing = keys, False
    while True:
        live.update(view(state, _size(live), below, failing=failing), refresh=True)
        if _LEAVING.intersection(wait(_EVERY)):
            return
        try:
            state, below, failing = control.state(), keys, False
        except UnreachableError:
            since = max(time.time() - state.at, 0.0)
            below, failing = f"no answer for {since:.0f} s: the figures are old; {keys}", True
