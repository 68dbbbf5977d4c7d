"""What the process of the door says of itself to the commands: a file."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from toolkit.private import write_private

from ..fleet import Object

IDENTITY = "door"
"""Who the process is to the API server."""
STATUS = "status.json"


@dataclass(frozen=True, slots=True)
class DoorStatus:
    """What was made of objects.

    Attributes:
        of: Tells the objects from others (:func:`digest_of`).
        problems: What Envoy Gateway did not take of them.
        error: Why it took none; what was there before stays.
        ports: Port on loopback by name of the listener.
    """

    of: str
    ports: dict[str, int]
    problems: tuple[str, ...] = ()
    error: str = ""

    def write(self, file: Path) -> None:
        """Write it down."""
        write_private(file, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, file: Path) -> "DoorStatus | None":
        """Return what was written; None before that."""
        try:
            return TypeAdapter(cls).validate_json(file.read_bytes())
        except (OSError, ValidationError):
            return None


def digest_of(objects: tuple[Object, ...], version: str) -> str:
    """Return what tells objects, and the process that read them, from others."""
    return hashlib.sha256(json.dumps([objects, version], sort_keys=True).encode()).hexdigest()
