"""Names and words of other packages that reports may show. Each command imports this module at its start."""

from collections.abc import Callable
from typing import NamedTuple


class Vocabulary(NamedTuple):
    """Names and words that are known to hold no secret.

    Attributes:
        is_variable: Whether a variable of this name is known.
        accepts: Whether a flag is known and takes this value; None for an unknown flag.
        most_values: How many words after a flag are its values; None if it is not known, or takes more than one.
        is_script: Whether a text is a script that this project writes.
        words: Programs, subcommands and values of enumerations.
    """

    is_variable: Callable[[str], bool] = lambda _: False
    accepts: Callable[[str, str], bool | None] = lambda _, __: None
    most_values: Callable[[str], int | None] = lambda _: None
    is_script: Callable[[str], bool] = lambda _: False
    words: frozenset[str] = frozenset()


_vocabularies: list[Callable[[], Vocabulary]] = []


def register_vocabulary(load: Callable[[], Vocabulary]) -> None:
    """Add words of a package that this one must not import. They are loaded when a value is shown."""
    _vocabularies.append(load)


def vocabularies() -> list[Vocabulary]:
    """Return the words of all packages."""
    return [load() for load in _vocabularies]
