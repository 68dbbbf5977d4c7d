"""Status file of the gateway process, for the commands."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from toolkit.private import write_private

from ..fleet import Object

IDENTITY = "door"
"""User name of the process at the API server."""
STATUS = "status.json"


@dataclass(frozen=True, slots=True)
class DoorStatus:
    """Result of the last translation.

    Attributes:
        of: Digest of the objects (:func:`digest_of`).
        problems: Objects that Envoy Gateway rejected.
        error: Why the translation failed; the previous configuration stays.
        ports: Loopback port by name of the listener.
    """

    of: str
    ports: dict[str, int]
    problems: tuple[str, ...] = ()
    error: str = ""

    def write(self, file: Path) -> None:
        write_private(file, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, file: Path) -> "DoorStatus | None":
        """Read the file; None if it is missing or invalid."""
        try:
            return TypeAdapter(cls).validate_json(file.read_bytes())
        except (OSError, ValidationError):
            return None


def digest_of(objects: tuple[Object, ...], version: str) -> str:
    """Return a digest of the objects and of the process's version."""
    return hashlib.sha256(json.dumps([objects, version], sort_keys=True).encode()).hexdigest()
