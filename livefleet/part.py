"""What the parts of the live fleet have in common: ``up`` starts them, ``down`` stops them."""

from collections.abc import Callable
from typing import Protocol

from .folder import LiveFolder
from .served import LiveFleet

Progress = Callable[[str], None]


class LivePart(Protocol):
    """One process, or several that come and go together."""

    @property
    def name(self) -> str:
        """Names its files and its log."""

    def is_wanted(self, fleet: LiveFleet) -> bool:
        """Tell whether a stack needs it."""

    def unbuilt(self) -> tuple[str, ...]:
        """Return the programs that :meth:`prepare` has to build first, which takes minutes."""

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:
        """Build or install what it needs, once for all clones.

        Raises:
            UserError: that cannot be had here; says what would help. The stack works without the part.
        """

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        """Start it, or bring what runs up to date; return when it works. May be called again at any time.

        Raises:
            UserError: it did not start; the message holds the end of its log.
        """

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Stop its processes and forget its addresses; return the names of those that ran."""
