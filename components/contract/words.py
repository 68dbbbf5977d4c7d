"""Enums of the words that settings, arguments, and commands accept."""

import enum
from typing import Any


class Word(enum.StrEnum):
    """Base of enums whose members equal their text."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:  # noqa: ANN401  pydantic's own types
        """Accept text also in strict mode, because YAML has no enums."""
        return {**handler(source), "strict": False}
