"""Read traces of requests: arrival times and lengths of requests and answers.

The columns of published traces are accepted under their original names: Azure's LLM inference traces
(Azure/AzurePublicDataset), Mooncake's (kvcache-ai/Mooncake) and BurstGPT (HPMLL/BurstGPT).
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.contract.texts.printable import printable
from toolkit.errors import UserError

from .arrivals import DueRequest

_TIMES = {"time": 1.0, "TIMESTAMP": 1.0, "Timestamp": 1.0, "timestamp": 0.001}
"""Time columns and their unit in seconds; Mooncake counts milliseconds."""
_INPUTS = ("input_tokens", "ContextTokens", "input_length", "Request tokens")
_OUTPUTS = ("output_tokens", "GeneratedTokens", "output_length", "Response tokens")
_MAX_TOKENS = 10_000_000


def read_trace(path: Path) -> list[DueRequest]:
    """Read a trace in CSV or JSON lines. The first request is at time 0.

    Raises:
        UserError: it is invalid; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--trace: {path}: {getattr(error, 'strerror', None) or 'is not UTF-8 text'}", 2) from None
    rows = _json_rows(path, text) if path.suffix in (".jsonl", ".ndjson", ".json") else _csv_rows(path, text)
    requests = [_request(path, line, row) for line, row in rows]
    if not requests:
        raise UserError(f"--trace: {path}: has no requests", 2)
    start = min(request.at for request in requests)
    return sorted((replace(request, at=request.at - start) for request in requests), key=lambda request: request.at)


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise UserError(f"--trace: {path}:{reader.line_num}: is not CSV: {error}", 2) from None


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise UserError(f"--trace: {path}:{number}: must be a JSON object on one line", 2)
        yield number, row


def _request(path: Path, line: int, row: Mapping[str, Any]) -> DueRequest:
    def value(names: tuple[str, ...], what: str) -> tuple[str, object]:
        name = next((name for name in names if row.get(name) is not None), None)
        if name is None:
            raise UserError(f"--trace: {path}:{line}: has no {what}; name the column {names[0]}", 2)
        return name, row[name]

    def invalid(name: str, found: object, allowed: str) -> UserError:
        text = printable(str(found)[:80])
        return UserError(f"--trace: {path}:{line}: {name}: must be {allowed}, found {text!r}", 2)

    name, moment = value(tuple(_TIMES), "time")
    at = _seconds(name, moment)
    if at is None:
        raise invalid(name, moment, "a number of seconds, or a date with a time")
    counts = []
    for names, what in ((_INPUTS, "tokens of the request"), (_OUTPUTS, "tokens of the answer")):
        name, text = value(names, what)
        number = _number(text)
        if number is None or not 0 <= number <= _MAX_TOKENS or number != int(number):
            raise invalid(name, text, "a whole number of tokens")
        counts.append(max(int(number), 1))
    return DueRequest(at, counts[0], counts[1])


def _seconds(name: str, value: object) -> float | None:
    number = _number(value)
    if number is not None:
        return number * _TIMES[name]
    try:
        moment = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
