"""Reads files of untrusted code, with a size limit, and without following links."""

import os
import stat
from pathlib import Path

from .errors import PipelineError

MOST_BYTES = 10 * 2**20
"""Maximum size of a file. (GitHub accepts 10 MB of compressed SARIF: "SARIF support for code scanning", upload
limits.)"""


def read_text(folder: Path, *names: str) -> str:
    """Return the text of a file; empty if it is missing, not a regular file, behind a link, or too large.

    Args:
        folder: A trusted folder.
        names: Path components below it.
    """
    data = read_bytes(folder, *names)
    return data.decode("utf-8", "replace") if data else ""


def read_bytes(folder: Path, *names: str) -> bytes | None:
    """Return the content of a file; None if it is missing, not a regular file, behind a link, or too large.

    Raises:
        PipelineError: a name is not a single path component.
    """
    path = folder
    for name in names:
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise PipelineError(f"{name!r} is not the name of a file")
        path = path / name
        if path.is_symlink():
            return None
    try:
        # O_NOFOLLOW: the file may be replaced by a link after the check. O_NONBLOCK: opening a FIFO would block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else None
