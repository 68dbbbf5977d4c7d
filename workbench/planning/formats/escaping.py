"""What others wrote, inside Markdown as code hosts read it: as text, whatever it says."""

import html
import re

from components.contract.texts.printable import printable

_PUNCTUATION = re.compile(r"([\\`*_\[\]|~$])")
_BEGINNING = re.compile(r"^(\d*)([-+=#.)])")
"""What begins a heading or a list."""
_INVISIBLE = "&#8203;"
"""Of no width: what stands around it is no mention, number or address any more (so does renovatebot/renovate, pull
requests 602 and 1084). A backslash does not help: mentions are looked for in what Markdown has become."""
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
_AWKWARD = re.compile(r"[|`\\]")
_RULE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


_SENTENCE = 2_000
_NAME = 300
"""Characters that are shown of a sentence, and of a name."""


def shortened(text: str, most: int) -> str:
    """Return the beginning of a long text, and how much more there is; all of it on one line."""
    shown = printable(text)
    left = len(shown) - most
    return shown if left <= 0 else f"{shown[:most]}… and {left:,} more characters"


def prose(text: str) -> str:
    """Return a text within a line."""
    parts = _REFERENCES.sub("\0", shortened(text, _SENTENCE))
    escaped = _PUNCTUATION.sub(r"\\\1", html.escape(parts, quote=False).strip())
    return escaped.replace("\0", _INVISIBLE)


def sentence(text: str) -> str:
    """Return a text at the beginning of a line or of an item of a list."""
    return _BEGINNING.sub(r"\1\\\2", prose(text))


def code(text: str) -> str:
    """Return a name or a value, which may stand in a cell of a table.

    In a cell of a table, no number of backslashes keeps a ``|`` behind a backslash from ending it (GitHub Flavored
    Markdown, "Tables"); such a text is written character by character.
    """
    shown = shortened(text, _NAME)
    if not shown.strip():
        return "``(empty)``" if not shown else "``(blank)``"
    if not _AWKWARD.search(shown):
        return f"`{shown}`"
    return f"<code>{_by_number(shown)}</code>"


def _by_number(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in text)


def fenced(lines: list[str], language: str) -> list[str]:
    """Return lines as a block of code: its fence is longer than any in it."""
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def is_rule(text: str) -> bool:
    """Whether a text is the id of a rule, of which a link can be made."""
    return bool(_RULE.fullmatch(text))


def cells(*texts: str) -> str:
    """Return the row of a table, of cells that are Markdown already."""
    return f"| {' | '.join(texts)} |"
