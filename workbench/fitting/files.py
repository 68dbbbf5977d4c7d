"""Reads files of benchmarks, whatever wrote them: the form is told from what is in the file."""

import hashlib
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from components.contract.documents.files import read_text
from components.performance.simulation.trace_reader import excerpt
from toolkit.printing import problem_lines

from ..errors import WorkbenchError
from ..subject import STDIN
from .guidellm import read_report
from .measurements import Benchmarks, Latency
from .parsing import TreeError, json_values, yaml_values
from .tables import read_table
from .vllm import MARKS, read_run

MOST_BYTES = 256 * 2**20
_YAML = re.compile(r"(?:---\s*\n|%YAML|#[^\n]*\n|\s)*[A-Za-z_]+:(?:\s|$)")
"""A text that begins with a key, after marks and comments."""
_TOO_LARGE = (
    f"is larger than {MOST_BYTES // 2**20} MiB; let the benchmark keep less of each request: no --save-detailed with "
    "vLLM, sample_size=0 with guidellm"
)
_UNKNOWN = (
    "is neither a result of vllm bench serve nor a report of guidellm: found {found}; expected are mean_itl_ms, "
    "or benchmarks with metrics"
)


def read_benchmarks(paths: Iterable[Path], latency: Latency) -> Benchmarks:
    """Read files, and stdin where the path is ``-``.

    Raises:
        WorkbenchError: something cannot be used; all of it is listed.
    """
    found = Benchmarks(latency)
    seen: dict[bytes, str] = {}
    for path in paths:
        file = "<stdin>" if str(path) == STDIN else str(path)
        text = _text(path, file, found)
        if text is None:
            continue
        digest = hashlib.sha256(text.encode()).digest()
        if digest in seen:
            found.wrong(file, 0, "", f"is the same as {seen[digest]}; each run counts once")
        else:
            _read(text, file, found)
        seen.setdefault(digest, file)
    if found.problems:
        raise WorkbenchError(problem_lines(found.problems))
    return found


def _text(path: Path, file: str, found: Benchmarks) -> str | None:
    """Return what a file has; of one without an end, no more than is taken."""

    def read() -> bytes:
        if str(path) == STDIN:
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES + 1)

    def read_bounded() -> bytes:
        content = read()
        if len(content) > MOST_BYTES:
            raise _TooLargeError
        return content

    try:
        return read_text(read_bounded, file, found.problems)
    except _TooLargeError:
        found.wrong(file, 0, "", _TOO_LARGE)
    return None


class _TooLargeError(Exception):
    """There is more in a file than is read."""


def _read(text: str, file: str, found: Benchmarks) -> None:
    try:
        if text.lstrip()[:1] in ("{", "["):
            for number, value in enumerate(json_values(text), start=1):
                _read_value(value, file, number, found)
        elif _YAML.match(text):
            for value in yaml_values(text):
                _read_value(value, file, 1, found)
        else:
            read_table(text, file, found)
    except TreeError as error:
        found.wrong(file, error.line, "", error.reason)


def _read_value(value: Any, file: str, number: int, found: Benchmarks) -> None:  # noqa: ANN401
    """Read one of the values of a file: vLLM appends results, and lists of them are easily made."""
    place = f"{file}: run {number}" if number > 1 else file
    if isinstance(value, Mapping) and "benchmarks" in value:
        read_report(value, file, found)
    elif isinstance(value, Mapping) and any(mark in value for mark in MARKS):
        read_run(value, place, found)
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        for index, each in enumerate(value, start=number):
            _read_value(each, file, index, found)
    else:
        keys = ", ".join(map(str, value)) if isinstance(value, Mapping) else value
        found.wrong(place, 0, "", _UNKNOWN.format(found=excerpt(keys)))
