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
    rest: str = field(default="and {number} more {name}; the HTML report lists all of them")

    @property
    def frame(self) -> int:
        """The length without pieces."""
        return Piece((*self.before, *self.after)).size + _SPARE + len(self.rest) + len(self.name)


def limited(parts: Sequence[Passage], limit: int = LIMIT) -> str:
    """Return as much of the parts as fits, in their order.

    By rank, each part first gets its share; then the remaining room is distributed.
    """
    left = limit - _HEADROOM
    kept: dict[int, int] = {}  # number of pieces by position of the part; a part whose frame does not fit is absent
    for position in sorted(range(len(parts)), key=lambda position: (parts[position].rank, position)):
        if parts[position].frame <= left:
            left -= parts[position].frame
            kept[position] = 0
    for is_share in (True, False):
        for position, number in kept.items():
            part = parts[position]
            room = min(left, limit * part.share // 100) if is_share else left
            for piece in part.pieces[number:]:
                if piece.size > room:
                    break
                room, left = room - piece.size, left - piece.size
                kept[position] += 1
    lines: list[str] = []
    for position, number in sorted(kept.items()):
        part = parts[position]
        omitted = len(part.pieces) - number
        lines += part.before
        lines += (line for piece in part.pieces[:number] for line in piece.lines)
        lines += ["", part.rest.format(number=f"{omitted:,}", name=part.name)] if omitted else []
        lines += part.after
    # Parts end and begin with blank lines; keep one of several.
    return "\n".join(line for before, line in zip(["", *lines], lines, strict=False) if line or before) + "\n"
