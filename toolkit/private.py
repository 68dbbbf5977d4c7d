"""Folders and files that only their owner can read: state, keys and kubeconfigs lie there."""

import os
from pathlib import Path

STATE_DIR = ".workbench"
_MODE = 0o700


def private_folder(path: Path) -> None:
    """Make a folder and those above it that are missing; also take the state folder back that others could read."""
    missing = [path, *path.parents]
    missing = missing[: next(index for index, folder in enumerate(missing) if folder.exists())]
    for folder in reversed(missing):
        folder.mkdir(mode=_MODE, exist_ok=True)
        folder.chmod(_MODE)  # whatever the umask
    for folder in (path, *path.parents):
        if folder.name == STATE_DIR and folder.stat().st_mode & 0o077:
            folder.chmod(_MODE)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, at once or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)
