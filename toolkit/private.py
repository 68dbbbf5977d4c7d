"""Folders and files that only their owner can read, for state, keys and kubeconfigs."""

import os
from pathlib import Path

STATE_DIR = ".workbench"
_MODE = 0o700


def private_folder(path: Path) -> None:
    """Create a folder and its missing parents; also restrict an existing state folder that others can read."""
    missing = [path, *path.parents]
    missing = missing[: next(index for index, folder in enumerate(missing) if folder.exists())]
    for folder in reversed(missing):
        folder.mkdir(mode=_MODE, exist_ok=True)
        folder.chmod(_MODE)  # whatever the umask
    for folder in (path, *path.parents):
        if folder.name == STATE_DIR and folder.stat().st_mode & 0o077:
            folder.chmod(_MODE)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)
