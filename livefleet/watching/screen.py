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

_INTERVAL = 1.0
_LOG_COLUMNS = 240
"""Width where there is no terminal, so that names are not cut."""


def show_once(state: LiveState, viewport: Viewport) -> None:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _LOG_COLUMNS
    console.print(view(state, None, viewport=viewport))


def show(control: ControlClient, viewport: Viewport) -> None:
    """Show the fleet until ``q`` or Ctrl-C.

    Raises:
        UserError: the fleet does not answer at the start.
    """
    state = control.state()
    console = Console(highlight=False, markup=False)
    try:
        with pressed_keys() as wait, Live(console=console, screen=True, auto_refresh=False) as live:
            _follow(control, state, live, wait, viewport)
    except KeyboardInterrupt:
        return


def _follow(control: ControlClient, state: LiveState, live: Live, wait: Wait, viewport: Viewport) -> None:
    problem, due = "", time.monotonic() + _INTERVAL
    while True:
        size = live.console.size
        models, groups = viewport.rows(state)
        page = shares(state, viewport, size.height)[viewport.at_nodes]
        count = len(groups if viewport.at_nodes else models)
        viewport = viewport.within(page, count)
        hint = viewport.line if sys.stdin.isatty() else "Ctrl-C quits"
        footer = f"{problem}; {hint}" if problem else hint
        live.update(
            view(state, (size.width, size.height), footer, failing=bool(problem), viewport=viewport), refresh=True
        )
        keys = wait(max(due - time.monotonic(), 0.0))
        if keys:
            viewport = viewport.pressed(keys, page, count)
            if viewport.has_quit:
                return
            continue
        due = time.monotonic() + _INTERVAL
        try:
            state, problem = control.state(), ""
        except UnreachableError:
            problem = f"no answer for {max(time.time() - state.at, 0.0):.0f} s: the figures are outdated"
