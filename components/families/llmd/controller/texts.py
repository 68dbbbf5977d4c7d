"""Text that the controller reads back with Go: JSON by encoding/json, YAML by gopkg.in/yaml.v3 (c0f645c, go.mod)."""

import json
import re
from collections.abc import Iterator

from ....fleet.levels import Promise, ServiceClass

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*([./_-][A-Za-z0-9]+)*\Z", re.ASCII)
_WORDS = frozenset({"y", "yes", "n", "no", "true", "false", "on", "off", "null"})
"""What starts with a letter and is no string in YAML 1.1 or 1.2, in any case."""


def cost_entry(device: str, cents_per_hour: str) -> str:
    """Return what is said of an accelerator: an object whose values are all strings, or the whole map is refused."""
    return json.dumps({"device": _sendable(device), "cost": cents_per_hour}, ensure_ascii=False)


def class_document(given: ServiceClass) -> str:
    """Return a service class; milliseconds are bare integers, for a quoted number cannot be read."""
    return "".join(f"{line}\n" for line in _lines(given))


def _lines(given: ServiceClass) -> Iterator[str]:
    yield f"name: {scalar(given.name)}"
    yield f"priority: {given.priority}"
    yield "data:" if given.promises else "data: []"
    for model, promise in sorted(given.promises.items()):
        yield from _entry(model, promise)


def _entry(model: str, promise: Promise) -> Iterator[str]:
    yield f"  - model: {scalar(model)}"
    yield f"    slo-tpot: {promise.itl_ms}"
    yield f"    slo-ttft: {promise.ttft_ms}"


def scalar(text: str) -> str:
    """Return a string in YAML, quoted unless nobody could take it for anything else."""
    if _PLAIN.match(text) and text.lower() not in _WORDS:
        return text
    return f'"{"".join(map(_escaped, _sendable(text)))}"'


def _sendable(text: str) -> str:
    """Return a text without half characters, which settings can name and nobody can be sent."""
    return text.encode(errors="replace").decode()


def _escaped(character: str) -> str:
    """Return a character between double quotes: readers fold line breaks there, of which Unicode has several."""
    if character in '"\\':
        return f"\\{character}"
    if character == " " or character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"
