"""What happened lately."""

import logging
import time
from collections import deque

from ..control import FleetNote, NoteKind

_KEPT = 200
_LOG = logging.getLogger(__name__)


class FleetNotes:
    """The last notes, the newest last. The log has all of them."""

    def __init__(self) -> None:
        self._notes: deque[FleetNote] = deque(maxlen=_KEPT)

    def add(
        self, kind: NoteKind, text: str, at: float | None = None, *, victim: str = "", preemptor: str = ""
    ) -> None:
        """Note that something happened.

        Args:
            kind: What it is about.
            text: What happened.
            at: When, in seconds since the epoch; now, without.
            victim: The pod that was preempted, if that is what happened.
            preemptor: The pod for which it was.
        """
        _LOG.info("%s: %s", kind.value, text)
        self._notes.append(FleetNote(time.time() if at is None else at, kind, text, victim, preemptor))

    def all(self) -> tuple[FleetNote, ...]:
        """Return what is kept."""
        return tuple(self._notes)
