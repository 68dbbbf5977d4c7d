"""Writes Kubernetes objects as YAML, deterministically and fast enough for thousands of objects.

PyYAML's representer takes seconds for a thousand models. The objects are plain JSON values, for which a small writer
is enough: block style, keys in the given order, and quotes around text that a YAML 1.1 or 1.2 parser could read as
another type.
"""

import functools
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..texts.printable import is_controlling

_PLAIN = re.compile(r"[A-Za-z0-9_/.+-](?:[A-Za-z0-9_/.+@=,%~() -]|:(?=[A-Za-z0-9_/.+-]))*(?<! )\Z")
"""Text that needs no quotes: no indicator, no comment, no colon that ends a key."""
_NUMERAL = re.compile(r"(?=.*[0-9])[-+.0-9][-+.0-9a-fA-F_:xXoOtTzZiInN ]*\Z")
"""Matches all numbers, dates, and times of YAML 1.1 and 1.2, and some text that only looks like them."""
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", "-.inf", "+.inf", ".nan"})
_MARK = re.compile(r"[-+.]+\Z|[-+.] ")
_BLOCK = re.compile(r"[^\s\ufeff][\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*\Z")
_ODD = re.compile(r"[^\x20-\x7e]")
_NO_CHARACTERS = ("\ufffe", "\uffff")


def dump_all(objects: Iterable[Mapping[str, Any]]) -> str:
    """Return the objects as a stream of YAML documents."""
    out: list[str] = []
    for value in objects:
        if out:
            out.append("---\n")
        _value(value, "", "", out)
    return "".join(out)


def _value(value: object, lead: str, indent: str, out: list[str]) -> None:
    """Write a value on its own lines, with ``lead`` before the first one."""
    if value and (type(value) is dict or isinstance(value, Mapping)):
        _map(value, lead, indent, out)
    elif value and isinstance(value, list | tuple):
        _list(value, lead, indent, out)
    else:
        out.append(f"{lead}{inline_text(value, indent)}\n")


def _map(mapping: Mapping[str, Any], lead: str, indent: str, out: list[str]) -> None:
    for key, value in mapping.items():
        head = f"{lead}{quoted_text(key)}:"
        lead = indent
        kind = type(value)
        if kind is str:
            out.append(f"{head} {_literal(value, indent)}\n" if "\n" in value else f"{head} {quoted_text(value)}\n")
        elif value and (kind is dict or isinstance(value, Mapping)):
            out.append(f"{head}\n")
            _map(value, f"{indent}  ", f"{indent}  ", out)
        elif value and (kind is list or isinstance(value, list | tuple)):
            out.append(f"{head}\n")
            _list(value, indent, indent, out)
        else:
            out.append(f"{head} {inline_text(value, indent)}\n")


def _list(items: Iterable[Any], lead: str, indent: str, out: list[str]) -> None:
    inner = f"{indent}  "
    for item in items:
        if isinstance(item, str):
            out.append(f"{lead}- {inline_text(item, indent)}\n")
        else:
            _value(item, f"{lead}- ", inner, out)
        lead = indent


def inline_text(value: object, indent: str) -> str:
    """Return a scalar, or an empty collection; the lines of a text are two spaces deeper than ``indent``."""
    if isinstance(value, str):
        return _literal(value, indent) if "\n" in value else quoted_text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
        text = repr(value)
        # YAML 1.1 requires a dot in floats: 1e+16 would be text.
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"not a JSON value: {value!r} ({type(value).__name__})")


@functools.lru_cache(maxsize=1 << 16)
def quoted_text(text: str) -> str:
    """Return a scalar on one line: plain if every YAML parser reads it as text, otherwise double-quoted."""
    if _PLAIN.match(text) and not _NUMERAL.match(text) and not _MARK.match(text) and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else _ODD.sub(_escaped, quoted)


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    if letter not in _NO_CHARACTERS and not is_controlling(letter):
        return letter
    return f"\\u{ord(letter):04x}" if letter <= "\uffff" else f"\\U{ord(letter):08x}"


@functools.lru_cache(maxsize=1 << 12)
def _literal(text: str, indent: str) -> str:
    """Return multi-line text as a literal block, so that scripts stay readable."""
    if not _BLOCK.match(text) or any(is_controlling(letter) for letter in _ODD.findall(text) if letter not in "\n\t"):
        return quoted_text(text)
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    lines = "\n".join(f"{indent}  {line}" if line else "" for line in body.split("\n"))
    if trailing == 0:
        return f"|-\n{lines}"
    return f"|\n{lines}" if trailing == 1 else "|+\n" + lines + "\n" * (trailing - 1)
