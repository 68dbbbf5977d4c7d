"""What happened lately."""

import logging
import time
from collections import deque

from ..control_api import FleetNote, NoteKind

_KEPT = 200
_LOG = logging.getLogger(__name__)


class FleetNotes:
    """The last notes, the newest last. The log has all of them."""

    def __init__(self) -> None:
        self._notes: deque[FleetNote] = deque(maxlen=_KEPT)

    def add(
        self, kind: NoteKind, text: str, at: float | None = None, *, victim: str = "", preemptor: str = ""
    ) -> None:
        """Record an event.

        Args:
            kind: Kind of event.
            text: Message.
            at: Seconds since the epoch; now by default.
            victim: The evicted pod of a preemption.
            preemptor: The pod that it was evicted for.
        """
        _LOG.info("%s: %s", kind.value, text)
        self._notes.append(FleetNote(time.time() if at is None else at, kind, text, victim, preemptor))

    def all(self) -> tuple[FleetNote, ...]:
        """Return what is kept."""
        return tuple(self._notes)
