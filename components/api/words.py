"""Closed vocabularies: words that settings, arguments and commands take, each equal to its text."""

import enum
from typing import Any, Self


class Word(enum.StrEnum):
    """A word of a closed vocabulary."""

    @classmethod
    def read(cls, text: str, field: str) -> Self:
        """Return the word that a field holds as text.

        Raises:
            ValueError: it is not in the vocabulary; the message names the field and its words.
        """
        try:
            return cls(text)
        except ValueError:
            raise ValueError(f"{field} must be one of {', '.join(cls)}, found {text!r}") from None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:  # noqa: ANN401  pydantic's own types
        """Take a text for the word, in strict settings too: YAML knows no enums."""
        return {**handler(source), "strict": False}
