"""Reports unexpected errors: one line for the user, and a file with the traceback for the maintainers."""

import datetime
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
    """Write the traceback to a file below a folder, and return the message for the user."""
    summary = printable(masked_text(f"{type(error).__name__}: {error}".rstrip(": "), is_kept=True))
    if len(summary) > _LONGEST:
        summary = f"{summary[: _LONGEST - 3]}..."
    lines = "".join(traceback.format_exception(error))
    versions = f"{PROJECT} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    # Values of variables are left out and secrets are masked, because users attach the report to public issues.
    report = masked_text(f"{versions}\ncommand: {printable(' '.join(sys.argv))}\n\n{lines}", is_kept=True)
    file = _write_report(report, folder)
    request = f"This is a defect of {PROJECT}: please report it to the project"
    if file:
        return f"unexpected error: {summary}. {request}, with {printable(file)}"
    return f"unexpected error: {summary}. {request}, with this, which no file could be made for:\n{report}"


def _write_report(text: str, folder: Path) -> str:
    """Write a file that only its owner can read, in the folder or else in the system's temporary folder.

    Returns:
        The path; empty if neither can be written to.
    """
    name = f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
    for use_temporary in (False, True):
        try:
            if use_temporary:
                reports = Path(tempfile.mkdtemp(prefix=f"{PROJECT}-"))
            else:
                reports = folder / "errors"
                for part in (folder, reports):
                    part.mkdir(mode=0o700, exist_ok=True)
            path = reports / name
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return str(path)
    return ""
