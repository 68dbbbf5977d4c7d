"""Pictures as files: the same input is the same file, to the byte."""

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
_MISSING = "pictures need matplotlib: pip install 'inference-platform[workbench,plot]'"
_SALT = "inference-platform"
"""Of the names of what an SVG refers to; without it they are random."""


def check_picture(path: Path | None, suffixes: Sequence[str]) -> None:
    """Refuse a file of ``--plot`` that is no picture of these kinds.

    Raises:
        UserError: it has another suffix, or what draws it is not installed.
    """
    if path and path.suffix not in suffixes:
        raise UserError(f"--plot: must be a file that ends in {' or '.join(suffixes)}, found {str(path)!r}", 2)
    if path:
        check_drawing()


def check_drawing() -> None:
    """Refuse to begin work whose result could not be drawn.

    Raises:
        UserError: matplotlib is missing.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError(_MISSING)


@contextmanager
def picture(where: Path | IO[bytes], inches: tuple[int, int] = _INCHES) -> "Iterator[Figure]":
    """Hand out an empty figure, and write it when all is drawn.

    Args:
        where: A file that gets a PNG or an SVG, by its suffix; an open one gets an SVG.
        inches: Width and height.

    Raises:
        UserError: matplotlib is missing.
    """
    try:
        # The object-oriented interface alone: nothing global, no window, no display.
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise UserError(_MISSING) from error
    figure = Figure(figsize=inches, layout="constrained")
    yield figure
    FigureCanvasAgg(figure)
    form = where.suffix.removeprefix(".") if isinstance(where, Path) else "svg"
    # Without the time, and the name and version of the library, the same result is the same file.
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": _SALT, "svg.fonttype": "none"}):
        figure.savefig(where, format=form, dpi=_DPI, metadata=metadata)


def finish(axes: "Axes", title: str, legend: Corner = "upper right") -> None:
    """Give axes what all have: they start at 0, with a grid, a legend and a title."""
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc=legend, fontsize="small")
    axes.set_title(plain_text(title), fontsize="medium")


def plain_text(text: str) -> str:
    """Return a text in letters that every font has, and no formula: matplotlib reads what is between dollar signs."""
    return printable(text).encode("ascii", "backslashreplace").decode("ascii").replace("$", r"\$")
