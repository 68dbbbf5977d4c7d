"""A fleet on a terminal of some size."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from components.api.texts.printable import printable

from ..live.control import FleetNote, GroupState, LiveState, ModelState, NoteKind
from .moving import by_movement, groups_by_movement, headline, usd, wish

_NOTES = 6
_FIXED = 7
"""Lines that are no rows: the headline, two table heads, the line above the notes, the last line, and gaps."""
_LEAST_ROWS = 3
_STYLES = {NoteKind.FAULT: "bold red", NoteKind.NODE: "cyan", NoteKind.SCALE: "yellow", NoteKind.POD: ""}


def view(state: LiveState, height: int | None, below: str = "", *, failing: bool = False) -> RenderableType:
    """Return what is shown.

    Args:
        state: The fleet.
        height: Lines that there are; None for as many as it takes.
        below: The last line.
        failing: Whether the last line says that something is wrong.
    """
    notes = state.notes[-_NOTES:]
    models, groups = _shares(state, height, len(notes))
    parts: list[RenderableType] = [
        Text(headline(state), style="bold", no_wrap=True, overflow="ellipsis"),
        _models(by_movement(state.models), models),
        _groups(groups_by_movement(state.groups), groups),
        *map(_note, notes),
    ]
    if below:
        parts.append(Text(below, style="bold red" if failing else "dim", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def _shares(state: LiveState, height: int | None, notes: int) -> tuple[int, int]:
    """Return how many rows models and groups get: groups at most a third, models what is left."""
    models, groups = len(state.models), len(state.groups)
    if height is None:
        return models, groups
    room = max(height - _FIXED - notes, 2 * _LEAST_ROWS)
    of_groups = min(groups, max(room // 3, room - models, _LEAST_ROWS))
    return min(models, room - of_groups), of_groups


def _models(models: Sequence[ModelState], room: int) -> Table:
    table = _table("model", "ready", "starting", "pending", "waiting", "running", "cache", "wanted", "USD/h", "pace")
    for each in models[:room]:
        _row(
            table,
            (
                each.title,
                f"{each.ready}/{each.replicas}",
                _count(each.starting),
                _count(each.pending),
                _count(each.waiting),
                _count(each.running),
                f"{each.cache:.0%}",
                wish(each),
                usd(each.usd_per_hour),
                each.pace.value,
            ),
            _style(each),
        )
    _rest(table, len(models) - room)
    return table


def _groups(groups: Sequence[GroupState], room: int) -> Table:
    table = _table("nodes", "there", "starting", "bounds", "USD/h", "instance type")
    for each in groups[:room]:
        bounds = f"{each.least}..{each.most}"
        cells = (each.name, each.nodes, _count(each.starting), bounds, usd(each.usd_per_hour), each.instance_type)
        _row(table, cells, "cyan" if each.starting else "" if each.nodes else "dim")
    _rest(table, len(groups) - room)
    return table


def _table(first: str, *rest: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold dim")
    table.add_column(first, no_wrap=True, overflow="ellipsis", min_width=12)
    for name in rest:
        left = name in ("pace", "instance type")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    return table


def _row(table: Table, cells: Iterable[object], style: str) -> None:
    """Add a row: what others wrote is text, and neither markup nor something that moves the cursor."""
    table.add_row(*(Text(printable(str(cell))) for cell in cells), style=style)


def _rest(table: Table, more: int) -> None:
    if more > 0:
        table.add_row(Text(f"and {more} more"), style="dim")


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
