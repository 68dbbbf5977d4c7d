"""Generated answers and embeddings, which are deterministic and say that they are simulated."""

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
"""Tokens in which stop sequences are searched: every word has occurred by then."""
_SHORTEST, _LONGEST = 40, 240
"""Range of the length of answers without a limit, in tokens."""


def seed_of(*parts: object) -> int:
    """Return a stable hash of the parts."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        text = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "big") + text)
    return int.from_bytes(digest.digest(), "big")


def natural_length(seed: int) -> int:
    """Return the length of an answer without a limit, in tokens."""
    return _SHORTEST + seed % (_LONGEST - _SHORTEST + 1)


class TokenText(Protocol):
    """Text that can be accessed by token."""

    def piece(self, number: int) -> str:
        """Return the token at an index."""

    def text(self, first: int, end: int) -> str:
        """Return the text of the tokens from ``first`` to before ``end``."""


class FixedText:
    """A fixed text, such as structured output.

    Attributes:
        length: Length in tokens.
    """

    __slots__ = ("_pieces", "length")

    def __init__(self, text: str) -> None:
        self._pieces = pieces(text) or [""]
        self.length = len(self._pieces)

    def piece(self, number: int) -> str:
        """Return the token at an index."""
        return self._pieces[number] if number < self.length else ""

    def text(self, first: int, end: int) -> str:
        """Return the text of the tokens from ``first`` to before ``end``."""
        return "".join(self._pieces[first:end])


class AnswerText:
    """An endless text: a head that says that it is simulated, then pseudorandom words.

    Each token is computed without those before it.

    Args:
        model: Name of the model in the head.
        seed: Seed of the words.
    """

    __slots__ = ("_head", "_seed")

    def __init__(self, model: str, seed: int) -> None:
        self._head = pieces(f"Simulated answer of {model}:")
        self._seed = seed

    def piece(self, number: int) -> str:
        """Return the token at an index."""
        if number < len(self._head):
            return self._head[number]
        at = number - len(self._head)
        if at % _SENTENCE == _SENTENCE - 1:
            return "."
        mixed = (self._seed + at * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        return " " + _WORDS[(mixed >> 40) % len(_WORDS)]

    def text(self, first: int, end: int) -> str:
        """Return the text of the tokens from ``first`` to before ``end``."""
        return "".join(map(self.piece, range(first, end)))


@dataclass(frozen=True, slots=True)
class PlannedText:
    """The complete answer, known before it is generated.

    Attributes:
        tokens: Length in tokens.
        finish: Finish reason: ``stop`` or ``length``.
        sent: Number of tokens that are sent completely: stop sequences are not sent.
        rest: Part of the next token that is sent.
        stop: The stop sequence that ends it.
        max_tokens: Limit of the request.
        structured: Whether it is structured output.
    """

    text: TokenText
    tokens: int
    finish: str
    sent: int
    rest: str = ""
    stop: str | None = None
    max_tokens: int = 0
    structured: bool = False

    def piece(self, number: int) -> str:
        """Return the part of a token that is sent."""
        if number < self.sent:
            return self.text.piece(number)
        return self.rest if number == self.sent else ""

    @property
    def sent_text(self) -> str:
        """The complete text that is sent."""
        return self.text.text(0, self.sent) + self.rest


def planned_text(text: TokenText, natural: int, max_tokens: int, stops: tuple[str, ...] = ()) -> PlannedText:
    """Return an answer that ends at its natural length, at the maximum, or at a stop sequence.

    Args:
        text: The text.
        natural: Length without a limit, in tokens.
        max_tokens: Maximum tokens.
        stops: Stop sequences.
    """
    tokens, finish = (natural, "stop") if natural <= max_tokens else (max_tokens, "length")
    searched = text.text(0, min(tokens, _SEARCHED)) if any(stops) else ""
    matches = [(index, stop) for stop in stops if stop and (index := searched.find(stop)) >= 0]
    if not matches:
        return PlannedText(text, tokens, finish, tokens, max_tokens=max_tokens)
    index, stop = min(matches)
    sent, length = _tokens_within(text, index)
    tokens, _ = _tokens_within(text, index + len(stop) - 1)
    return PlannedText(
        text=text,
        tokens=tokens + 1,
        finish="stop",
        sent=sent,
        rest=searched[length:index],
        stop=stop,
        max_tokens=max_tokens,
    )


def _tokens_within(text: TokenText, characters: int) -> tuple[int, int]:
    """Return the number of tokens that end within a number of characters, and the end of the last one."""
    tokens = length = 0
    while (end := length + len(text.piece(tokens))) <= characters:
        tokens, length = tokens + 1, end
    return tokens, length


def embedding(model: str, content: str, dimensions: int) -> list[float]:
    """Return a pseudorandom unit vector that depends on the model and the text."""
    digest = hashlib.shake_256(seed_of(model, content).to_bytes(8, "big")).digest(2 * dimensions)
    # Odd numbers, so that the vector is never zero.
    values = [2 * value + 1 for value in struct.unpack(f"<{dimensions}h", digest)]
    length = math.hypot(*values)
    return [value / length for value in values]
