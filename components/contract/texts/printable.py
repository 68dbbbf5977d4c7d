"""Texts of others on one line of a terminal or a log, as what they are: nothing in them moves, hides or forges."""

import re
import unicodedata

_ODD = re.compile(r"[^\x20-\x7e]")
_CONTROLLING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of control characters, of format characters such as those that turn the writing direction or
have no width, of halves of characters, and of line ends."""


def printable(text: str) -> str:
    """Escape control characters, line ends and invisible characters, so that no text of a manifest forges a line."""
    return text if text.isprintable() else _ODD.sub(lambda match: escaped(match[0]), text)


def printable_lines(text: str) -> str:
    """Do the same for a text that may have several lines."""
    return "\n".join(map(printable, text.split("\n")))


def escaped(letter: str) -> str:
    """Return a character as it is, or its escape sequence."""
    if not is_controlling(letter):
        return letter
    number = ord(letter)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def is_controlling(letter: str) -> bool:
    """Whether a character moves, hides or turns others, or ends a line."""
    return unicodedata.category(letter) in _CONTROLLING
