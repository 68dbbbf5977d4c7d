"""The traceback of a program, as its author wants to see it."""

import traceback
from pathlib import Path


def program_trace(error: BaseException, folder: Path) -> str:
    """Return the traceback reduced to the program's own frames."""
    here = Path(__file__).parents[2]
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if _within(frame.filename, folder) and not _within(frame.filename, here)
    ]
    lines = ["the program failed:", *(line.rstrip() for line in traceback.format_list(frames))]
    return "\n".join([*lines, "".join(traceback.format_exception_only(error)).rstrip()])


def _within(filename: str, folder: Path) -> bool:
    path = Path(filename)
    inside = path.is_absolute() and path.is_relative_to(folder.resolve())
    return inside and not {"site-packages", "dist-packages"} & set(path.parts)
