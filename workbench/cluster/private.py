"""Folders that only their owner can read: state, keys and kubeconfigs lie there."""

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
