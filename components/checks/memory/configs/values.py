"""Keys of a ``config.json``, each checked when it is read: the file is whatever somebody has."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

_LONGEST = 4_000_000
"""Characters of the longest text that is read: the largest configurations have some ten thousand."""
_MOST = 10**9
"""The largest number that a dimension can be."""


@dataclass(frozen=True, slots=True)
class ConfigValues:
    """A JSON object of a configuration.

    Attributes:
        name: What the configuration is called, for messages.
        path: Of the object within it, with a dot at its end.
        behind: An object that has what this one lacks: what a text model does not say, the whole model may.
    """

    name: str
    keys: Mapping[str, Any]
    path: str = ""
    behind: "ConfigValues | None" = None

    def __contains__(self, key: str) -> bool:
        """Tell whether a key is there and not null."""
        return self.keys.get(key) is not None

    def number(self, *keys: str, least: int = 1, most: int = _MOST) -> int:
        """Return the whole number of the first of some keys that is there."""
        found = self.maybe(*keys, least=least, most=most)
        if found is None:
            self._fail(keys[0], "is missing")
        return found

    def maybe(self, *keys: str, least: int = 1, most: int = _MOST) -> int | None:
        """Return the whole number of the first of some keys that is there; None without any."""
        for key in keys:
            value = self.keys.get(key)
            if value is not None:
                return self._whole(key, value, least, most)
        return None

    def factor(self, key: str) -> Decimal | None:
        """Return a positive number; None where it is not there."""
        value = self.keys.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
            self._fail(key, f"is {_shown(value)}, and must be a number above 0 and at most {_MOST}")
        return Decimal(str(value))

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return whether something is so."""
        value = self.keys.get(key)
        if value is None:
            return self.behind.flag(key, default=default) if self.behind else default
        if not isinstance(value, bool):
            self._fail(key, f"is {_shown(value)}, and must be true or false")
        return value

    def text(self, *keys: str) -> str:
        """Return the text of the first of some keys that is there; empty without any."""
        for key in keys:
            value = self.keys.get(key)
            if value is not None:
                if not isinstance(value, str) or len(value) > _LONGEST // 100:
                    self._fail(key, f"is {_shown(value)}, and must be a text")
                return value
        return self.behind.text(*keys) if self.behind else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty where it is not there."""
        return tuple(self._items(key, str, "texts"))

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of whole numbers; empty where it is not there."""
        return tuple(self._items(key, int, "whole numbers"))

    def part(self, key: str) -> "ConfigValues | None":
        """Return an object within this one; None where it is not there."""
        value = self.keys.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._fail(key, f"is {_shown(value)}, and must be an object")
        return ConfigValues(self.name, value, f"{self.path}{key}.")

    def _whole(self, key: str, value: object, least: int, most: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._fail(key, f"is {_shown(value)}, and must be a whole number from {least} to {most}")
        return value

    def _items(self, key: str, kind: type, words: str) -> Iterator[Any]:
        value = self.keys.get(key)
        if value is None:
            return
        if not isinstance(value, list) or any(not isinstance(item, kind) or isinstance(item, bool) for item in value):
            self._fail(key, f"is {_shown(value)}, and must be a list of {words}")
        yield from value

    def _fail(self, key: str, what: str) -> NoReturn:
        raise ValueError(f"{self.name}: {self.path}{key} {what}")


def parsed(text: str, name: str) -> ConfigValues:
    """Return the object that a text holds; raise ValueError with a plain message."""
    if len(text) > _LONGEST:
        raise ValueError(f"{name}: has {len(text):,} characters; a config.json has at most {_LONGEST:,}")

    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(f"{name}: is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{name}: is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{name}: is {_shown(found)}, and must be an object")  # noqa: TRY004 - as all else here
    return ConfigValues(name, found)


def _shown(value: object) -> str:
    """Return how messages quote a value: a huge number has more digits than Python likes to print."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MOST**2:
        return "a number of more than 18 digits"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
