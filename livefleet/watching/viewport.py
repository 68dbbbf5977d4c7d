"""Scrolling, filtering and sorting of the live view by single keys."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..control_api import GroupState, LiveState, ModelState
from ..option_values import Order
from .rows import by_movement, groups_by_movement

KEYS = "q leaves, arrows and PgUp/PgDn scroll, / filters, s sorts, Tab nodes"
END_OF_INPUT = "\x04"
"""Stands for a closed terminal."""
_ESCAPE, _ENTER, _ERASE, _TAB = "\x1b", "\r\n", "\x7f\x08", "\t"
_MOST_LETTERS = 60
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
        has_left: Whether the user has quit.
    """

    text: str = ""
    order: Order = Order.MOVEMENT
    first: int = 0
    at_nodes: bool = False
    is_typing: bool = False
    has_left: bool = False

    def models(self, models: Sequence[ModelState]) -> list[ModelState]:
        """Return the matching models in order."""
        wanted = self.text.casefold()
        chosen = by_movement([each for each in models if wanted in f"{each.title}\n{each.model}".casefold()])
        match self.order:
            case Order.NAME:
                chosen.sort(key=lambda each: each.title)
            case Order.COST:
                chosen.sort(key=lambda each: -(each.usd_per_hour or 0.0))
            case Order.QUEUE:
                chosen.sort(key=lambda each: -each.waiting)
            case Order.MOVEMENT:
                pass
        return chosen

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
        found = self
        for key in _keys(text):
            found = found.after(key, page, count)
        return found

    def within(self, page: int, count: int) -> "Viewport":
        """Limit the first row, so that the table fills its space."""
        return replace(self, first=min(max(self.first, 0), max(count - page, 0)))

    def after(self, key: str, page: int, count: int) -> "Viewport":
        """Return the state after one key; arguments as in :meth:`pressed`."""
        if key == END_OF_INPUT:
            return replace(self, has_left=True)
        if self.is_typing:
            return self._typed(key)
        here = self.within(page, count)
        if key in "qQ":
            return replace(here, has_left=True)
        if key == "/":
            return replace(here, is_typing=True, at_nodes=False)
        if key == _ESCAPE:
            return replace(here, text="", first=0)
        if key == _TAB:
            return replace(here, at_nodes=not self.at_nodes, first=0)
        if key in "sS":
            orders = list(Order)
            return replace(here, order=orders[(orders.index(self.order) + 1) % len(orders)], first=0)
        if key in _ENDS:
            return replace(here, first=_ENDS[key] * count).within(page, count)
        moved = _STEPS.get(key, 0) + _PAGES.get(key, 0) * max(page, 1)
        return replace(here, first=here.first + moved).within(page, count)

    def _typed(self, key: str) -> "Viewport":
        if key in _ENTER:
            return replace(self, is_typing=False)
        if key == _ESCAPE:
            return replace(self, is_typing=False, text="", first=0)
        if key in _ERASE:
            return replace(self, text=self.text[:-1], first=0)
        if len(key) > 1 or not key.isprintable():
            return self
        return replace(self, text=(self.text + key)[:_MOST_LETTERS], first=0)

    @property
    def line(self) -> str:
        """Help line for the current state."""
        if self.is_typing:
            return f"filter: {self.text}_ (Enter keeps it, Esc clears it)"
        chosen = [f"sorted by {self.order.value}"] if self.order is not Order.MOVEMENT else []
        chosen += [f"filter {self.text!r}, Esc clears it"] if self.text else []
        return "; ".join([*chosen, KEYS])


def _keys(text: str) -> Iterator[str]:
    return (match[0] for match in _KEY.finditer(text))
