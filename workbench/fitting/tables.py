"""CSV files: custom tables, and reports of guidellm with one header row (v0.2, v0.3) or three (v0.4 and later)."""

import csv
import io
import math
from collections.abc import Mapping, Sequence

from components.contract.problems import did_you_mean
from components.performance.simulation.trace_reader import excerpt

from .figures import MAX_CONCURRENCY, MAX_MS, MIN_MS, FigureError, figure, latency, positive
from .guidellm import reject_latency
from .measurements import Benchmarks, ConcurrencySource, Latency, Measurement

_CUSTOM = ("concurrency", "itl_ms", "stddev", "samples")
_MAX_SAMPLES = 1e12
_ONE_LINE = {
    "itl": ("Successful Inter token latency ms mean",),
    "concurrency": ("Total Request concurrency mean", "Successful Request concurrency mean"),
}
_THREE_LINES = {
    "itl": (("Inter Token Latency", "Successful ms", "Mean"),),
    "concurrency": (("Server Throughput", "Successful Concurrency", "Mean"),),
}
Row = tuple[int, list[str]]
"""The line number of the end of a row, and its cells."""


def read_table(text: str, file: str, benchmarks: Benchmarks) -> None:
    """Add the measurements of a table, or its problems."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows: list[Row] = []
        for line_cells in reader:
            cells = [cell.strip() for cell in line_cells]
            if any(cells):  # blank lines are skipped
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        benchmarks.add_problem(
            file, 1, "", f"is not valid CSV: {error}; correct the quotes, or save the file as CSV again"
        )
        return
    if not rows:
        header = ",".join(_CUSTOM[:2])
        benchmarks.add_problem(file, 1, "", f"is empty; write the header {header} and a row for each run")
        return
    line, titles = rows[0]
    triples = list(zip(*(row for _, row in rows[:3]), strict=False)) if len(rows) > 3 else []
    if any(title in titles for title in _ONE_LINE["itl"]):
        _read_guidellm(titles, _ONE_LINE, rows[1:], file, benchmarks)
    elif any(title in triples for title in _THREE_LINES["itl"]):
        _read_guidellm(triples, _THREE_LINES, rows[3:], file, benchmarks)
    else:
        _read_custom(line, [title.lower() for title in titles], rows[1:], file, benchmarks)


def _read_custom(line: int, titles: Sequence[str], rows: Sequence[Row], file: str, benchmarks: Benchmarks) -> None:
    before = len(benchmarks.problems)
    for title in _CUSTOM[:2]:
        if title not in titles:
            hint = did_you_mean(title, [column for column in titles if column not in _CUSTOM])
            columns = excerpt(", ".join(titles))
            benchmarks.add_problem(file, line, "", f"the header has no column {title}, found {columns}{hint}")
    for title in _CUSTOM:
        if titles.count(title) > 1:
            benchmarks.add_problem(file, line, title, "is in the header twice; remove or rename one of the two")
    if len(benchmarks.problems) > before:
        return
    if not rows:
        benchmarks.add_problem(file, line, "", "has a header but no rows; write a row for each run")
    unused = [title for title in titles if title not in _CUSTOM]
    if unused:
        benchmarks.notes.append(
            f"{file}: ignored columns: {excerpt(', '.join(unused))}; known columns: {', '.join(_CUSTOM)}"
        )
    for row, cells in rows:
        if len(cells) != len(titles):
            benchmarks.add_problem(file, row, "", f"has {len(cells)} columns, but the header has {len(titles)}")
        else:
            _read_row(dict(zip(titles, cells, strict=True)), file, row, benchmarks)


def _read_row(cells: Mapping[str, str], file: str, line: int, benchmarks: Benchmarks) -> None:
    values: dict[str, float] = {}
    limits = {"concurrency": (1.0, MAX_CONCURRENCY), "samples": (1.0, _MAX_SAMPLES)}
    for column in _CUSTOM:
        if column in _CUSTOM[:2] or cells.get(column):
            least, most = limits.get(column, (MIN_MS, MAX_MS))
            try:
                values[column] = figure(cells[column], least, most)
            except FigureError as error:
                benchmarks.add_problem(file, line, column, str(error))
                return
    deviation = values.get("stddev")
    error_ms = deviation / math.sqrt(values.get("samples", 1.0)) if deviation else None
    benchmarks.measurements.append(
        Measurement(values["concurrency"], values["itl_ms"], f"{file}:{line}", ConcurrencySource.GIVEN, error_ms)
    )


def _read_guidellm(
    titles: Sequence[object],
    known: Mapping[str, Sequence[object]],
    rows: Sequence[Row],
    file: str,
    benchmarks: Benchmarks,
) -> None:
    if benchmarks.latency is not Latency.ITL:
        reject_latency(file, benchmarks)
        return
    columns = {name: [titles.index(title) for title in names if title in titles] for name, names in known.items()}
    for line, cells in rows:
        if len(cells) != len(titles):
            reason = f"has {len(cells)} columns, but the header has {len(titles)}; let guidellm write JSON"
            benchmarks.add_problem(file, line, "", reason)
            continue
        means = [number for column in columns["concurrency"] if (number := positive(cells[column]))]
        try:
            itl = latency(cells[columns["itl"][0]])
            concurrency = figure(max(means[0], 1.0) if means else "", 1.0, MAX_CONCURRENCY)
        except FigureError as error:
            benchmarks.add_problem(file, line, "", f"inter-token latency and concurrency: {error}")
            continue
        benchmarks.measurements.append(Measurement(concurrency, itl, f"{file}:{line}", ConcurrencySource.MEASURED))
