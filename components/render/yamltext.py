"""Writes Kubernetes objects as YAML: block style, deterministic, safe for YAML 1.1 and 1.2 readers, and fast.

A general emitter asks every scalar how it could be misread; here the answer is remembered, since a fleet says the
same few words thousands of times.
"""

import functools
import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*|--?[A-Za-z][A-Za-z0-9_.-]*", re.ASCII)
"""Text that no YAML reader takes for anything but text, words of the vocabulary below aside."""
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
"""What YAML 1.1 or 1.2 reads as a boolean, null or number, in any case."""
_BLOCK = re.compile(r"(?:[^\S\n]*[!-~][ -~]*\n|\n)*[!-~][ -~]*\n?")
"""Printable lines that a literal block can hold; a first line that is indented or empty could not be told apart."""


def dump_all(objects: Iterable[Any]) -> str:
    """Return a stream of documents, each after a ``---`` line."""
    out: list[str] = []
    for value in objects:
        out.append("---\n")
        _document(value, out)
    return "".join(out)


def dump(value: Any) -> str:
    """Return one document."""
    out: list[str] = []
    _document(value, out)
    return "".join(out)


def _document(value: Any, out: list[str]) -> None:
    if isinstance(value, dict) and value:
        _mapping(value, "", out)
    elif isinstance(value, list | tuple) and value:
        _sequence(value, "", out)
    else:
        out.append(f"{_scalar(value, '')}\n")


def _mapping(value: dict[str, Any], indent: str, out: list[str]) -> None:
    """Write entries; the caller has written the indentation of the first one where it stands after a dash."""
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            out.append(f"{indent}{_text(key)}:\n")
            _mapping(inner, indent + "  ", out)
        elif isinstance(inner, list | tuple) and inner:
            out.append(f"{indent}{_text(key)}:\n")
            _sequence(inner, indent, out)
        else:
            out.append(f"{indent}{_text(key)}: {_scalar(inner, indent)}\n")


def _sequence(value: list[Any] | tuple[Any, ...], indent: str, out: list[str]) -> None:
    for inner in value:
        if isinstance(inner, dict) and inner:
            start = len(out)
            _mapping(inner, indent + "  ", out)
            out[start] = f"{indent}- {out[start][len(indent) + 2 :]}"
        elif isinstance(inner, list | tuple) and inner:
            start = len(out)
            _sequence(inner, indent + "  ", out)
            out[start] = f"{indent}- {out[start][len(indent) + 2 :]}"
        else:
            out.append(f"{indent}- {_scalar(inner, indent)}\n")


def _scalar(value: Any, indent: str) -> str:
    if isinstance(value, str):
        return _block(value, indent) if "\n" in value else _text(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value)


@functools.lru_cache(maxsize=65536)
def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value)


def _block(value: str, indent: str) -> str:
    """Write several lines as a literal block where it can hold them, else quoted."""
    if not _BLOCK.fullmatch(value) or value.startswith(("\n", " ")) or "\n " in value[:1]:
        return json.dumps(value)
    inner = indent + "  "
    lines = value.removesuffix("\n").split("\n")
    body = "\n".join(inner + line if line else "" for line in lines)
    return f"|{'' if value.endswith(chr(10)) else '-'}\n{body}"
