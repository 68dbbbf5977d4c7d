"""Closed vocabularies: words that settings, arguments and commands take, each equal to its text."""

import enum
from typing import Any


class Word(enum.StrEnum):
    """A word of a closed vocabulary."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:  # noqa: ANN401  pydantic's own types
        """Take a text for the word, in strict settings too: YAML knows no enums."""
        return {**handler(source), "strict": False}
