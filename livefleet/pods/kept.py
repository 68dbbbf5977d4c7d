"""What the process keeps between runs, so that who knows its address finds it again."""

import json
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.ports import LOOPBACK
from toolkit.private import write_private


@dataclass(frozen=True, slots=True)
class Kept:
    """Port and token of the control address."""

    file: Path
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @classmethod
    def read(cls, file: Path) -> "Kept":
        """Return what a file holds; a new token where there is none."""
        try:
            found = json.loads(file.read_text())
            return cls(file, int(found["port"]), str(found["token"]))
        except (OSError, ValueError, TypeError, KeyError):
            return cls(file)

    def listening(self, port: int) -> "Kept":
        """Remember the port."""
        kept = replace(self, port=port)
        write_private(self.file, json.dumps({"port": port, "token": self.token}).encode())
        return kept

    @property
    def url(self) -> str:
        """Where the process listens."""
        return f"http://{LOOPBACK}:{self.port}"
