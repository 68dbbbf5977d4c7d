"""Which columns of a table there is room for: figures are shown whole or not at all, and names are shortened."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from components.contract.texts.printable import printable

_GAP = 2
_LEAST_NAME = 14


@dataclass(frozen=True, slots=True)
class FigureColumns:
    """The columns of a table, the name of the row first.

    Attributes:
        names: Their heads.
        left: Those whose cells begin at the left; figures end at the right.
        spare: Those that are left out where it is narrow, in this order.
    """

    names: tuple[str, ...]
    left: frozenset[str] = frozenset()
    spare: tuple[str, ...] = ()

    def table(
        self, rows: Sequence[tuple[Sequence[object], str]], more: tuple[int, int], width: int | None
    ) -> RenderableType:
        """Return a table, and below it how many rows it does not show.

        Args:
            rows: Cells, and a style. What others wrote is text, neither markup nor something that moves the cursor.
            more: Rows above them and below them that are not shown.
            width: Columns of the terminal; None for as many as it takes.
        """
        texts = [[printable(str(cell)) for cell in cells] for cells, _ in rows]
        shown = self._fitting(texts, width)
        table = Table(box=None, pad_edge=False, header_style="bold dim")
        for index in shown:
            name = self.names[index]
            room = None if index or width is None else max(width - self._taken(texts, shown[1:]), 1)
            justify: JustifyMethod = "left" if index == 0 or name in self.left else "right"
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", max_width=room)
        for text, (_, style) in zip(texts, rows, strict=True):
            table.add_row(*(Text(text[index]) for index in shown), style=style)
        above, below = (max(each, 0) for each in more)
        if not above and not below:
            return table
        # Not in the table, whose first column may be narrower than the line.
        where = f" ({above} above, {below} below)" if above else ""
        return Group(table, Text(f"and {above + below} more{where}", style="dim", no_wrap=True, overflow="ellipsis"))

    def _fitting(self, texts: Sequence[Sequence[str]], width: int | None) -> list[int]:
        shown = list(range(len(self.names)))
        for name in self.spare:
            if width is None or width - self._taken(texts, shown[1:]) >= _LEAST_NAME:
                break
            shown.remove(self.names.index(name))
        return shown

    def _taken(self, texts: Sequence[Sequence[str]], shown: Iterable[int]) -> int:
        """Return how wide columns are that show everything, with the gaps before them."""
        return sum(_GAP + max(len(self.names[index]), *(len(text[index]) for text in texts), 0) for index in shown)
