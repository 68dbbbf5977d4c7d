"""Finds characters that a reader of a manifest or of settings does not see, or takes for others.

They come from copied web pages and chats, or are written on purpose: people and programs then read different texts
(CVE-2021-42574, "Trojan Source").
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..base import Json
from .printable import is_controlling, lookalikes, plain_letter

_JOINING = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
"""Joiners between letters of Persian and Indic texts, and in emoji."""
_NOT_ASCII = re.compile("[^\t\n\x20-\x7e]")
_SHOWN = 3
_FREE_TEXT = ("metadata", "annotations")


class Unseen(NamedTuple):
    """A text with such characters.

    Attributes:
        path: Its field.
        reason: The characters, and what to do.
        is_free: Whether people read the text rather than programs: an annotation, or several lines.
    """

    path: tuple[str | int, ...]
    reason: str
    is_free: bool


def unseen_texts(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[Unseen]:
    """Yield the texts and keys of a value that have such characters.

    Args:
        value: A parsed manifest, or a part of one.
        path: Its field.
    """
    if isinstance(value, str):
        is_free = "\n" in value or path[:2] == _FREE_TEXT
        reason = unseen_reason(value, free=is_free)
        if reason:
            yield Unseen(path, reason, is_free)
    elif isinstance(value, dict):
        for key, inner in value.items():
            key = str(key)
            reason = unseen_reason(key)
            if reason:
                yield Unseen((*path, key), f"the key {reason}", is_free=False)
            yield from unseen_texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from unseen_texts(inner, (*path, index))


def unseen_reason(text: str, *, free: bool = False) -> str:
    """Return why a text reads otherwise than it is written; empty if it does not.

    Args:
        text: The text.
        free: Whether people read it, so that spaces of other widths and words of other alphabets are usual.
    """
    if text.isascii() and not _NOT_ASCII.search(text):
        return ""
    # Windows ends the lines of a script by a carriage return and a line feed.
    odd = _NOT_ASCII.findall(_JOINING.sub("", text.replace("\r\n", "\n")))
    hidden = [letter for letter in odd if is_controlling(letter) and not (free and _is_space(letter))]
    similar = [] if free else lookalikes(text)
    return _reason(dict.fromkeys((*hidden, *similar)))


def unseen_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, from 1, of a YAML text with such characters outside of its values, and why.

    Args:
        text: The text; nothing is yielded if it is not YAML.
    """
    lone = re.search(r"\r(?!\n)", text)
    if lone:
        yield (
            len(re.findall(r"\r\n?|\n", text[: lone.start()])) + 1,
            "ends with a carriage return (U+000D) alone, which editors and terminals do not show as an end; "
            "end lines with line feeds, as `workbench migrate --write` does",
        )
    if text.isascii() or not unseen_reason(text, free=True):
        return
    import yaml

    outside, end = list[str](), 0
    try:
        for token in yaml.scan(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(token, yaml.ScalarToken):
                start = token.start_mark.index
                # Line breaks stay, so that lines can be counted.
                outside += [text[end:start], re.sub(r"[^\r\n]", "", text[start : token.end_mark.index])]
                end = token.end_mark.index
    except (yaml.YAMLError, UnicodeEncodeError):
        return
    for number, line in enumerate(re.split(r"\r\n?|\n", "".join([*outside, text[end:]])), start=1):
        reason = unseen_reason(line, free=True)
        if reason:
            yield number, f"a comment {reason}"


def _reason(letters: Iterable[str]) -> str:
    """Return what to do about distinct characters of a text; empty without any."""
    found = list(letters)
    if not found:
        return ""
    import unicodedata

    parts, similar = [], 0
    for letter in found[:_SHOWN]:
        seen = plain_letter(letter) or (" " if _is_space(letter) else "")
        similar += bool(seen)
        name = unicodedata.name(letter, "control character" if ord(letter) < 0xA0 else "without a name")
        parts.append(f"U+{ord(letter):04X} ({name}), which {f'looks like {seen!r}' if seen else 'is not seen'}")
    more = f", and {len(found) - _SHOWN} more such characters" if len(found) > _SHOWN else ""
    remedies = [
        *(["remove what is not seen"] if similar < len(parts) else []),
        *(["write what it looks like"] * bool(similar)),
    ]
    return f"contains {', '.join(parts)}{more}; {' and '.join(remedies)}"


def _is_space(letter: str) -> bool:
    import unicodedata

    return unicodedata.category(letter) == "Zs"
