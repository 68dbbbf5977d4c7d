"""A text of limited length: what matters most stays, and what does not find room is counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field

LIMIT = 65_536
"""Characters of a comment on GitHub ("Body is too long (maximum is 65536 characters)"); GitLab allows more."""
_HEADROOM = 512
"""For what a workflow adds."""
_SPARE = 200
"""Characters that the line about what was left out takes, at most."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that stay together."""

    lines: tuple[str, ...]

    @property
    def size(self) -> int:
        """Characters, as GitHub counts them: a character outside of the basic plane may be two."""
        return sum(len(line.encode("utf-16-le", "replace")) // 2 + 1 for line in self.lines)


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of the text.

    Attributes:
        name: What its pieces are, where some are left out: ``models``.
        rank: How much it matters; the lowest matters most.
        before: Lines before its pieces.
        after: Lines after them.
        share: How much of the whole it may take while others want room, in percent.
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
        """Characters that it takes beside its pieces."""
        return Piece((*self.before, *self.after)).size + _SPARE + len(self.rest) + len(self.name)


def limited(parts: Sequence[Passage], limit: int = LIMIT) -> str:
    """Return as much of the parts as there is room for, in their order.

    Every part first gets its share, the ones that matter most first, and then of what is left as much as it wants.
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
    """Return how many characters the next pieces take that find room, and how many these are."""
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
