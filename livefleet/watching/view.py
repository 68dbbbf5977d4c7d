"""The fleet as tables for a terminal of a given size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from components.contract.texts.printable import printable

from ..control_api import FleetNote, GroupState, LiveState, ModelState, NoteKind
from .rows import headline, scaling, speeds, usd
from .viewport import Viewport

_GAP = 2
_MIN_NAME_WIDTH = 14


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table; the first one has the names of the rows.

    Attributes:
        names: Headers.
        left: Left-aligned columns; all others are figures, aligned to the right.
        optional: Columns that are omitted on a narrow terminal, in this order.
    """

    names: tuple[str, ...]
    left: frozenset[str] = frozenset()
    optional: tuple[str, ...] = ()

    def table(
        self, rows: Sequence[tuple[Sequence[object], str]], more: tuple[int, int], width: int | None
    ) -> RenderableType:
        """Return a table, with the number of hidden rows below it.

        Args:
            rows: Cells and style of each row. Names that others chose are escaped: they are neither markup nor
                control characters.
            more: Number of hidden rows above and below.
            width: Columns of the terminal; None for no limit.
        """
        texts = [[printable(str(cell)) for cell in cells] for cells, _ in rows]
        columns = list(range(len(self.names)))
        for name in self.optional:
            if width is None or width - self._width(texts, columns[1:]) >= _MIN_NAME_WIDTH:
                break
            columns.remove(self.names.index(name))
        table = Table(box=None, pad_edge=False, header_style="bold dim")
        for index in columns:
            name = self.names[index]
            room = None if index or width is None else max(width - self._width(texts, columns[1:]), 1)
            justify: JustifyMethod = "left" if index == 0 or name in self.left else "right"
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", max_width=room)
        for text, (_, style) in zip(texts, rows, strict=True):
            table.add_row(*(Text(text[index]) for index in columns), style=style)
        above, below = (max(count, 0) for count in more)
        if not above and not below:
            return table
        # Not in the table, whose first column may be narrower than the line.
        detail = f" ({above} above, {below} below)" if above else ""
        return Group(table, Text(f"and {above + below} more{detail}", style="dim", no_wrap=True, overflow="ellipsis"))

    def _width(self, texts: Sequence[Sequence[str]], columns: Iterable[int]) -> int:
        """Return the full width of columns, with the gaps before them."""
        return sum(_GAP + max(len(self.names[index]), *(len(text[index]) for text in texts), 0) for index in columns)


_DEFAULT_VIEWPORT = Viewport()
_MAX_NOTES = 6
_FIXED_LINES = 7
"""Two lines of the fleet, two headers, two counts of hidden rows, and the footer."""
_MIN_ROWS = 3
_MODELS = TableColumns(
    ("model", "ready", "starting", "pending", "waiting", "running", "cache", "desired", "USD/h", "pace"),
    frozenset({"pace"}),
    ("pace", "cache", "starting", "USD/h", "pending", "desired"),
)
_GROUPS = TableColumns(
    ("nodes", "in use", "starting", "bounds", "USD/h", "instance type"),
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
    footer: str = "",
    *,
    failing: bool = False,
    viewport: Viewport = _DEFAULT_VIEWPORT,
) -> RenderableType:
    """Return the tables and recent events of a fleet.

    Args:
        state: The fleet.
        size: Columns and lines of the terminal; None for no limit.
        footer: The last line.
        failing: Whether the last line reports a problem.
        viewport: Selection and order of the rows.
    """
    notes = state.notes[-_MAX_NOTES:]
    width, height = size or (None, None)
    model_rows, group_rows = shares(state, viewport, height)
    models, groups = viewport.rows(state)
    first_model, first_group = (0, viewport.first) if viewport.at_nodes else (viewport.first, 0)
    shown_models = models[first_model : first_model + model_rows]
    shown_groups = groups[first_group : first_group + group_rows]
    parts: list[RenderableType] = [
        Text(headline(state), style="bold", no_wrap=True, overflow="ellipsis"),
        Text(speeds(state), style="dim", no_wrap=True, overflow="ellipsis"),
        _MODELS.table(
            [(_model_cells(model), _model_style(model)) for model in shown_models],
            (first_model, len(models) - len(shown_models) - first_model),
            width,
        ),
        _GROUPS.table(
            [
                (_group_cells(group), "cyan" if group.starting else "" if group.nodes else "dim")
                for group in shown_groups
            ],
            (first_group, len(groups) - len(shown_groups) - first_group),
            width,
        ),
        *(Text(note_line(note), style=_STYLES[note.kind], no_wrap=True, overflow="ellipsis") for note in notes),
    ]
    if footer:
        parts.append(Text(footer, style="bold red" if failing else "dim", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def shares(state: LiveState, viewport: Viewport, height: int | None) -> tuple[int, int]:
    """Return the number of visible rows of models and of groups.

    The table with the focus gets two thirds of the space, and what the other one does not need.
    """
    matching_models, sorted_groups = viewport.rows(state)
    models, groups = len(matching_models), len(sorted_groups)
    if height is None:
        return models, groups
    room = max(height - _FIXED_LINES - len(state.notes[-_MAX_NOTES:]), 2 * _MIN_ROWS)
    if viewport.at_nodes:
        model_rows = min(models, max(room // 3, room - groups, _MIN_ROWS))
        return model_rows, min(groups, room - model_rows)
    group_rows = min(groups, max(room // 3, room - models, _MIN_ROWS))
    return min(models, room - group_rows), group_rows


def _model_cells(model: ModelState) -> tuple[object, ...]:
    return (
        model.title,
        f"{model.ready}/{model.replicas}",
        _count(model.starting),
        _count(model.pending),
        _count(model.waiting),
        _count(model.running),
        f"{model.cache:.0%}",
        scaling(model),
        usd(model.usd_per_hour),
        model.pace.value,
    )


def _group_cells(group: GroupState) -> tuple[object, ...]:
    bounds = f"{group.least}..{group.most}"
    return group.name, group.nodes, _count(group.starting), bounds, usd(group.usd_per_hour), group.instance_type


def _model_style(model: ModelState) -> str:
    if model.replicas and not model.ready:
        return "red"
    return "yellow" if model.ready < model.replicas or model.waiting else "" if model.running else "dim"


def _count(number: int) -> str:
    return str(number) if number else "."


def note_line(note: FleetNote) -> str:
    """Return an event with its local time."""
    return f"{datetime.fromtimestamp(note.at).astimezone():%H:%M:%S} {note.kind.value}: {printable(note.text)}"
