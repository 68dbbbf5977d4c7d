"""Reads traces: CSV or JSON lines in, samples of each target and every problem out."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NoReturn

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity, did_you_mean
from .cells import shown
from .rows import RESERVED, Row, RowReader
from .trace import Sample, Trace


def read_trace(text: str, file: str, targets: Iterable[str], metrics: Iterable[str]) -> tuple[Trace, list[Problem]]:
    """Read the trace of an autoscaler; never raises for what it finds.

    Text that begins with ``{`` is read as JSON lines, other text as CSV with a header.

    Args:
        text: What is in the file.
        file: Its name, for problems.
        targets: What is scaled. A row that names no target is of the only one.
        metrics: What it is scaled on.
    """
    reader = RowReader(file)
    columns = _read_json_lines(text, reader) if text.lstrip().startswith("{") else _read_csv(text, reader)
    known, wanted = list(targets), list(metrics)
    series = _by_target(reader, known)
    if not reader.problems:
        _check_whole(reader, series, columns, known, wanted)
    return Trace({target: series[target] for target in known if target in series}), reader.problems


def _read_csv(text: str, reader: RowReader) -> list[str]:
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: list[str] = []
    try:
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = [cell.strip() for cell in cells]
                if not _check_header(reader, lines.line_num, columns):
                    return columns
            elif len(cells) != len(columns):
                reason = f"has {len(cells)} columns, and the header {len(columns)}; add or remove commas"
                reader.wrong(lines.line_num, "", reason)
            else:
                reader.take(
                    lines.line_num,
                    {column: cell or None for column, cell in zip(columns, map(str.strip, cells), strict=True)},
                )
    except csv.Error as error:
        reader.wrong(lines.line_num, "", f"is no CSV: {error}; correct the quotes, or save the file as CSV again")
    if not columns and not reader.problems:
        reader.wrong(1, "", "is empty; write a header such as time,target,<metric>,ready,failed,starting, and rows")
    return columns


def _check_header(reader: RowReader, line: int, columns: list[str]) -> bool:
    before = len(reader.problems)
    if "time" not in columns:
        reader.wrong(line, "", f"the header has no column time, found {shown(', '.join(columns))}; add it")
    for column in sorted({column for column in columns if columns.count(column) > 1}):
        reader.wrong(line, column, "is in the header twice; remove or rename one of the two")
    return len(reader.problems) == before


def _read_json_lines(text: str, reader: RowReader) -> list[str]:
    columns: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=_unique)
        except (ValueError, RecursionError, ArithmeticError) as error:
            reader.wrong(number, "", f"is no JSON object: {_why(error)}; write one object per line")
            continue
        if not isinstance(value, dict):
            reader.wrong(number, "", f"must be a JSON object with a time, found {shown(value)}; correct it")
            continue
        columns |= dict.fromkeys(value)
        reader.take(number, value)
    return list(columns)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice in the same object")
    return found


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "a number has too many digits" if "digits" in str(error) else str(error)


def _by_target(reader: RowReader, targets: list[str]) -> dict[str, list[tuple[int, Sample]]]:
    """Return the samples of each target; a row that is not after the one before is a problem."""
    last: dict[str, Row] = {}
    series: dict[str, list[tuple[int, Sample]]] = {}
    for row in reader.rows:
        target = row.target or (targets[0] if len(targets) == 1 else "")
        if not target:
            reader.wrong(row.line, "target", f"is required: there are several; write one of {', '.join(targets)}")
            continue
        before = last.get(target)
        if before and row.time <= before.time:
            reader.wrong(row.line, "time", _not_after(row, before))
        last[target] = row
        series.setdefault(target, []).append((row.time, row.sample))
    return series


def _not_after(row: Row, before: Row) -> str:
    same = row.time == before.time
    remedy = "remove one of the two rows" if same else "sort the rows by time"
    found = f"{row.time / 1000:g} s, {'the same as' if same else f'before the {before.time / 1000:g} s'} in line"
    return f"must be after that of the target's row before, found {found} {before.line}; {remedy}"


def _check_whole(
    reader: RowReader,
    series: Mapping[str, object],
    columns: list[str],
    targets: list[str],
    metrics: list[str],
) -> None:
    """Check that the trace is that of the autoscaler; columns and targets that it does not read are warnings."""
    others = [column for column in columns if column not in RESERVED]
    for metric in metrics:
        if metric in RESERVED:
            reason = "is a metric of the policy, and the name of a column that says something else; name it otherwise"
            reader.wrong(1, metric, reason)
        elif metric not in columns:
            found = f"found {', '.join(map(shown, others)) or 'no metric'}{did_you_mean(metric, others)}"
            reader.wrong(
                1, metric, f"is a metric of the policy, and no column of the trace ({found}); add the column"
            )
    for target in targets:
        if target not in series:
            there = ", ".join(map(shown, sorted(series))) or "none"
            hint = did_you_mean(target, series)
            reader.wrong(1, "target", f"no row is of the target {target!r} (found {there}){hint}; add its rows")
    if not reader.problems:
        reader.problems += (_unread(reader.file, *each) for each in _strangers(series, others, targets, metrics))


def _strangers(
    series: Mapping[str, object], others: list[str], targets: list[str], metrics: list[str]
) -> Iterator[tuple[str, str]]:
    for column in others:
        if column not in metrics:
            yield column, f"has no effect: the policy has the metrics {', '.join(metrics)}; remove the column"
    for target in sorted(series):
        if target not in targets:
            reason = f"rows of {shown(target)} have no effect: the binding scales {', '.join(targets)}; remove them"
            yield "target", reason


def _unread(file: str, column: str, reason: str) -> Problem:
    return Problem(file, 1, "", "", column, reason, Severity.WARNING, rule=RuleId.TRACE_UNREAD)
