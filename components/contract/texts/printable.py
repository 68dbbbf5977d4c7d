"""Escapes untrusted text for terminals and logs, so that it cannot move the cursor, hide text, or forge lines."""

import re

_ODD = re.compile(r"[^\x20-\x7e]")
_CONTROLLING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, format characters (such as bidirectional and zero-width ones),
surrogates, and line and paragraph separators."""


def printable(text: str) -> str:
    """Escape control characters, line breaks, and invisible characters."""
    return text if text.isprintable() else _ODD.sub(lambda match: escaped(match[0]), text)


def printable_lines(text: str) -> str:
    """Escape text as :func:`printable` does, but keep its line feeds."""
    return "\n".join(map(printable, text.split("\n")))


def escaped(letter: str) -> str:
    """Return a character, or its escape sequence if it is a control character."""
    if not is_controlling(letter):
        return letter
    number = ord(letter)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def is_controlling(letter: str) -> bool:
    """Whether a character can move, hide, or reorder others, or ends a line."""
    import unicodedata

    return unicodedata.category(letter) in _CONTROLLING
