"""A simple tokenizer, because the model's own is not available.

A token is up to four letters or digits, or one other character, with the white space before it. Long texts are split
into blocks, at whose ends a token ends. The tokens of a text concatenate to the text.
"""

import asyncio
import re
import zlib

_PIECE = re.compile(r"\s?\w{1,4}|\s?[^\w\s]|\s")
_BLOCK = 2**16
"""Characters per block: a few milliseconds."""
_MAX_KNOWN = 100_000
"""Maximum number of token IDs whose text is kept."""


def pieces(text: str) -> list[str]:
    """Return the tokens of a text."""
    return [piece for block in _blocks(text) for piece in _PIECE.findall(block)]


def count(text: str) -> int:
    return sum(len(_PIECE.findall(block)) for block in _blocks(text))


async def counted(text: str) -> int:
    """Count the tokens of a text, yielding to other tasks between the blocks of a long one."""
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
    """Token ids: checksums, which are stable across runs."""

    def __init__(self) -> None:
        self._pieces: dict[int, str] = {}

    def of(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        tokens = [(zlib.crc32(piece.encode("utf-8", "replace")) & 0x7FFFFFFF, piece) for piece in pieces(text)]
        if len(self._pieces) + len(tokens) <= _MAX_KNOWN:
            self._pieces.update(tokens)
        return [number for number, _ in tokens]

    def text(self, numbers: list[int]) -> str:
        """Return the text of token ids; ids that were not returned before are unknown."""
        return "".join(self._pieces.get(number, "\N{REPLACEMENT CHARACTER}") for number in numbers)


IDS = TokenIds()
"""Shared by all engines in the process."""
