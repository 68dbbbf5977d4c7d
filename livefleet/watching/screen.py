"""The live view, updated every second until the user quits."""

import sys
import time

from rich.console import Console
from rich.live import Live

from ..control_api import LiveState
from ..control_client import ControlClient, UnreachableError
from .keys import Wait, pressed_keys
from .view import shares, view
from .viewport import Viewport

_EVERY = 1.0
_WIDE = 240


def show_once(state: LiveState, looking: Viewport) -> None:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE  # a log has no edge to cut names at
    console.print(view(state, None, looking=looking))


def show(control: ControlClient, looking: Viewport) -> None:
    """Show the fleet until ``q`` or Ctrl-C.

    Raises:
        UserError: the fleet does not answer at the start.
    """
    state = control.state()
    console = Console(highlight=False, markup=False)
    try:
        with pressed_keys() as wait, Live(console=console, screen=True, auto_refresh=False) as live:
            _follow(control, state, live, wait, looking)
    except KeyboardInterrupt:
        return


def _follow(control: ControlClient, state: LiveState, live: Live, wait: Wait, looking: Viewport) -> None:
    failing, due = "", time.monotonic() + _EVERY
    while True:
        size = live.console.size
        models, groups = looking.rows(state)
        page = shares(state, looking, size.height)[looking.at_nodes]
        count = len(groups if looking.at_nodes else models)
        looking = looking.within(page, count)
        below = looking.line if sys.stdin.isatty() else "Ctrl-C leaves"
        whole = f"{failing}; {below}" if failing else below
        live.update(
            view(state, (size.width, size.height), whole, failing=bool(failing), looking=looking), refresh=True
        )
        pressed = wait(max(due - time.monotonic(), 0.0))
        if pressed:
            looking = looking.pressed(pressed, page, count)
            if looking.has_left:
                return
            continue
        due = time.monotonic() + _EVERY
        try:
            state, failing = control.state(), ""
        except UnreachableError:
            failing = f"no answer for {max(time.time() - state.at, 0.0):.0f} s: the figures are old"
