"""Other programs that apply an object (``writers.yaml``), by the labels, annotations and field managers they leave.

Somebody may have used kubectl since, so that the last writer of an object is not its only one.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.contract.tables import load_table
from components.fleet.objects import Object


@dataclass(frozen=True, slots=True)
class OtherWriter:
    """A program that applies an object.

    Attributes:
        name: The program.
        source: The name of its own resource, such as a Helm release; empty if the object does not name it.
        end: What to end, so that it leaves the object.
        ignore: What to set, so that it ignores the object.
    """

    name: str
    source: str
    end: str
    ignore: str

    @property
    def title(self) -> str:
        """The program, and the name of its own resource."""
        return f"{self.name} ({self.source})" if self.source else self.name

    @property
    def warning(self) -> str:
        """What it does to changes by others, and what to do about it."""
        return f"{self.title} applies it too, and would undo changes: {self.end}; or {self.ignore}"


def writers_of(body: Object, former: Iterable[str] = ()) -> Iterator[OtherWriter]:
    """Yield the programs that apply an object, in the order of the table.

    Args:
        body: The object.
        former: Field managers that no longer own any of its fields.
    """
    metadata = body["metadata"]
    labels, annotations = (_texts(metadata.get(key)) for key in ("labels", "annotations"))
    managers = [*former]
    managers += [
        str(entry.get("manager") or "")
        for entry in metadata.get("managedFields") or ()
        if isinstance(entry, dict) and not entry.get("subresource")
    ]
    for row in _rows():
        marked = any(_matches(key, labels) for key in row.get("labels", ()))
        marked = marked or any(_matches(key, annotations) for key in row.get("annotations", ()))
        written = any(manager.startswith(name) for name in row.get("managers", ()) for manager in managers)
        if marked or written:
            named = row.get("named", "")
            yield OtherWriter(row["name"], labels.get(named) or annotations.get(named, ""), row["end"], row["ignore"])


def _matches(wanted: str, values: Mapping[str, str]) -> bool:
    """Return whether a map has a key, a key with the beginning before ``*``, or a key with a value."""
    key, joint, value = wanted.partition("=")
    if key.endswith("*"):
        return any(name.startswith(key[:-1]) for name in values)
    if key not in values or not joint:
        return key in values
    return values[key].startswith(value[:-1]) if value.endswith("*") else values[key] == value


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, dict) else {}


@functools.cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(load_table(__package__, "writers.yaml"))
