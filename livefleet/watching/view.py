"""The fleet as tables for a terminal of a given size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from components.contract.texts.printable import printable

from ..control_api import FleetNote, GroupState, LiveState, ModelState, NoteKind
from .rows import headline, speeds, usd, wish
from .viewport import Viewport

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


_EVERYTHING = Viewport()
_NOTES = 6
_FIXED = 7
"""Lines that are no rows: two of the fleet, two heads, two that count what is not shown, and the last one."""
_LEAST_ROWS = 3
_MODELS = FigureColumns(
    ("model", "ready", "starting", "pending", "waiting", "running", "cache", "wanted", "USD/h", "pace"),
    frozenset({"pace"}),
    ("pace", "cache", "starting", "USD/h", "pending", "wanted"),
)
_GROUPS = FigureColumns(
    ("nodes", "there", "starting", "bounds", "USD/h", "instance type"),
    frozenset({"instance type"}),
    ("instance type", "bounds", "USD/h"),
)
_STYLES = {
    NoteKind.FAULT: "bold red",
    NoteKind.PREEMPTED: "bold magenta",
    NoteKind.NODE: "cyan",
    NoteKind.SCALE: "yellow",
    NoteKind.POD: "",
}


def view(
    state: LiveState,
    size: tuple[int, int] | None,
    below: str = "",
    *,
    failing: bool = False,
    looking: Viewport = _EVERYTHING,
) -> RenderableType:
    """Return what is shown.

    Args:
        state: The fleet.
        size: Columns and lines of the terminal; None for as many as it takes.
        below: The last line.
        failing: Whether the last line says that something is wrong.
        looking: Which rows are shown, and in which order.
    """
    notes = state.notes[-_NOTES:]
    width, height = size or (None, None)
    of_models, of_groups = shares(state, looking, height)
    models, groups = looking.rows(state)
    first = (0, looking.first) if looking.at_nodes else (looking.first, 0)
    parts: list[RenderableType] = [
        Text(headline(state), style="bold", no_wrap=True, overflow="ellipsis"),
        Text(speeds(state), style="dim", no_wrap=True, overflow="ellipsis"),
        _models(models, slice(first[0], first[0] + of_models), width),
        _groups(groups, slice(first[1], first[1] + of_groups), width),
        *map(_note, notes),
    ]
    if below:
        parts.append(Text(below, style="bold red" if failing else "dim", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def shares(state: LiveState, looking: Viewport, height: int | None) -> tuple[int, int]:
    """Return how many rows models and groups get: two thirds the table that scrolls, or what the other one leaves."""
    shown = looking.rows(state)
    models, groups = len(shown[0]), len(shown[1])
    if height is None:
        return models, groups
    room = max(height - _FIXED - len(state.notes[-_NOTES:]), 2 * _LEAST_ROWS)
    if looking.at_nodes:
        of_models = min(models, max(room // 3, room - groups, _LEAST_ROWS))
        return of_models, min(groups, room - of_models)
    of_groups = min(groups, max(room // 3, room - models, _LEAST_ROWS))
    return min(models, room - of_groups), of_groups


def _models(models: Sequence[ModelState], shown: slice, width: int | None) -> RenderableType:
    rows = [(_model_cells(each), _style(each)) for each in models[shown]]
    return _MODELS.table(rows, (shown.start, len(models) - len(rows) - shown.start), width)


def _model_cells(model: ModelState) -> tuple[object, ...]:
    return (
        model.title,
        f"{model.ready}/{model.replicas}",
        _count(model.starting),
        _count(model.pending),
        _count(model.waiting),
        _count(model.running),
        f"{model.cache:.0%}",
        wish(model),
        usd(model.usd_per_hour),
        model.pace.value,
    )


def _groups(groups: Sequence[GroupState], shown: slice, width: int | None) -> RenderableType:
    rows = [(_group_cells(each), "cyan" if each.starting else "" if each.nodes else "dim") for each in groups[shown]]
    return _GROUPS.table(rows, (shown.start, len(groups) - len(rows) - shown.start), width)


def _group_cells(group: GroupState) -> tuple[object, ...]:
    bounds = f"{group.least}..{group.most}"
    return group.name, group.nodes, _count(group.starting), bounds, usd(group.usd_per_hour), group.instance_type


def _style(model: ModelState) -> str:
    if model.replicas and not model.ready:
        return "red"
    return "yellow" if model.ready < model.replicas or model.waiting else "" if model.running else "dim"


def _count(number: int) -> str:
    return str(number) if number else "."


def _note(note: FleetNote) -> Text:
    return Text(note_line(note), style=_STYLES[note.kind], no_wrap=True, overflow="ellipsis")


def note_line(note: FleetNote) -> str:
    """Return what happened, with the time of day here."""
    return f"{datetime.fromtimestamp(note.at).astimezone():%H:%M:%S} {note.kind.value}: {printable(note.text)}"
