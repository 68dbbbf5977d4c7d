"""Escaping of untrusted text in the Markdown dialects of code hosts."""

import html
import re

from components.contract.texts.printable import printable

_PUNCTUATION = re.compile(r"([\\`*_\[\]|~$])")
_BEGINNING = re.compile(r"^(\d*)([-+=#.)])")
"""Start of a heading or list item."""
_INVISIBLE = "&#8203;"
"""A zero-width space, which breaks mentions, issue numbers and URLs, as renovatebot/renovate does (pull requests 602
and 1084). A backslash has no effect: mentions are resolved after Markdown is rendered."""
_REFERENCES = re.compile(
    r"""
      (?<=[@\#!%~&])(?=\w)           # people, issues, merge requests, milestones, labels, epics
    | (?<=:)(?=//) | (?<=www)(?=\.)   # addresses
    | (?<=mailto:) | (?<=xmpp:)
    | (?<=GH)(?=-\d)                  # issues again
    | (?<=:)(?=[\w+-]+:)              # emoji
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TICKS = re.compile(r"`+")
_UNSAFE_IN_CODE = re.compile(r"[|`\\]")
_RULE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_SENTENCE = 2_000
_MAX_NAME = 300
"""Maximum lengths of a sentence and of a name."""


def shortened(text: str, most: int) -> str:
    """Truncate a text, and put it on one line."""
    line = printable(text)
    left = len(line) - most
    return line if left <= 0 else f"{line[:most]}… and {left:,} more characters"


def prose(text: str) -> str:
    """Escape text within a line."""
    marked = _REFERENCES.sub("\0", shortened(text, _MAX_SENTENCE))
    escaped = _PUNCTUATION.sub(r"\\\1", html.escape(marked, quote=False).strip())
    return escaped.replace("\0", _INVISIBLE)


def sentence(text: str) -> str:
    """Escape text at the start of a line or list item."""
    return _BEGINNING.sub(r"\1\\\2", prose(text))


def code(text: str) -> str:
    r"""Format a name or a value as code, also in table cells.

    In a table cell, ``\|`` cannot be escaped (GitHub Flavored Markdown, "Tables"), so such text is written as
    character references.
    """
    name = shortened(text, _MAX_NAME)
    if not name.strip():
        return "``(empty)``" if not name else "``(blank)``"
    if not _UNSAFE_IN_CODE.search(name):
        return f"`{name}`"
    references = (letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in name)
    return f"<code>{''.join(references)}</code>"


def fenced(lines: list[str], language: str) -> list[str]:
    """Return lines as a code block, with a fence longer than any in the lines."""
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def is_rule(text: str) -> bool:
    """Whether a text is a well-formed rule id, which can be linked."""
    return bool(_RULE.fullmatch(text))


def cells(*texts: str) -> str:
    """Return a table row from cells in Markdown."""
    return f"| {' | '.join(texts)} |"
