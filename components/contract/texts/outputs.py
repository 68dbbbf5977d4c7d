"""Writes text of others into what is pasted, opened or stored: it stays data there.

Terminals and logs have :mod:`.printable`, Markdown ``workbench.planning.formats.escaping``; templates of Jinja escape
by themselves.
"""

import hashlib
import html
import re
import shlex
from collections.abc import Iterable

from .printable import printable

_FORMULA = re.compile(r"[=+\-@\t\r]")
_HARMLESS = re.compile(r"[-+]?[0-9][0-9,]*(\.[0-9]+)?([eE][-+]?[0-9]+)?%?\Z|--[a-z][a-z-]*\Z")
"""Numbers, and names of options, which call no function."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
_MOST_LETTERS = 200
"""File systems allow 255 bytes; the ending of the file and a digest need some."""


def shell_word(text: str) -> str:
    """Quote a text as one word of a POSIX shell; what cannot be shown is written as escapes (``$'...'``)."""
    if printable(text) == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_shell_letter, text))}'"


def shell_line(words: Iterable[str]) -> str:
    """Return words as a command line for a shell."""
    return " ".join(map(shell_word, words))


def _shell_letter(letter: str) -> str:
    if letter in "'\\":
        return f"\\{letter}"
    if " " <= letter <= "~":
        return letter
    number = ord(letter)
    return f"\\x{number:02x}" if number < 0x80 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def csv_cell(text: str) -> str:
    """Return a text for a cell of CSV, which no spreadsheet takes for a formula (OWASP, "CSV Injection")."""
    shown = printable(text)
    return f"'{shown}" if _FORMULA.match(text) and not _HARMLESS.match(text) else shown


def html_text(text: str) -> str:
    """Return a text for the content or an attribute of an element of HTML or SVG."""
    return html.escape(printable(text))


def file_name(text: str) -> str:
    """Return a text as the name of a file, which leads to no other folder; other texts have other names.

    Names of Kubernetes are kept.
    """
    name = _NOT_IN_NAMES.sub("-", text)[:_MOST_LETTERS].lstrip(".-")
    if name and name == text:
        return name
    digest = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:8]
    return f"{name or 'file'}-{digest}"
