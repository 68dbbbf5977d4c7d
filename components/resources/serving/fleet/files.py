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
    file = Path(path)
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "is not a file", os.fspath(file))
    if "\0" in os.fspath(file):
        raise OSError(errno.EINVAL, "is not a valid file name", os.fspath(file))
    return file.read_text(encoding="utf-8")
