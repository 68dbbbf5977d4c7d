"""Tokens, by a rule of our own: the model's tokenizer is not at hand.

A token is a piece of at most four letters or digits, or one other character; white space before it belongs to it.
Long texts are read in blocks, at whose ends a token ends. Prompts and answers are counted alike, and the pieces of a
text, put together again, are the text.
"""

import asyncio
import re
import zlib

_PIECE = re.compile(r"\s?\w{1,4}|\s?[^\w\s]|\s")
_BLOCK = 2**16
"""Characters that are read at once: a few milliseconds."""
_KNOWN_MOST = 100_000


def pieces(text: str) -> list[str]:
    """Return the tokens of a text."""
    return [piece for block in _blocks(text) for piece in _PIECE.findall(block)]


def count(text: str) -> int:
    """Return how many tokens a text has."""
    return sum(len(_PIECE.findall(block)) for block in _blocks(text))


async def counted(text: str) -> int:
    """Return how many tokens a text has; others get their turn while a long one is read."""
    if len(text) <= _BLOCK:
        return count(text)
    tokens = 0
    for block in _blocks(text):
        tokens += len(_PIECE.findall(block))
        await asyncio.sleep(0)
    return tokens


def _blocks(text: str) -> list[str]:
    return [text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK)]


class TokenIds:
    """Numbers of tokens, for clients that ask for them: a checksum, which is the same in every run."""

    def __init__(self) -> None:
        self._pieces: dict[int, str] = {}

    def of(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""
        found = [(zlib.crc32(piece.encode("utf-8", "replace")) & 0x7FFFFFFF, piece) for piece in pieces(text)]
        if len(self._pieces) + len(found) <= _KNOWN_MOST:
            self._pieces.update(found)
        return [number for number, _ in found]

    def text(self, numbers: list[int]) -> str:
        """Return the text of numbers; those that were not given out before are not known."""
        return "".join(self._pieces.get(number, "\N{REPLACEMENT CHARACTER}") for number in numbers)


IDS = TokenIds()
"""Those of all engines in the process."""
