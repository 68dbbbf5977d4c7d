"""``python ci/install.py LOCK``: install the packages of a lock file, with progress messages.

Runs before anything is installed, and requires only Python and pip. pip itself is either silent for minutes or prints
hundreds of lines.
"""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

_PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--require-hashes", "-r")
_PACKAGE = re.compile(r"(?:Collecting|Requirement already satisfied:) ([\w.\[\]-]+)")
_LAST = 40
"""Lines of pip's output to print on failure."""
_PAUSE = 5.0
"""Seconds between progress messages."""


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Progress:
    """Prints what pip does at regular intervals, also while pip prints nothing."""

    def __init__(self, packages: int, pause: float = _PAUSE) -> None:
        """Start with the maximum number of packages; some are for other systems."""
        self._packages, self._pause = packages, pause
        self._count = 0
        self._status = "asking for packages"
        self._begun = time.monotonic()
        self._ended = threading.Event()

    def hear(self, line: str) -> None:
        if match := _PACKAGE.match(line):
            self._count += 1
            self._status = f"package {self._count} of up to {self._packages}: {match[1]}"
        elif line.startswith("Installing collected packages"):
            self._status = f"unpacking {self._count} packages"

    def tell(self) -> None:
        while not self._ended.wait(self._pause):
            _print(f"  {self._status} ({time.monotonic() - self._begun:.0f} s)")

    def end(self) -> float:
        """Stop printing, and return the duration in seconds."""
        self._ended.set()
        return time.monotonic() - self._begun


def main(lock: Path, pause: float = _PAUSE) -> int:
    """Install, and return pip's exit code; on failure, print the end of its output."""
    packages = len(re.findall(r"^[\w.\[\]-]+==", lock.read_text(encoding="utf-8"), re.MULTILINE))
    _print(f"Installing {packages} packages; the first time this takes a few minutes.")
    progress = Progress(packages, pause)
    reporter = threading.Thread(target=progress.tell, daemon=True)
    reporter.start()
    output = []
    command = [sys.executable, *_PIP, str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout or ():
            output.append(line)
            progress.hear(line)
    seconds = progress.end()
    reporter.join()
    if pip.returncode:
        sys.stderr.write("".join(output[-_LAST:]))
    else:
        _print(f"  done in {seconds:.0f} s")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
