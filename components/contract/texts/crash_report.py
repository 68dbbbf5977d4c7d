"""What nobody foresaw: one line for the user, and the traceback in a file for whoever repairs it."""

import datetime
import functools
import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

from .printable import printable
from .secrets import masked_text

PROJECT = "inference-platform"
_LONGEST = 200


def report_unexpected_error(error: BaseException, folder: Path) -> str:
    """Keep the traceback in a file below a folder, and return what to tell the user."""
    what = printable(masked_text(f"{type(error).__name__}: {error}".rstrip(": ")))
    shown = what if len(what) <= _LONGEST else f"{what[: _LONGEST - 3]}..."
    text = _report(error)
    kept = _kept(text, folder)
    request = f"This is a defect of {PROJECT}: please report it to the project"
    if kept:
        return f"unexpected error: {shown}. {request}, with {printable(kept)}"
    return f"unexpected error: {shown}. {request}, with this, which no file could be made for:\n{text}"


def _report(error: BaseException) -> str:
    """Return what a repair needs. Values of variables are no part of it, and secrets in messages are masked."""
    command = " ".join(sys.argv)
    lines = "".join(traceback.format_exception(error))
    versions = f"{PROJECT} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return masked_text(f"{versions}\ncommand: {printable(command)}\n\n{lines}")


def _kept(text: str, folder: Path) -> str:
    """Write a file that only its owner reads: in the folder, else in the system's own for such things."""
    name = f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
    for make in (functools.partial(_private, folder / "errors"), _temporary):
        try:
            path = make() / name
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return str(path)
    return ""


def _private(folder: Path) -> Path:
    for part in (folder.parent, folder):
        part.mkdir(mode=0o700, exist_ok=True)
    return folder


def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{PROJECT}-"))
