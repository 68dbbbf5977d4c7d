"""What was applied: rows.py says what one resource is, store.py keeps them."""

from .rows import Intent, StateRow
from .store import State, StateError

__all__ = ["Intent", "State", "StateError", "StateRow"]
