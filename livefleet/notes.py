"""What happened since one looked last."""

from .control import FleetNote


def new_notes(before: tuple[FleetNote, ...], after: tuple[FleetNote, ...]) -> tuple[FleetNote, ...]:
    """Return what is new in a list that forgets its oldest notes: all behind the longest common part."""
    for length in range(min(len(before), len(after)), 0, -1):
        if before[-length:] == after[:length]:
            return after[length:]
    return after
