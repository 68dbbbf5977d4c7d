"""Plots as files, reproducible byte for byte."""

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from components.contract.texts.printable import printable
from toolkit.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Corner = Literal["upper right", "upper left", "lower right"]
_INCHES = (10, 6)
_DPI = 120
_MISSING = "pictures need matplotlib: pip install 'inference-platform[plot]'"
_SALT = "inference-platform"
"""Salt of IDs in SVG files; without it they are random."""


def check_picture(path: Path | None, suffixes: Sequence[str]) -> None:
    """Check the file of ``--plot``.

    Raises:
        UserError: its suffix is not supported, or matplotlib is not installed.
    """
    if path and path.suffix not in suffixes:
        raise UserError(f"--plot: must be a file that ends in {' or '.join(suffixes)}, found {str(path)!r}", 2)
    if path:
        check_drawing()


def check_drawing() -> None:
    """Check that matplotlib is installed, before work whose result is to be plotted.

    Raises:
        UserError: matplotlib is missing.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError(_MISSING)


@contextmanager
def picture(where: Path | IO[bytes], inches: tuple[int, int] = _INCHES) -> "Iterator[Figure]":
    """Provide an empty figure, and write it at the end.

    Args:
        where: Path of a PNG or SVG file, by its suffix; or an open file for SVG.
        inches: Width and height.

    Raises:
        UserError: matplotlib is missing.
    """
    try:
        # Only the object-oriented interface, which needs no global state and no display.
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise UserError(_MISSING) from error
    figure = Figure(figsize=inches, layout="constrained")
    yield figure
    FigureCanvasAgg(figure)
    form = where.suffix.removeprefix(".") if isinstance(where, Path) else "svg"
    # Date and library version would make equal plots differ.
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": _SALT, "svg.fonttype": "none"}):
        figure.savefig(where, format=form, dpi=_DPI, metadata=metadata)


def finish(axes: "Axes", title: str, legend: Corner = "upper right") -> None:
    """Set lower limit 0, grid, legend and title."""
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc=legend, fontsize="small")
    axes.set_title(plain_text(title), fontsize="medium")


def plain_text(text: str) -> str:
    """Return a text in ASCII without formulas, which matplotlib reads between dollar signs."""
    return printable(text).encode("ascii", "backslashreplace").decode("ascii").replace("$", r"\$")
