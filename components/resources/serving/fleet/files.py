"""Reads the files that settings name."""

import errno
import os
from pathlib import Path


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: there is no such file.
        UnicodeDecodeError: it is no text.
    """
    found = Path(path)
    if found.exists() and not found.is_file():
        raise OSError(errno.EINVAL, "is no file", os.fspath(found))
    if "\0" in os.fspath(found):
        raise OSError(errno.EINVAL, "no file has such a name", os.fspath(found))
    return found.read_text(encoding="utf-8")
