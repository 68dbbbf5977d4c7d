"""Scrolling, filtering and sorting of the live view by single keys."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..control_api import GroupState, LiveState, ModelState
from ..option_values import Order
from .rows import by_movement, groups_by_movement

KEYS = "q quits, arrows and PgUp/PgDn scroll, / filters, s sorts, Tab nodes"
END_OF_INPUT = "\x04"
"""Stands for a closed terminal."""
_ESCAPE, _ENTER, _ERASE, _TAB = "\x1b", "\r\n", "\x7f\x08", "\t"
_MAX_FILTER = 60
_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)
_STEPS = {
    **dict.fromkeys(("\x1b[A", "\x1bOA", "k"), -1),
    **dict.fromkeys(("\x1b[B", "\x1bOB", "j"), 1),
}
_PAGES = {"\x1b[5~": -1, "\x1b[6~": 1, " ": 1}
_ENDS = {
    **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~", "g"), 0),
    **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~", "G"), 1),
}


@dataclass(frozen=True, slots=True)
class Viewport:
    """State of the live view.

    Attributes:
        text: Filter on a model's name or its name for clients; empty for all.
        order: Sort order.
        first: Index of the first visible row.
        at_nodes: Whether the table of nodes has the focus, not that of models.
        is_typing: Whether keys edit the filter.
        has_quit: Whether the user has quit.
    """

    text: str = ""
    order: Order = Order.MOVEMENT
    first: int = 0
    at_nodes: bool = False
    is_typing: bool = False
    has_quit: bool = False

    def models(self, models: Sequence[ModelState]) -> list[ModelState]:
        """Return the matching models in order."""
        text = self.text.casefold()
        matches = by_movement([model for model in models if text in f"{model.title}\n{model.model}".casefold()])
        match self.order:
            case Order.NAME:
                matches.sort(key=lambda model: model.title)
            case Order.COST:
                matches.sort(key=lambda model: -(model.usd_per_hour or 0.0))
            case Order.QUEUE:
                matches.sort(key=lambda model: -model.waiting)
            case Order.MOVEMENT:
                pass
        return matches

    def rows(self, state: LiveState) -> tuple[list[ModelState], list[GroupState]]:
        """Return the matching models, and the node groups, in order."""
        return self.models(state.models), groups_by_movement(state.groups)

    def pressed(self, text: str, page: int, count: int) -> "Viewport":
        """Return the state after several keys.

        Args:
            text: Input of the terminal: letters and escape sequences.
            page: Visible rows of the focused table.
            count: All rows of the focused table.
        """
        viewport = self
        for match in _KEY.finditer(text):
            viewport = viewport.after(match[0], page, count)
        return viewport

    def within(self, page: int, count: int) -> "Viewport":
        """Limit the first row, so that the table fills its space."""
        return replace(self, first=min(max(self.first, 0), max(count - page, 0)))

    def after(self, key: str, page: int, count: int) -> "Viewport":
        """Return the state after one key; arguments as in :meth:`pressed`."""
        if key == END_OF_INPUT:
            return replace(self, has_quit=True)
        if self.is_typing:
            return self._edit_filter(key)
        current = self.within(page, count)
        if key in "qQ":
            return replace(current, has_quit=True)
        if key == "/":
            return replace(current, is_typing=True, at_nodes=False)
        if key == _ESCAPE:
            return replace(current, text="", first=0)
        if key == _TAB:
            return replace(current, at_nodes=not self.at_nodes, first=0)
        if key in "sS":
            orders = list(Order)
            return replace(current, order=orders[(orders.index(self.order) + 1) % len(orders)], first=0)
        if key in _ENDS:
            return replace(current, first=_ENDS[key] * count).within(page, count)
        moved = _STEPS.get(key, 0) + _PAGES.get(key, 0) * max(page, 1)
        return replace(current, first=current.first + moved).within(page, count)

    def _edit_filter(self, key: str) -> "Viewport":
        if key in _ENTER:
            return replace(self, is_typing=False)
        if key == _ESCAPE:
            return replace(self, is_typing=False, text="", first=0)
        if key in _ERASE:
            return replace(self, text=self.text[:-1], first=0)
        if len(key) > 1 or not key.isprintable():
            return self
        return replace(self, text=(self.text + key)[:_MAX_FILTER], first=0)

    @property
    def line(self) -> str:
        """Help line for the current state."""
        if self.is_typing:
            return f"filter: {self.text}_ (Enter keeps it, Esc clears it)"
        settings = [f"sorted by {self.order.value}"] if self.order is not Order.MOVEMENT else []
        settings += [f"filter {self.text!r}, Esc clears it"] if self.text else []
        return "; ".join([*settings, KEYS])
