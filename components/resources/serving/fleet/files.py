"""Reads files that settings refer to."""

import errno
import os
from pathlib import Path


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: the file does not exist or is not a regular file.
        UnicodeDecodeError: the file is not UTF-8 text.
    """
    found = Path(path)
    if found.exists() and not found.is_file():
        raise OSError(errno.EINVAL, "is not a file", os.fspath(found))
    if "\0" in os.fspath(found):
        raise OSError(errno.EINVAL, "is not a valid file name", os.fspath(found))
    return found.read_text(encoding="utf-8")
