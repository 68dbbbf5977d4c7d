"""Typed access to the keys of a ``config.json``. Values are checked when they are read: the file may be anything."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

_LONGEST = 4_000_000
"""Maximum length of a configuration in characters; the largest known ones have some ten thousand."""
_MOST = 10**9
"""Maximum of a dimension."""


@dataclass(frozen=True, slots=True)
class ConfigValues:
    """A JSON object of a configuration.

    Attributes:
        name: Name of the configuration, for messages.
        path: Path of the object within the configuration, with a trailing dot.
        fallback: Object for flags and texts that this one does not set: for a text model, the whole model.
    """

    name: str
    keys: Mapping[str, Any]
    path: str = ""
    fallback: "ConfigValues | None" = None

    def __contains__(self, key: str) -> bool:
        """Tell whether a key is set and not null."""
        return self.keys.get(key) is not None

    def number(self, *keys: str, least: int = 1, most: int = _MOST) -> int:
        """Return the whole number of the first of several keys that is set; fail if none is."""
        found = self.maybe(*keys, least=least, most=most)
        if found is None:
            self._fail(keys[0], "is missing")
        return found

    def maybe(self, *keys: str, least: int = 1, most: int = _MOST) -> int | None:
        """Return the whole number of the first of several keys that is set; None if none is."""
        for key in keys:
            value = self.keys.get(key)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                    self._fail(key, f"is {_quoted(value)}, and must be a whole number from {least} to {most}")
                return value
        return None

    def factor(self, key: str) -> Decimal | None:
        """Return a positive number; None if it is not set."""
        value = self.keys.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
            self._fail(key, f"is {_quoted(value)}, and must be a number above 0 and at most {_MOST}")
        return Decimal(str(value))

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.keys.get(key)
        if value is None:
            return self.fallback.flag(key, default=default) if self.fallback else default
        if not isinstance(value, bool):
            self._fail(key, f"is {_quoted(value)}, and must be true or false")
        return value

    def text(self, *keys: str) -> str:
        """Return the text of the first of several keys that is set; empty if none is."""
        for key in keys:
            value = self.keys.get(key)
            if value is not None:
                if not isinstance(value, str) or len(value) > _LONGEST // 100:
                    self._fail(key, f"is {_quoted(value)}, and must be a text")
                return value
        return self.fallback.text(*keys) if self.fallback else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty if it is not set."""
        return tuple(self._items(key, str, "texts"))

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of whole numbers; empty if it is not set."""
        return tuple(self._items(key, int, "whole numbers"))

    def part(self, key: str) -> "ConfigValues | None":
        """Return an object within this one; None if it is not set. It has no fallback."""
        value = self.keys.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._fail(key, f"is {_quoted(value)}, and must be an object")
        return ConfigValues(self.name, value, f"{self.path}{key}.")

    def _items(self, key: str, kind: type, words: str) -> Iterator[Any]:
        value = self.keys.get(key)
        if value is None:
            return
        if not isinstance(value, list) or any(not isinstance(item, kind) or isinstance(item, bool) for item in value):
            self._fail(key, f"is {_quoted(value)}, and must be a list of {words}")
        yield from value

    def _fail(self, key: str, what: str) -> NoReturn:
        raise ValueError(f"{self.name}: {self.path}{key} {what}")


def parsed(text: str, name: str) -> ConfigValues:
    """Parse a JSON object; raise ValueError with a message for users."""
    if len(text) > _LONGEST:
        raise ValueError(f"{name}: has {len(text):,} characters; a config.json has at most {_LONGEST:,}")

    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(f"{name}: is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{name}: is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{name}: is {_quoted(found)}, and must be an object")  # noqa: TRY004 - as all else here
    return ConfigValues(name, found)


def _quoted(value: object) -> str:
    """Quote a value for a message. Python refuses to format numbers with thousands of digits."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MOST**2:
        return "a number of more than 18 digits"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
