"""CSV: tables of one's own, and those of guidellm with one line of titles (v0.2, v0.3) or three (from v0.4 on)."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence

from components.contract.problems import did_you_mean
from components.performance.simulation.trace_reader import excerpt

from .figures import LEAST_MS, MOST_AT_ONCE, MOST_MS, FigureError, figure, latency, possible
from .guidellm import refuse_latency
from .measurements import Benchmarks, Counting, Latency, Measurement

_OWN = ("concurrency", "itl_ms", "stddev", "samples")
_MOST_SAMPLES = 1e12
_ONE_LINE = {
    "itl": ("Successful Inter token latency ms mean",),
    "concurrency": ("Total Request concurrency mean", "Successful Request concurrency mean"),
}
_THREE_LINES = {
    "itl": (("Inter Token Latency", "Successful ms", "Mean"),),
    "concurrency": (("Server Throughput", "Successful Concurrency", "Mean"),),
}
Row = tuple[int, list[str]]
"""The line where it ends, and its cells."""


def read_table(text: str, file: str, found: Benchmarks) -> None:
    """Take the measurements of a table, or what is wrong with it."""
    try:
        rows = list(_rows(text))
    except csv.Error as error:
        found.wrong(file, 1, "", f"is no CSV: {error}; correct the quotes, or save the file as CSV again")
        return
    if not rows:
        found.wrong(file, 1, "", f"is empty; write a header {','.join(_OWN[:2])} and a row for each run")
        return
    line, titles = rows[0]
    triples = list(zip(*(cells for _, cells in rows[:3]), strict=False)) if len(rows) > 3 else []
    if any(title in titles for title in _ONE_LINE["itl"]):
        _read_guidellm(titles, _ONE_LINE, rows[1:], file, found)
    elif any(title in triples for title in _THREE_LINES["itl"]):
        _read_guidellm(triples, _THREE_LINES, rows[3:], file, found)
    else:
        _read_own(line, [title.lower() for title in titles], rows[1:], file, found)


def _rows(text: str) -> Iterator[Row]:
    """Yield the rows that have something."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    for cells in reader:
        stripped = [cell.strip() for cell in cells]
        if any(stripped):
            yield reader.line_num, stripped


def _read_own(line: int, titles: Sequence[str], rows: Sequence[Row], file: str, found: Benchmarks) -> None:
    before = len(found.problems)
    for title in _OWN[:2]:
        if title not in titles:
            hint = did_you_mean(title, [each for each in titles if each not in _OWN])
            found.wrong(file, line, "", f"the header has no column {title}, found {excerpt(', '.join(titles))}{hint}")
    for title in _OWN:
        if titles.count(title) > 1:
            found.wrong(file, line, title, "is in the header twice; remove or rename one of the two")
    if len(found.problems) > before:
        return
    if not rows:
        found.wrong(file, line, "", "has a header and no row; write a row for each run")
    unused = [title for title in titles if title not in _OWN]
    if unused:
        found.notes.append(f"{file}: not used: {excerpt(', '.join(unused))}; used are {', '.join(_OWN)}")
    for row, cells in rows:
        if len(cells) != len(titles):
            found.wrong(file, row, "", f"has {len(cells)} columns, and the header {len(titles)}")
        else:
            _read_row(dict(zip(titles, cells, strict=True)), file, row, found)


def _read_row(cells: Mapping[str, str], file: str, line: int, found: Benchmarks) -> None:
    values: dict[str, float] = {}
    limits = {"concurrency": (1.0, MOST_AT_ONCE), "samples": (1.0, _MOST_SAMPLES)}
    for column in _OWN:
        if column in _OWN[:2] or cells.get(column):
            least, most = limits.get(column, (LEAST_MS, MOST_MS))
            try:
                values[column] = figure(cells[column], least, most)
            except FigureError as error:
                found.wrong(file, line, column, str(error))
                return
    deviation = values.get("stddev")
    error_ms = deviation / math.sqrt(values.get("samples", 1.0)) if deviation else None
    found.measurements.append(
        Measurement(values["concurrency"], values["itl_ms"], f"{file}:{line}", Counting.GIVEN, error_ms)
    )


def _read_guidellm(
    titles: Sequence[object],
    known: Mapping[str, Sequence[object]],
    rows: Sequence[Row],
    file: str,
    found: Benchmarks,
) -> None:
    if found.latency is not Latency.ITL:
        refuse_latency(file, found)
        return
    columns = {name: [titles.index(title) for title in wanted if title in titles] for name, wanted in known.items()}
    for line, cells in rows:
        if len(cells) != len(titles):
            reason = f"has {len(cells)} columns, and the header {len(titles)}; let guidellm write JSON"
            found.wrong(file, line, "", reason)
            continue
        counted = [number for at in columns["concurrency"] if (number := possible(cells[at]))]
        try:
            itl = latency(cells[columns["itl"][0]])
            concurrency = figure(max(counted[0], 1.0) if counted else "", 1.0, MOST_AT_ONCE)
        except FigureError as error:
            found.wrong(file, line, "", f"inter-token latency and concurrency: {error}")
            continue
        found.measurements.append(Measurement(concurrency, itl, f"{file}:{line}", Counting.MEASURED))
