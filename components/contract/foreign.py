"""Recognizes files that are no manifests, and names the command that takes them (``foreign.yaml``)."""

import fnmatch
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from .tables import load_table
from .texts.outputs import shell_word

_HEAD = 8192
"""Bytes that are looked at."""
_SHARE = 10
"""One byte in so many that no text has marks a binary file; a single one is a slip in a text."""
_LEAST = 16
"""Bytes that show whether a file is text."""
_LONGEST_TEXT = 65536
"""Characters that are searched for the signs of another format."""
_TEMPLATE = re.compile(r"\{\{[^{}\n]{1,200}\}\}|\{%[^\n]{1,200}%\}")
_STATEMENT = re.compile(r"^[ \t]*(\{\{-?\s|\{%)", re.MULTILINE)
"""A line that starts with a statement of a template: no YAML does."""


def binary_reason(start: bytes, file: str) -> str:
    """Return what a file is that is no UTF-8 text, and what to do; empty if it may be text.

    Args:
        start: The first bytes.
        file: Its path.
    """
    text = start[:_HEAD].decode("latin-1")
    for row in _table()["starts"]:
        if text.startswith(row["starts"]):
            return _reason(row, file)
    # A safetensors file starts with the length of its header, as eight bytes, and the header.
    if text[8:10] == '{"' and "\0" in text[:8]:
        return "is a safetensors file with the weights of a model, no manifest; pass the manifest that serves it"
    if len(text) >= _LEAST and (text.count("\0") * _SHARE > len(text) or _is_mostly_unprintable(start)):
        if all(character == "\0" for character in (text[1:2], text[3:4])):
            return "is UTF-16 text; save the file as UTF-8"
        return "is a binary file, no manifest; check the path"
    return ""


def _is_mostly_unprintable(start: bytes) -> bool:
    """Whether bytes are no text in any encoding of one byte per character either."""
    odd = sum(byte < 9 or 13 < byte < 27 or byte == 127 for byte in start[:_HEAD])
    return odd * _SHARE > len(start[:_HEAD])


def text_reason(text: str, file: str) -> tuple[int, str] | None:
    """Return the line to look at in a text that is no manifest, what it is and what to do; None if unknown."""
    text, ending = text[:_LONGEST_TEXT], PurePath(file).suffix.lower()
    for row in _table()["texts"]:
        match = re.search(row["pattern"], text, re.MULTILINE)
        if match or ending in row["endings"]:
            line = text.count("\n", 0, match.end()) + 2 if match and match.start() else 0
            return line, _reason(row, file)
    return None


def template_reason(text: str, line: int) -> tuple[int, str] | None:
    """Return the line that shows that a text is a template, and what to do; None for any other text.

    Args:
        text: The text.
        line: Where it is not YAML, from 1.
    """
    lines = text.split("\n")
    wrong = lines[line - 1] if line <= len(lines) else ""
    match = _STATEMENT.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
    elif not _TEMPLATE.search(wrong):
        return None
    return line, (
        "is a template, no manifest; render it (`helm template CHART > models.yaml`), or take over what the chart "
        "renders with `workbench adopt --chart CHART`"
    )


def map_reason(value: Mapping[str, Any], file: str) -> str:
    """Return what a map is that is no manifest, and what to do; empty if that is unknown."""
    name = PurePath(file).name
    for row in _table()["maps"]:
        has_keys = all(any(key in value for key in _alternatives(keys)) for keys in row["keys"])
        if has_keys and ("name" not in row or fnmatch.fnmatchcase(name, row["name"])):
            return _reason(row, file)
    return ""


def owner_of(api_version: str, file: str) -> tuple[str, str]:
    """Return what owns an API, and the command that takes its objects; both may be empty."""
    group = api_version.rpartition("/")[0]
    row: Mapping[str, str] = next(
        (row for name, row in _table()["groups"].items() if group == name or group.endswith(f".{name}")), {}
    )
    return row.get("what", ""), _filled(row.get("advice", ""), file)


def _alternatives(keys: str | list[str]) -> Iterator[str]:
    yield from [keys] if isinstance(keys, str) else keys


def _reason(row: Mapping[str, Any], file: str) -> str:
    return f"is {row['what']}; {_filled(row['advice'], file)}"


def _filled(advice: str, file: str) -> str:
    path = PurePath(file)
    words = {"file": shell_word(file), "folder": shell_word(str(path.parent))}
    words["stack"] = shell_word(path.name.removeprefix("Pulumi.").removesuffix(".yaml"))
    return advice.format(**words)


@functools.cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = load_table(__package__, "foreign.yaml")
    return table
