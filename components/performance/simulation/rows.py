"""The rows of a trace: what is read of each, whatever the format of the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ...contract.problems import Problem
from .cells import CellError, read_count, read_metric, read_name, read_time
from .trace import Sample

RESERVED = ("time", "target", "ready", "failed", "starting")
"""Columns that are no metrics."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Row:
    """What one row says, and where.

    Attributes:
        target: Empty where the row names none.
    """

    line: int
    time: int
    target: str
    sample: Sample


class RowReader:
    """Reads the rows of one file, and collects what is wrong with them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.rows: list[Row] = []
        self.problems: list[Problem] = []

    def wrong(self, line: int, column: str, reason: str) -> None:
        """Record what is wrong with a column of a row."""
        self.problems.append(Problem(self.file, line, "", "", column, reason))

    def take(self, line: int, cells: Mapping[str, object]) -> None:
        """Take a row; a cell that is not set is None."""
        before = len(self.problems)
        given = {column: value for column, value in cells.items() if value is not None}
        if "time" not in given:
            self.wrong(line, "time", "is required; write seconds such as 15, or a time such as 2026-01-01T00:00:15Z")

        def read(column: str, read_cell: Callable[[object], _T], otherwise: _T) -> _T:
            try:
                return read_cell(given[column]) if column in given else otherwise
            except CellError as error:
                self.wrong(line, column, str(error))
                return otherwise

        time, target = read("time", read_time, 0), read("target", read_name, "")
        sample = Sample(
            {column: read(column, read_metric, {}) for column in given if column not in RESERVED},
            read("ready", _ready, None),
            read("failed", read_count, 0),
            read("starting", read_count, 0),
        )
        if len(self.problems) == before:
            self.rows.append(Row(line, time, target, sample))


def _ready(value: object) -> int | None:
    return read_count(value)
