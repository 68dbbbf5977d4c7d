"""Templates of HTML pages: everything is escaped, and a page allows no style but its own."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from components.contract.texts.printable import printable

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

FOLDER = Path(__file__).parent


class Stylesheet(NamedTuple):
    """The style of a page, and its digest for the content security policy."""

    text: "Markup"
    digest: str


def stylesheet() -> Stylesheet:
    """Return the style of all pages."""
    from markupsafe import Markup

    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    # A file of this package.
    return Stylesheet(Markup(style), base64.b64encode(hashlib.sha256(style.encode()).digest()).decode())  # noqa: S704


@cache
def load_template(folder: Path, name: str) -> "Template":
    """Return a template of a folder."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def without_control_characters(value: object) -> object:
        """Remove control and bidirectional characters from every value."""
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=without_control_characters,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
