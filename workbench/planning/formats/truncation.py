"""Truncation of a text to a maximum length: the least important pieces are left out and counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field

LIMIT = 65_536
"""Characters of a comment on GitHub ("Body is too long (maximum is 65536 characters)"); GitLab allows more."""
_HEADROOM = 512
"""Characters reserved for text that a workflow adds."""
_SPARE = 200
"""Characters reserved for the line that counts omitted pieces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that are kept or left out together."""

    lines: tuple[str, ...]

    @property
    def size(self) -> int:
        """The length in UTF-16 code units, as GitHub counts characters."""
        return sum(len(line.encode("utf-16-le", "replace")) // 2 + 1 for line in self.lines)


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of the text.

    Attributes:
        name: Plural noun for its pieces, for the line that counts omitted ones: ``models``.
        rank: Priority; the lowest is the most important.
        before: Lines before its pieces.
        after: Lines after its pieces.
        share: Percentage of the limit that is reserved for it.
    """

    name: str
    rank: int
    pieces: tuple[Piece, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    share: int = 20
    rest: str = field(default="and {number} more {name}; the report as HTML has them all")

    @property
    def frame(self) -> int:
        """The length without pieces."""
        return Piece((*self.before, *self.after)).size + _SPARE + len(self.rest) + len(self.name)


def limited(parts: Sequence[Passage], limit: int = LIMIT) -> str:
    """Return as much of the parts as fits, in their order.

    By rank, each part first gets its share; then the remaining room is distributed.
    """
    left = limit - _HEADROOM
    shown = dict.fromkeys(range(len(parts)), -1)
    ranked = sorted(shown, key=lambda place: (parts[place].rank, place))
    for place in ranked:
        part = parts[place]
        if part.frame <= left:
            left -= part.frame
            shown[place] = 0
    for share in (True, False):
        for place in ranked:
            part = parts[place]
            room = min(left, limit * part.share // 100) if share else left
            taken, number = _taken(part.pieces, max(shown[place], 0), room)
            if shown[place] >= 0:
                shown[place], left = shown[place] + number, left - taken
    lines = [line for place, part in enumerate(parts) for line in _lines(part, shown[place])]
    return "\n".join(line for before, line in zip(["", *lines], lines, strict=False) if line or before) + "\n"


def _taken(pieces: Sequence[Piece], first: int, room: int) -> tuple[int, int]:
    """Return the total length and the number of the next pieces that fit."""
    taken = number = 0
    for piece in pieces[first:]:
        if taken + piece.size > room:
            break
        taken, number = taken + piece.size, number + 1
    return taken, number


def _lines(part: Passage, shown: int) -> list[str]:
    if shown < 0:
        return []
    left_out = len(part.pieces) - shown
    rest = ["", part.rest.format(number=f"{left_out:,}", name=part.name)] if left_out else []
    pieces = [line for piece in part.pieces[:shown] for line in piece.lines]
    return [*part.before, *pieces, *rest, *part.after]
