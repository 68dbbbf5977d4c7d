"""Reading benchmark files; the format is detected from the content."""

import hashlib
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from components.contract.documents.files import read_text
from components.performance.simulation.trace_reader import excerpt
from toolkit.printing import problem_lines

from ..errors import WorkbenchError
from ..subject import STDIN
from .guidellm import read_report
from .measurements import Benchmarks, Latency
from .parsing import ParseError, json_values, yaml_values
from .tables import read_table
from .vllm import MARKS, read_run

MAX_BYTES = 256 * 2**20
_YAML = re.compile(r"(?:---\s*\n|%YAML|#[^\n]*\n|\s)*[A-Za-z_]+:(?:\s|$)")
"""A key at the start of the text, after document markers and comments."""
_TOO_LARGE = (
    f"is larger than {MAX_BYTES // 2**20} MiB; let the benchmark store less per request: no --save-detailed with "
    "vLLM, sample_size=0 with guidellm"
)
_UNKNOWN = (
    "is neither a result of vllm bench serve nor a report of guidellm: expected mean_itl_ms, or benchmarks with "
    "metrics, found {found}"
)


def read_benchmarks(paths: Iterable[Path], latency: Latency) -> Benchmarks:
    """Read files; ``-`` reads stdin.

    Raises:
        WorkbenchError: a file cannot be used; the message lists every problem.
    """
    benchmarks = Benchmarks(latency)
    seen: dict[bytes, str] = {}
    for path in paths:
        file = "<stdin>" if str(path) == STDIN else str(path)
        text = _bounded_text(path, file, benchmarks)
        if text is None:
            continue
        digest = hashlib.sha256(text.encode()).digest()
        if digest in seen:
            benchmarks.add_problem(file, 0, "", f"is identical to {seen[digest]}; pass each run once")
        else:
            _read_text(text, file, benchmarks)
        seen.setdefault(digest, file)
    if benchmarks.problems:
        raise WorkbenchError(problem_lines(benchmarks.problems))
    return benchmarks


def _bounded_text(path: Path, file: str, benchmarks: Benchmarks) -> str | None:
    """Return the text of a file, reading at most ``MAX_BYTES``: stdin may be endless."""

    def read_bounded() -> bytes:
        with nullcontext(sys.stdin.buffer) if str(path) == STDIN else path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise _TooLargeError
        return content

    try:
        return read_text(read_bounded, file, benchmarks.problems)
    except _TooLargeError:
        benchmarks.add_problem(file, 0, "", _TOO_LARGE)
    return None


class _TooLargeError(Exception): ...


def _read_text(text: str, file: str, benchmarks: Benchmarks) -> None:
    try:
        if text.lstrip()[:1] in ("{", "["):
            for number, value in enumerate(json_values(text), start=1):
                _read_value(value, file, number, benchmarks)
        elif _YAML.match(text):
            for value in yaml_values(text):
                _read_value(value, file, 1, benchmarks)
        else:
            read_table(text, file, benchmarks)
    except ParseError as error:
        benchmarks.add_problem(file, error.line, "", error.reason)


def _read_value(value: Any, file: str, number: int, benchmarks: Benchmarks) -> None:  # noqa: ANN401
    """Read one of the values of a file: vLLM appends results, and users concatenate them into lists."""
    place = f"{file}: run {number}" if number > 1 else file
    if isinstance(value, Mapping) and "benchmarks" in value:
        read_report(value, file, benchmarks)
    elif isinstance(value, Mapping) and any(mark in value for mark in MARKS):
        read_run(value, place, benchmarks)
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for index, item in enumerate(value, start=number):
            _read_value(item, file, index, benchmarks)
    else:
        keys = ", ".join(map(str, value)) if isinstance(value, Mapping) else value
        benchmarks.add_problem(place, 0, "", _UNKNOWN.format(found=excerpt(keys)))
