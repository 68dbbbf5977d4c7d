"""What a load came to, written where it is wanted."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.errors import UserError
from toolkit.plotting.pictures import check_drawing
from toolkit.printing import Format

from .client import LoadTarget
from .fleet.summary import FleetSummary
from .summary import LoadSummary

_FORMS = (".html", ".json")


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What became of a load.

    Attributes:
        whole: Whether it went to its end.
        clients: What clients saw.
        fleet: What the live fleet said meanwhile; None of any other server.
    """

    target: LoadTarget
    whole: bool
    clients: LoadSummary
    fleet: FleetSummary | None

    @property
    def title(self) -> str:
        """What was asked."""
        ways = [", simulated"] * (self.fleet is not None) + [", interrupted"] * (not self.whole)
        return f"{self.target.model} at {self.target.url}" + "".join(ways)

    def as_json(self) -> str:
        """Return everything, as a document for other programs."""
        head = {"model": self.target.model, "url": self.target.url, "whole": self.whole}
        fleet = {"fleet": self.fleet.as_dict()} if self.fleet else {}
        return json.dumps({**head, **self.clients.as_dict(), **fleet}, indent=2) + "\n"


def check_files(paths: Sequence[Path]) -> None:
    """Refuse files that could not be written in the end.

    Raises:
        UserError: one has another suffix, no folder, or pictures that nothing can draw.
    """
    for path in paths:
        if path.suffix not in _FORMS:
            raise UserError(f"--save: must end in {' or '.join(_FORMS)}, found {str(path)!r}", 2)
        if not path.parent.is_dir():
            raise UserError(f"--save: there is no folder {str(path.parent)!r}", 2)
        if path.suffix != ".json":
            check_drawing()


def write(found: LoadResult, paths: Sequence[Path], output: Format) -> None:
    """Write files, and what goes to the terminal.

    Raises:
        UserError: a file cannot be written.
    """
    from .page import page
    from .report import show

    text = found.as_json()
    for path in paths:
        content = text if path.suffix == ".json" else page(found.clients, found.fleet, found.title)
        try:
            path.write_text(content, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--save: {path}: {error.strerror}") from None
    if output is Format.JSON:
        sys.stdout.write(text)
    else:
        show(found.clients, found.fleet, found.title)
