"""Answers and embeddings: what they say is made up, always the same for the same question, and says so."""

import hashlib
import math
import struct
from dataclasses import dataclass
from typing import Protocol

from .tokens import pieces

_TEXT = (
    "a able acre age air all also and arch area as at away back bag band bay be bell best bird blue boat book both "
    "bow box bus by cake call calm can card city clay coat cold cup day deep deer desk door down drum dry each ear "
    "east easy edge end even ever eye fair fall far farm few find fine fire fish flat fog food foot for four free "
    "from full gate glad gold good gray hall hand hat hen here high hill home hour how ice in ink iron is it jar "
    "just keep kind lake lamp land last late leaf left lid life like line lion lip long look lot low made main map "
    "mark may milk mill mind moon more most name near neat new next nine no noon not note now oak oar of off oil "
    "old on once one only open or oven over page pair park part path pen pine plan pond poor port quay rain red "
    "rest rice ring road rock roof room root rope row safe salt sand sea seed ship side silk six sky slow snow so "
    "soft soil some song soon star stem step sun tall team ten than that the then this tide time to toe tool top "
    "town tray tree two up vase very view wall warm wave way well west when wide will wind wine wing wood word yard "
    "year yes yet zone"
)
_WORDS = tuple(_TEXT.split())
"""Words of one token each."""
_SENTENCE = 12
"""Tokens of a sentence, with its full stop."""
_SEARCHED = 8192
"""Tokens in which stop sequences are looked for: every word was there by then."""
_SHORTEST, _LONGEST = 40, 240
"""Tokens of an answer that ends by itself."""


def seed_of(*parts: object) -> int:
    """Return a number that is the same for the same parts, in every run."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        text = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "big") + text)
    return int.from_bytes(digest.digest(), "big")


def natural_length(seed: int) -> int:
    """Return after how many tokens an answer ends by itself."""
    return _SHORTEST + seed % (_LONGEST - _SHORTEST + 1)


class TokenText(Protocol):
    """A text, token by token."""

    def piece(self, number: int) -> str:
        """Return a token, counted from 0."""

    def text(self, first: int, end: int) -> str:
        """Return the tokens from one to before another, as text."""


class FixedText:
    """A text that is known as a whole, such as a JSON object that a schema asks for.

    Attributes:
        length: How many tokens it has.
    """

    __slots__ = ("_pieces", "length")

    def __init__(self, text: str) -> None:
        self._pieces = pieces(text) or [""]
        self.length = len(self._pieces)

    def piece(self, number: int) -> str:
        """Return a token, counted from 0."""
        return self._pieces[number] if number < self.length else ""

    def text(self, first: int, end: int) -> str:
        """Return the tokens from one to before another, as text."""
        return "".join(self._pieces[first:end])


class AnswerText:
    """The text of an answer: its first words say that it is simulated, plain words follow.

    Any of its tokens is had without those before it.

    Args:
        model: Whose answer it is.
        seed: The same seed gives the same words.
    """

    __slots__ = ("_head", "_seed")

    def __init__(self, model: str, seed: int) -> None:
        self._head = pieces(f"Simulated answer of {model}:")
        self._seed = seed

    def piece(self, number: int) -> str:
        """Return a token, counted from 0."""
        if number < len(self._head):
            return self._head[number]
        at = number - len(self._head)
        if at % _SENTENCE == _SENTENCE - 1:
            return "."
        mixed = (self._seed + at * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        return " " + _WORDS[(mixed >> 40) % len(_WORDS)]

    def text(self, first: int, end: int) -> str:
        """Return the tokens from one to before another, as text."""
        return "".join(map(self.piece, range(first, end)))


@dataclass(frozen=True, slots=True)
class PlannedText:
    """An answer as it will be.

    Attributes:
        tokens: How many it has.
        finish: Why it ends: ``stop`` or ``length``.
        shown: How many of its tokens clients see wholly: a stop sequence and what follows is not shown.
        rest: What they see of the next one.
        stop: The sequence that ended it.
        most: Tokens that it may have.
        structured: Whether its form is what the client asked for.
    """

    text: TokenText
    tokens: int
    finish: str
    shown: int
    rest: str = ""
    stop: str | None = None
    most: int = 0
    structured: bool = False

    def piece(self, number: int) -> str:
        """Return what clients see of a token."""
        if number < self.shown:
            return self.text.piece(number)
        return self.rest if number == self.shown else ""

    @property
    def whole(self) -> str:
        """What clients see of all."""
        return self.text.text(0, self.shown) + self.rest


def planned_text(text: TokenText, natural: int, most: int, stops: tuple[str, ...] = ()) -> PlannedText:
    """Return an answer that ends by itself, at the most tokens that it may have, or at a stop sequence.

    Args:
        text: Its words.
        natural: Tokens after which it ends by itself.
        most: Tokens that it may have.
        stops: Sequences that end it.
    """
    tokens, finish = (natural, "stop") if natural <= most else (most, "length")
    whole = text.text(0, min(tokens, _SEARCHED)) if any(stops) else ""
    found = min(((at, stop) for stop in stops if stop and (at := whole.find(stop)) >= 0), default=None)
    if found is None:
        return PlannedText(text, tokens, finish, tokens, most=most)
    at, stop = found
    shown, before = _tokens_within(text, at)
    tokens, _ = _tokens_within(text, at + len(stop) - 1)
    return PlannedText(text, tokens + 1, "stop", shown, whole[before:at], stop, most)


def _tokens_within(text: TokenText, characters: int) -> tuple[int, int]:
    """Return how many tokens end within so many characters, and where the last of them ends."""
    tokens = length = 0
    while (end := length + len(text.piece(tokens))) <= characters:
        tokens, length = tokens + 1, end
    return tokens, length


def embedding(model: str, content: str, dimensions: int) -> list[float]:
    """Return a vector of length 1: the same for the same text, another one for another."""
    digest = hashlib.shake_256(seed_of(model, content).to_bytes(8, "big")).digest(2 * dimensions)
    # Odd numbers: none of them is zero, and so is not the length.
    values = [2 * value + 1 for value in struct.unpack(f"<{dimensions}h", digest)]
    length = math.hypot(*values)
    return [value / length for value in values]
