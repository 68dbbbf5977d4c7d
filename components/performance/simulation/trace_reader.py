"""Read traces from CSV or JSON lines: samples of each target, and every problem."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NoReturn, TypeVar

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity, did_you_mean
from .trace import Histogram, Reported, Sample, Trace

RESERVED = ("time", "target", "ready", "failed", "starting")
"""Columns that are not metrics."""
_T = TypeVar("_T")
MOST_PODS = 1_000_000
_LARGEST = Decimal("1e15")
_NUMBER = re.compile(r"([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?\Z", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?\Z", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,7}\Z", re.ASCII)
_EXCERPT_LENGTH = 60
_INFINITE = ("+Inf", "Inf", "+inf", "inf")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a trace.

    Attributes:
        line: Line of the file.
        time: In milliseconds.
        target: Empty if the row names none.
    """

    line: int
    time: int
    target: str
    sample: Sample


class RowReader:
    """Reads the rows of a file, in any format, and collects their problems."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.rows: list[Row] = []
        self.problems: list[Problem] = []

    def report(self, line: int, column: str, reason: str) -> None:
        self.problems.append(Problem(file=self.file, line=line, path=column, reason=reason))

    def read_row(self, line: int, cells: Mapping[str, object]) -> None:
        """Parse a row; empty cells are None."""
        before = len(self.problems)
        values = {column: value for column, value in cells.items() if value is not None}
        if "time" not in values:
            self.report(line, "time", "is required; write seconds such as 15, or a time such as 2026-01-01T00:00:15Z")

        def read(column: str, read_cell: Callable[[object], _T], default: _T) -> _T:
            try:
                return read_cell(values[column]) if column in values else default
            except CellError as error:
                self.report(line, column, str(error))
                return default

        time, target = read("time", read_time, 0), read("target", read_name, "")
        sample = Sample(
            {column: read(column, read_metric, {}) for column in values if column not in RESERVED},
            read("ready", read_count, None),
            read("failed", read_count, 0),
            read("starting", read_count, 0),
        )
        if len(self.problems) == before:
            self.rows.append(Row(line, time, target, sample))


def read_trace(text: str, file: str, targets: Iterable[str], metrics: Iterable[str]) -> tuple[Trace, list[Problem]]:
    """Read the trace of an autoscaler, and return its problems instead of raising them.

    Text that starts with ``{`` is read as JSON lines, other text as CSV with a header.

    Args:
        text: Content of the file.
        file: Name of the file, for problems.
        targets: The scaled targets. If there is only one, rows need not name it.
        metrics: The metrics that they are scaled on.
    """
    reader = RowReader(file)
    columns = _read_json_lines(text, reader) if text.lstrip().startswith("{") else _read_csv(text, reader)
    known, required = list(targets), list(metrics)
    series = _by_target(reader, known)
    if not reader.problems:
        _check_complete(reader, series, columns, known, required)
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
                if "time" not in columns:
                    header = excerpt(", ".join(columns))
                    reader.report(lines.line_num, "", f"the header has no column time, found {header}; add it")
                for column in sorted({column for column in columns if columns.count(column) > 1}):
                    reason = "is in the header twice; remove or rename one of the two"
                    reader.report(lines.line_num, column, reason)
                if reader.problems:
                    return columns
            elif len(cells) != len(columns):
                reason = f"has {len(cells)} columns, and the header {len(columns)}; add or remove commas"
                reader.report(lines.line_num, "", reason)
            else:
                reader.read_row(
                    lines.line_num,
                    {column: cell or None for column, cell in zip(columns, map(str.strip, cells), strict=True)},
                )
    except csv.Error as error:
        reader.report(
            lines.line_num, "", f"is not valid CSV: {error}; correct the quotes, or save the file as CSV again"
        )
    if not columns and not reader.problems:
        reader.report(1, "", "is empty; write a header such as time,target,<metric>,ready,failed,starting, and rows")
    return columns


def _read_json_lines(text: str, reader: RowReader) -> list[str]:
    columns: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
        except (ValueError, RecursionError, ArithmeticError) as error:
            reader.report(number, "", f"is not a JSON object: {_parse_error(error)}; write one object per line")
            continue
        if not isinstance(value, dict):
            reader.report(number, "", f"must be a JSON object with a time, found {excerpt(value)}; correct it")
            continue
        columns |= dict.fromkeys(value)
        reader.read_row(number, value)
    return list(columns)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key appears twice in the same object")
    return values


def _parse_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "a number has too many digits" if "digits" in str(error) else str(error)


def _by_target(reader: RowReader, targets: list[str]) -> dict[str, list[tuple[int, Sample]]]:
    """Group samples by target; report rows whose time does not increase."""
    last: dict[str, Row] = {}
    series: dict[str, list[tuple[int, Sample]]] = {}
    for row in reader.rows:
        target = row.target or (targets[0] if len(targets) == 1 else "")
        if not target:
            reader.report(row.line, "target", f"is required: there are several; write one of {', '.join(targets)}")
            continue
        previous = last.get(target)
        if previous and row.time <= previous.time:
            same = row.time == previous.time
            remedy = "remove one of the two rows" if same else "sort the rows by time"
            relation = "the same as" if same else f"before the {previous.time / 1000:g} s"
            reason = (
                f"must be after that of the target's previous row, found {row.time / 1000:g} s, {relation} in line "
                f"{previous.line}; {remedy}"
            )
            reader.report(row.line, "time", reason)
        last[target] = row
        series.setdefault(target, []).append((row.time, row.sample))
    return series


def _check_complete(
    reader: RowReader,
    series: Mapping[str, object],
    columns: list[str],
    targets: list[str],
    metrics: list[str],
) -> None:
    """Check that the trace has every metric and target; warn about columns and targets that are not used."""
    others = [column for column in columns if column not in RESERVED]
    for metric in metrics:
        if metric in RESERVED:
            reason = "is a metric of the policy, but this column has another meaning in traces; rename the metric"
            reader.report(1, metric, reason)
        elif metric not in columns:
            found = f"found {', '.join(map(excerpt, others)) or 'no metric'}{did_you_mean(metric, others)}"
            reader.report(1, metric, f"is a metric of the policy, but not a column of the trace ({found}); add it")
    for target in targets:
        if target not in series:
            found = ", ".join(map(excerpt, sorted(series))) or "none"
            hint = did_you_mean(target, series)
            reader.report(1, "target", f"no row has the target {target!r} (found {found}){hint}; add its rows")
    if reader.problems:
        return
    unused = [
        (column, f"has no effect: the policy has the metrics {', '.join(metrics)}; remove the column")
        for column in others
        if column not in metrics
    ]
    for target in sorted(series):
        if target not in targets:
            reason = f"rows of {excerpt(target)} have no effect: the binding scales {', '.join(targets)}; remove them"
            unused.append(("target", reason))
    reader.problems += (
        Problem(
            file=reader.file, line=1, path=column, reason=reason, severity=Severity.WARNING, rule=RuleId.TRACE_UNREAD
        )
        for column, reason in unused
    )


class CellError(ValueError):
    """An invalid value; the message states what is allowed, what was found, and how to fix it."""


def read_time(value: object) -> int:
    """Parse a time into milliseconds."""
    text = _text_of(value)
    if _SECONDS.match(text):
        return round(Decimal(text) * 1000)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None or len(text) < len("2026-01-01T00:00Z"):
        raise CellError(
            f"must be seconds such as 15 or 1767225600.5, or a time with its zone such as 2026-01-01T00:00:15Z, "
            f"found {excerpt(value)}; correct it"
        )
    return round(Decimal(str(time.timestamp())) * 1000)


def read_count(value: object) -> int:
    """Parse a number of pods."""
    text = _text_of(value)
    if not _COUNT.match(text) or int(text) > MOST_PODS:
        raise CellError(f"must be a number of pods from 0 to {MOST_PODS}, found {excerpt(value)}; correct it")
    return int(text)


def read_name(value: object) -> str:
    """Parse the name of a target."""
    if not isinstance(value, str) or not value.strip():
        raise CellError(f"must be the name of a target, found {excerpt(value)}; write the name that the binding has")
    return value.strip()


def read_metric(value: object) -> dict[str, Reported]:
    """Parse a metric: values by pod, or a single value for all pods under the empty name."""
    if isinstance(value, Mapping) and "pods" in value:
        pods = value["pods"]
        _reject_other_keys(value, ("pods",))
        if not isinstance(pods, Mapping):
            raise CellError(f"pods must be a map from pods to values, found {excerpt(pods)}; write {{pod: value}}")
        return {str(pod): _reported(reported) for pod, reported in pods.items()}
    return {"": _reported(value)}


def _reported(value: object) -> Reported:
    if not isinstance(value, Mapping):
        return Reported(_number(value))
    _reject_other_keys(value, ("buckets", "started"))
    started = value.get("started", "")
    if isinstance(started, Mapping | list):
        raise CellError(f"started must be the time when the pod started, found {excerpt(started)}; correct it")
    return Reported(_histogram(value.get("buckets")), str(started))


def _reject_other_keys(value: Mapping[str, object], known: tuple[str, ...]) -> None:
    others = [key for key in value if key not in known]
    if others:
        raise CellError(f"must have no keys except {' and '.join(known)}, found {excerpt(others[0])}; remove it")


def _number(value: object) -> Decimal:
    text = _text_of(value)
    if not _NUMBER.match(text) or Decimal(text) > _LARGEST:
        raise CellError(
            f"must be a number from 0 to {_LARGEST:.0e}, or in JSON lines a histogram {{buckets: {{upper bound: "
            f"count}}}}, found {excerpt(value)}; correct it, or leave it out where no pod answered"
        )
    return Decimal(text)


def _histogram(buckets: object) -> Histogram:
    if not isinstance(buckets, Mapping) or not buckets:
        raise CellError(f"buckets must be a map from upper bounds to counts, found {excerpt(buckets)}; write them")
    infinite = [key for key in buckets if key in _INFINITE]
    if len(infinite) != 1:
        raise CellError("buckets must have the upper bound +Inf, whose count is that of all observations; add it")
    finite = {_bound(key): _bucket_count(count) for key, count in buckets.items() if key not in _INFINITE}
    if len(finite) != len(buckets) - 1:
        raise CellError("buckets has an upper bound twice; remove one of the two")
    bounds = (*sorted(finite), Decimal("Infinity"))
    counts = (*(finite[bound] for bound in bounds[:-1]), _bucket_count(buckets[infinite[0]]))
    if list(counts) != sorted(counts):
        raise CellError(
            "the counts of buckets must not decrease towards larger bounds: each counts the observations up to its "
            "bound; correct them"
        )
    return Histogram(bounds, counts)


def _bound(key: object) -> Decimal:
    text = str(key).strip()
    if not _NUMBER.match(text) or Decimal(text) > _LARGEST:
        raise CellError(f"an upper bound must be a number from 0, or +Inf, found {excerpt(key)}; correct it")
    return Decimal(text)


def _bucket_count(value: object) -> int:
    number = _number(value)
    if number != number.to_integral_value():
        raise CellError(f"the count of a bucket must be a whole number, found {excerpt(value)}; correct it")
    return int(number)


def _text_of(value: object) -> str:
    """Return a number or text as written; empty for values of other types, which no format accepts."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return ""
    return str(value).strip()


def excerpt(value: object) -> str:
    """Format a value for a message, shortened to one line."""
    text = str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else repr(value)
    return text if len(text) <= _EXCERPT_LENGTH else f"{text[: _EXCERPT_LENGTH - 3]}..."
