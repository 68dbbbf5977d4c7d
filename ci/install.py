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
_FOUND = re.compile(r"(?:Collecting|Requirement already satisfied:) ([\w.\[\]-]+)")
_LAST = 40
"""Lines of pip's output to print on failure."""
_PAUSE = 5.0
"""Seconds between progress messages."""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Progress:
    """Prints what pip does at regular intervals, also while pip prints nothing."""

    def __init__(self, packages: int, pause: float = _PAUSE) -> None:
        """Start with the maximum number of packages; some are for other systems."""
        self._packages, self._pause = packages, pause
        self._found = 0
        self._doing = "asking for packages"
        self._begun = time.monotonic()
        self._ended = threading.Event()

    def hear(self, line: str) -> None:
        if found := _FOUND.match(line):
            self._found += 1
            self._doing = f"package {self._found} of up to {self._packages}: {found[1]}"
        elif line.startswith("Installing collected packages"):
            self._doing = f"unpacking {self._found} packages"

    def tell(self) -> None:
        while not self._ended.wait(self._pause):
            _say(f"  {self._doing} ({time.monotonic() - self._begun:.0f} s)")

    def end(self) -> float:
        """Stop printing, and return the duration in seconds."""
        self._ended.set()
        return time.monotonic() - self._begun


def main(lock: Path, pause: float = _PAUSE) -> int:
    """Install, and return pip's exit code; on failure, print the end of its output."""
    packages = len(re.findall(r"^[\w.\[\]-]+==", lock.read_text(encoding="utf-8"), re.MULTILINE))
    _say(f"Installing {packages} packages; the first time this takes a few minutes.")
    progress = Progress(packages, pause)
    teller = threading.Thread(target=progress.tell, daemon=True)
    teller.start()
    printed = []
    command = [sys.executable, *_PIP, str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout or ():
            printed.append(line)
            progress.hear(line)
    seconds = progress.end()
    teller.join()
    if pip.returncode:
        sys.stderr.write("".join(printed[-_LAST:]))
    else:
        _say(f"  done in {seconds:.0f} s")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
