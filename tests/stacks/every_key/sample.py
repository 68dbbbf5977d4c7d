"""What the test of every key sets a key to."""

from dataclasses import dataclass, field
from typing import Any

TYPE = "g5.2xlarge"


@dataclass(frozen=True)
class Sample:
    """One key.

    Attributes:
        value: What it is set to.
        beside: Settings without which it means nothing; they are there before, too.
        entry: The entry of a map that it is in.
        word: What a message says for the key, if not its name.
    """

    value: Any
    beside: dict[str, Any] = field(default_factory=dict)
    entry: str = TYPE
    word: str = ""
